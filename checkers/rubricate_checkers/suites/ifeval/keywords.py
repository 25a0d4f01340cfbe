"""`keywords:`: what must, may and must not occur.

Keywords are raw regular expressions upstream, so `a.c` also finds `abc`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from string import ascii_lowercase
from typing import Annotated

from pydantic import AfterValidator

from ...check import Check, Example, Span
from ...keyword import Keyword, WholeWord
from ...kwargs import DRAWN_NOTE, Count, Phrase, Regexes, Relation, Words, python_regex, refuse
from ...loose import Rescue
from ...text import Text
from ...wording import amount, compare, listed


class KeywordExistence(Check, id="keywords:existence", aliases=("rubrichub:KeywordChecker",), raw_regex=True):
    """Every keyword occurs, in any case, inside words too."""

    keywords: Regexes
    example = Example(
        kwargs={"keywords": ["harbour", "tide"]},
        passes="The harbour is quiet when the tides are low.",
        fails="The harbour is quiet.",
    )

    @cached_property
    def _patterns(self) -> list[Keyword]:
        return [Keyword(keyword) for keyword in self.keywords]

    def _missing(self, text: Text) -> list[str]:
        pairs = zip(self.keywords, self._patterns, strict=True)
        return [keyword for keyword, pattern in pairs if not pattern.occurs(text)]

    def holds(self, text: Text) -> bool:
        return not text.once(self._missing)

    def observed(self, text: Text) -> str:
        missing = text.once(self._missing)
        return f"no {listed(missing)}" if missing else "all of them"

    @property
    def required(self) -> str:
        return f"the keywords {listed(self.keywords)}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS if all(p.plain is not None for p in self._patterns) else Rescue.ANY

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*span, "match") for pattern in self._patterns for span in pattern.spans(text))


def _stripped_regex(value: str) -> str:
    python_regex(value.strip())
    return value.strip()


class KeywordFrequency(
    Check, id="keywords:frequency", aliases=("rubrichub:KeywordFrequencyChecker",), raw_regex=True
):
    """A keyword occurs `less than` or `at least` so many times, in any case, inside words too."""

    keyword: Annotated[Phrase, AfterValidator(_stripped_regex)]
    frequency: Count
    relation: Relation
    example = Example(
        kwargs={"keyword": "rain", "frequency": 2, "relation": "at least"},
        passes="Rain again: the raincoat stays on.",
        fails="Rain again.",
    )

    @cached_property
    def _pattern(self) -> Keyword:
        return Keyword(self.keyword)

    def holds(self, text: Text) -> bool:
        return compare(text.once(self._pattern.count), self.relation, self.frequency)

    def observed(self, text: Text) -> str:
        return amount(text.once(self._pattern.count), "time")

    @property
    def required(self) -> str:
        return f'"{self.keyword}" {self.relation} {amount(self.frequency, "time")}'

    @property
    def rescue(self) -> Rescue:
        literal = self._pattern.plain is not None
        return Rescue.STARLESS if literal and self.relation == "at least" else Rescue.ANY

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*span, "counted") for span in self._pattern.spans(text))


def _whole_words(words: list[str]) -> list[str]:
    for word in words:
        _ = WholeWord(word).pattern
    return words


class ForbiddenWords(
    Check, id="keywords:forbidden_words", aliases=("rubrichub:ForbiddenWords",), raw_regex=True
):
    """None of the words occurs, in any case, as a whole word."""

    forbidden_words: Annotated[Words, AfterValidator(_whole_words)]
    example = Example(
        kwargs={"forbidden_words": ["very"]},
        passes="Every answer is short.",
        fails="The answer is very short.",
    )

    @cached_property
    def _patterns(self) -> list[WholeWord]:
        return [WholeWord(word) for word in self.forbidden_words]

    def _found(self, text: Text) -> list[str]:
        pairs = zip(self.forbidden_words, self._patterns, strict=True)
        return [word for word, pattern in pairs if pattern.occurs(text)]

    def holds(self, text: Text) -> bool:
        return not text.once(self._found)

    def observed(self, text: Text) -> str:
        return listed(text.once(self._found)) or "none of them"

    @property
    def required(self) -> str:
        return f"none of the words {listed(self.forbidden_words)}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*span, "violation") for pattern in self._patterns for span in pattern.spans(text))


def _letter(value: str) -> str:
    lower = value.lower()
    if len(value) != 1 or len(lower) != 1 or lower not in ascii_lowercase:
        refuse(f"must be one letter from a to z, not {value!r}: {DRAWN_NOTE}")
    return lower


class LetterFrequency(Check, id="keywords:letter_frequency", aliases=("rubrichub:LetterFrequencyChecker",)):
    """A letter from a to z occurs `less than` or `at least` so many times, in any case."""

    letter: Annotated[Phrase, AfterValidator(_letter)]
    let_frequency: Count
    let_relation: Relation
    example = Example(
        kwargs={"letter": "z", "let_frequency": 2, "let_relation": "at least"},
        passes="Zebras graze.",
        fails="Zebras eat.",
    )

    def holds(self, text: Text) -> bool:
        return compare(text.lower.count(self.letter), self.let_relation, self.let_frequency)

    def observed(self, text: Text) -> str:
        return amount(text.lower.count(self.letter), "time")

    @property
    def required(self) -> str:
        return f'the letter "{self.letter}" {self.let_relation} {amount(self.let_frequency, "time")}'

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE if self.let_relation == "at least" else Rescue.SMALLEST

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(i, i + 1, "counted") for i, char in enumerate(text.raw) if self.letter in char.lower())
