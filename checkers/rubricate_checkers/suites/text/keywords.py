"""`text:` phrases that must or must not occur, anywhere or at the ends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, PlainValidator, Strict, WithJsonSchema, model_validator

from ...check import Check, Example, Span
from ...kwargs import refuse
from ...text import Text
from ...wording import listed
from .caseless import EDGE, IOTA_BELOW, LETTER, fold, fold_with_edges, with_edges


def _phrase(value: str) -> str:
    if not value:
        refuse("must not be empty")
    return value


def _phrases(values: list[str]) -> list[str]:
    if not values:
        refuse("must not be empty")
    return values


Phrase = Annotated[str, Strict(), AfterValidator(_phrase)]
Phrases = Annotated[list[Phrase], Strict(), AfterValidator(_phrases)]


def _at_least(value: object) -> int | Literal["all"]:
    if value == "all":
        return "all"
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1 or value != int(value):
        refuse(f"must be all or a whole number from 1, not {value!r}")
    return int(value)


AtLeast = Annotated[
    int | Literal["all"],
    PlainValidator(_at_least),
    WithJsonSchema({"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1}]}),
]


class _Values(Check):
    """So many of the phrases occur, or so many do not."""

    values: Phrases
    case_sensitive: bool = False
    whole_word: bool = False
    at_least: AtLeast = "all"

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if self.at_least != "all" and self.at_least > len(self.values):
            refuse(
                f"at_least ({self.at_least}) must not be more than the number of values ({len(self.values)})"
            )
        return self

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        flags = re.NOFLAG if self.case_sensitive else re.IGNORECASE
        return [re.compile(self._source(value), flags) for value in self.values]

    def _source(self, value: str) -> str:
        source = re.escape(value)
        if self.whole_word and re.match(LETTER, value[0]):
            source = f"(?<!{LETTER}){source}"
        if self.whole_word and re.match(LETTER, value[-1]):
            source = f"{source}(?!{LETTER})"
        return source

    def _split(self, text: Text) -> tuple[list[str], list[str]]:
        """The phrases that occur, and those that do not."""
        occurring: list[str] = []
        missing: list[str] = []
        for value, pattern in zip(self.values, self._patterns, strict=True):
            (occurring if self._occurs(value, pattern, text) else missing).append(value)
        return occurring, missing

    def _occurs(self, value: str, pattern: re.Pattern[str], text: Text) -> bool:
        anywhere = value in text.raw if self.case_sensitive else fold(value) in text.view(fold)
        if not anywhere or not self.whole_word:
            return anywhere
        if EDGE in value or any(IOTA_BELOW in part for part in (value, text.raw)):
            return pattern.search(text.raw) is not None
        prepare = with_edges if self.case_sensitive else fold_with_edges
        return prepare(value) in text.view(prepare)

    @property
    def _needed(self) -> int:
        return len(self.values) if self.at_least == "all" else self.at_least

    @property
    def _how_many(self) -> str:
        return "" if self.at_least == "all" else f"at least {self.at_least} of "

    def _spans(self, text: Text, kind: Literal["match", "violation"]) -> Iterable[Span]:
        return (Span(*match.span(), kind) for p in self._patterns for match in p.finditer(text.raw))


class Contains(_Values, id="text:contains", suite="text"):
    """All of the phrases occur, or `at_least` so many of them.

    They are plain text. Case is ignored unless `case_sensitive`; `whole_word` does not find `cat` in
    `category`, but does find a word right beside Chinese, Japanese or Thai, which have no spaces.
    """

    example = Example(
        kwargs={"values": ["harbour", "C++"]},
        passes="The Harbour runs on C++.",
        fails="The harbour runs on C.",
    )

    def holds(self, text: Text) -> bool:
        return len(text.once(self._split)[0]) >= self._needed

    def observed(self, text: Text) -> str:
        occurring, missing = text.once(self._split)
        return (listed(occurring) or "none of them") if missing else "all of them"

    @property
    def required(self) -> str:
        return f"{self._how_many}{listed(self.values)}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return self._spans(text, "match")


class NotContains(_Values, id="text:not_contains", suite="text"):
    """None of the phrases occurs, or `at_least` so many of them do not.

    They are plain text. Case is ignored unless `case_sensitive`; with `whole_word`, `category` does not
    contain `cat`.
    """

    example = Example(
        kwargs={"values": ["storm", "gale"]}, passes="A calm night.", fails="A calm night after the storm."
    )

    def holds(self, text: Text) -> bool:
        return len(text.once(self._split)[1]) >= self._needed

    def observed(self, text: Text) -> str:
        return listed(text.once(self._split)[0]) or "none of them"

    @property
    def required(self) -> str:
        return f"without {self._how_many}{listed(self.values)}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return self._spans(text, "violation")


class _End(Check):
    """One end of the response is a phrase."""

    value: Phrase
    case_sensitive: bool = True

    def _same(self, end: str) -> bool:
        if self.case_sensitive:
            return end == self.value
        return end.casefold() == self.value.casefold()


class StartsWith(_End, id="text:starts_with", suite="text"):
    """The response starts with a phrase; blanks before it do not matter, its case does."""

    example = Example(
        kwargs={"value": "Dear crew"}, passes="Dear crew, we sail.", fails="dear crew, we sail."
    )

    def _start(self, text: Text) -> str:
        body = text.raw if self.value[0].isspace() else text.raw.lstrip()
        return body[: len(self.value)]

    def holds(self, text: Text) -> bool:
        return self._same(self._start(text))

    def observed(self, text: Text) -> str:
        return f'the start "{self._start(text)}"'

    @property
    def required(self) -> str:
        return f'the start "{self.value}"'

    def evidence(self, text: Text) -> Iterable[Span]:
        start = len(text.raw) - len(text.raw.lstrip()) if not self.value[0].isspace() else 0
        end = start + len(self._start(text))
        return [Span(start, end, "match" if self.holds(text) else "violation")] if start < end else []


class EndsWith(_End, id="text:ends_with", suite="text"):
    """The response ends with a phrase; blanks behind it do not matter, its case does."""

    example = Example(
        kwargs={"value": "Safe home."}, passes="We land at six. Safe home.\n", fails="Safe home!"
    )

    def _ending(self, text: Text) -> str:
        body = text.raw if self.value[-1].isspace() else text.raw.rstrip()
        return body[-len(self.value) :]

    def holds(self, text: Text) -> bool:
        return self._same(self._ending(text))

    def observed(self, text: Text) -> str:
        return f'the end "{self._ending(text)}"'

    @property
    def required(self) -> str:
        return f'the end "{self.value}"'

    def evidence(self, text: Text) -> Iterable[Span]:
        end = len(text.raw) if self.value[-1].isspace() else len(text.raw.rstrip())
        start = end - len(self._ending(text))
        return [Span(start, end, "match" if self.holds(text) else "violation")] if start < end else []
