"""`copy:repeat_phrase`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator

from ...check import Check, Example
from ...keyword import is_literal
from ...kwargs import Phrase, python_regex, refuse
from ...text import Text
from ...wording import amount
from .kwargs import Total


def _pattern(words: list[str]) -> re.Pattern[str]:
    """What counts as a repetition: from the first word of a phrase to its last one, within a line."""
    return python_regex(f"{words[0]} .*? {words[-1]}")


def _phrase(value: str) -> str:
    words = value.split()
    if not words:
        refuse("must have a word")
    if _pattern(words).groups > 1:
        refuse(f"must not open more than one group with its first and last word: {value!r}")
    return value


def _has_one_length(word: str) -> bool:
    """Whether all that a word matches has its length, and nothing is tried twice: plain text and dots."""
    return is_literal(word.replace(".", ""))


def _from_to(text: str, first: re.Pattern[str], last: re.Pattern[str]) -> Iterator[str]:
    """What `_pattern` finds, in linear time: a line where no last word follows is left at once."""
    line_end = -1
    opening = first.search(text)
    while opening:
        start, end = opening.span()
        if line_end < end:
            line_end = text.find("\n", end)
            if line_end < 0:
                line_end = len(text)
        closing = last.search(text, end, line_end)
        if closing:
            end = closing.end()
            yield text[start:end]
        opening = first.search(text, end if closing else line_end)


class RepeatPhrase(Check, id="copy:repeat_phrase", suite="iftrain", raw_regex=True):
    """The response repeats a phrase exactly so many times, each time with exactly one word changed.

    A repetition runs from the first word of the phrase to the next last one on its line, so these two
    must stay; both are read as regular expressions. Case and attached punctuation make another word.
    """

    phrase: Annotated[Phrase, AfterValidator(_phrase)]
    small_n: Total
    example = Example(
        kwargs={"phrase": "Slow rivers carve deep valleys", "small_n": 2},
        passes="Slow rivers shape deep valleys. Slow rivers carve green valleys.",
        fails="Slow rivers shape deep valleys. Slow rivers carve deep valleys.",
    )

    @cached_property
    def _words(self) -> list[str]:
        return self.phrase.split()

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return _pattern(self._words)

    @cached_property
    def _ends(self) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
        first, last = self._words[0], self._words[-1]
        if not (_has_one_length(first) and _has_one_length(last)):
            return None
        return python_regex(f"{first} "), python_regex(f" {last}")

    def _repetitions(self, text: Text) -> list[str]:
        if self._ends is None:
            return self._whole.findall(text.raw)  # with a group in it, what the group holds
        return list(_from_to(text.raw, *self._ends))

    def _changes_one(self, repetition: str) -> bool:
        words = repetition.split()
        same_length = len(words) == len(self._words)
        return same_length and sum(map(str.__ne__, words, self._words)) == 1

    def holds(self, text: Text) -> bool:
        repetitions = self._repetitions(text)
        return len(repetitions) == self.small_n and all(map(self._changes_one, repetitions))

    def observed(self, text: Text) -> str:
        repetitions = self._repetitions(text)
        wrong = len(repetitions) - sum(map(self._changes_one, repetitions))
        return amount(len(repetitions), "repetition") + (
            f", {wrong} without exactly one change" if wrong else ""
        )

    @property
    def required(self) -> str:
        return f'"{self.phrase.strip()}" {amount(self.small_n, "time")}, each time with one word changed'
