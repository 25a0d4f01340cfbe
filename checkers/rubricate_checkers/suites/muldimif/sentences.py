"""Number of sentences: full stops, exclamation marks and question marks are counted.

`...` is three, `3.14` adds one, words after the last mark add none, and neither do `。！？`. Only one
bound is read: of "at least 2 and at most 4 sentences" the first.
"""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...check import Span
from ...text import Text
from .numbers import CHINESE, TO_TEN, alternatives, single
from .requirement import Bounds, Counted, Requirement, Unclear

__all__ = ["parse"]

_NAMES = (
    TO_TEN
    | {"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50}
    | {"hundred": 100, "thousand": 1000}
    | CHINESE
)

_PHRASES = (
    ("exact", "exactly:? N (?:topic )?sentence"),
    ("exact", "(?:should|must) contain N sentence"),
    ("one", " be a single sentence"),
    ("one", "consisting of (?:only )?one sentence"),
    ("one", "in a single sentence"),
    ("min", "at least:? N sentence"),
    ("min", "a minimum of N sentence"),
    ("min", "no fewer than N sentence"),
    ("min", "(?:至少|最少)(?:包含)?N(?:个句子|句话|句|個句子)"),
    ("max", "contain at most N sentence"),
    ("max", "at most:? N sentence"),
    ("max", "not exceeding N sentence"),
    ("max", "no (?:more|longer) than N sentence"),
    ("max", "limited to N sentence"),
    ("max", " not exceed N sentence"),
    ("max", "a maximum (?:length )?of N sentence"),
    ("max", "not to exceed N sentence"),
    ("max", "not surpass(?: a total of)? N sentence"),
    ("max", "(?:至多|最多)(?:包含)?N(?:个句子|句话|句|個句子)"),
    ("range", "range:? N-N sentence"),
    ("range", "between N and N sentence"),
    ("range", "between N to N sentence"),
    ("range", "into N to N sentence"),
    ("range", "a range of N to N sentence"),
    ("range", "be composed of N to N sentence"),
    ("range", "consists? of N to N sentence"),
    ("range", "consisting of N to N sentence"),
    ("range", "N到N(?:个句子|句话|句|個句子)"),
)
"""(kind, pattern) in the order in which they are tried; N stands for a number."""

_PATTERNS = [
    (kind, re.compile(phrase.replace("N", f"({alternatives(_NAMES)})"))) for kind, phrase in _PHRASES
]


def _count(raw: str) -> int:
    return raw.count(".") + raw.count("!") + raw.count("?")


@dataclass(frozen=True)
class _Sentences(Counted):
    """A number of sentence marks."""

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*match.span(), "counted") for match in re.finditer("[.!?]", text.raw))


def parse(sentence: str) -> Requirement:
    """The bound that a sentence sets. One that sets none is satisfied by every response."""
    sentence = sentence.lower().strip()
    for kind, pattern in _PATTERNS:
        if match := pattern.search(sentence):
            numbers = [single(group, _NAMES) for group in match.groups()] or [1]
            bounds = Bounds(
                None if kind == "max" else numbers[0],
                None if kind == "min" else numbers[-1],
            )
            return _Sentences(_count, bounds, "sentence")
    return Unclear(passes=True)
