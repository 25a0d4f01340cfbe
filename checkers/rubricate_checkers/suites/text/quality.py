"""`text:` repetition and language."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, PlainValidator, Strict, WithJsonSchema

from ...check import Check, Example, Span
from ...kwargs import refuse
from ...text import Text
from .units import word_spans

Numbers = npt.NDArray[np.int64]


def _ngram(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 100 or value % 1:
        refuse(f"must be a whole number from 1 to 100, not {value!r}")
    return int(value)


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        refuse(f"must be a share from 0 to 1, not {value!r}")
    return float(value)


NGram = Annotated[
    int, PlainValidator(_ngram), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 100})
]
Share = Annotated[
    float, PlainValidator(_share), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})
]


def _number_runs(words: list[str], length: int) -> Numbers:
    """A number for each run of so many words; only equal runs share one.

    Two numbered runs that overlap or touch are one longer run, so a few rounds reach any length, where
    comparing the words themselves would take their number times the length.
    """
    if len(words) < length:
        return np.empty(0, np.int64)
    numbers: dict[str, int] = {}
    runs = np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), np.int64, len(words))
    reached = 1
    while reached < length:
        step = min(reached, length - reached)
        pairs = runs[:-step] * len(words) + runs[step:]
        runs = np.unique(pairs, return_inverse=True)[1]
        reached += step
    return runs


class Repetition(Check, id="text:repetition", suite="text"):
    """At most `max_share` of the response's runs of `ngram` words repeat an earlier one.

    The share is 1 - distinct runs / all runs, 0 where there are fewer words than `ngram`. Words are those
    of `text:word_count`, in lower case.
    """

    ngram: NGram = 4
    max_share: Share = 0.2
    example = Example(
        kwargs={"ngram": 2},
        passes="The tide turns, and the boats go out.",
        fails="Row, row, row, row the boat.",
    )

    def _runs(self, text: Text) -> Numbers:
        words = [text.raw[start:end].lower() for start, end in text.view(word_spans)]
        return _number_runs(words, self.ngram)

    def _share(self, text: Text) -> float:
        runs = self._runs(text)
        return 1 - len(np.unique(runs)) / len(runs) if len(runs) else 0.0

    def holds(self, text: Text) -> bool:
        return text.once(self._share) <= self.max_share

    def observed(self, text: Text) -> str:
        # rounded up, so that what is just too much does not look like enough
        return f"{math.ceil(text.once(self._share) * 1000) / 10:g} % repeated"

    @property
    def required(self) -> str:
        return f"at most {self.max_share * 100:g} % repeated runs of {self.ngram} words"

    def evidence(self, text: Text) -> Iterable[Span]:
        spans = text.view(word_spans)
        seen: set[int] = set()
        for first, run in enumerate(self._runs(text).tolist()):
            if run in seen:
                yield Span(spans[first][0], spans[first + self.ngram - 1][1], "violation")
            seen.add(run)


_LANGUAGES = frozenset({
    "af", "ar", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr",
    "gu", "he", "hi", "hr", "hu", "id", "it", "ja", "kn", "ko", "lt", "lv", "mk", "ml", "mr", "ne",
    "nl", "no", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "so", "sq", "sv", "sw", "ta", "te", "th",
    "tl", "tr", "uk", "ur", "vi", "zh",
})  # fmt: skip
"""What langdetect tells apart, by ISO 639-1 code."""


def _known(value: str) -> str:
    code = value.lower()
    if code not in _LANGUAGES:
        refuse(f"must be an ISO 639-1 code out of {', '.join(sorted(_LANGUAGES))}, not {value!r}")
    return code


class Language(Check, id="text:language", suite="text"):
    """The response is in a language, as langdetect sees it; one without letters is in none and does not hold.

    Simplified and traditional Chinese are both `zh`. On a few words the guess is uncertain.
    """

    language: Annotated[str, Strict(), AfterValidator(_known)]
    example = Example(
        kwargs={"language": "fr"},
        passes="Le bateau quitte le port à six heures et revient avec la marée.",
        fails="The boat leaves the harbour at six and comes back with the tide.",
    )

    def _detected(self, text: Text) -> str | None:
        return text.language and text.language.partition("-")[0]

    def holds(self, text: Text) -> bool:
        return self._detected(text) == self.language

    def observed(self, text: Text) -> str:
        return self._detected(text) or "no language to be seen"

    @property
    def required(self) -> str:
        return f"the language {self.language}"
