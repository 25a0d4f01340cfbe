"""`keywords:` and `count:`: how often keywords occur, and how words start.

Keywords are raw regular expressions upstream, except for the excluded one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator

from ...check import Check, Example, Span
from ...keyword import Keyword
from ...kwargs import Phrase, Str, python_regex
from ...loose import Rescue
from ...text import Text
from ...wording import amount
from ..ifeval.keywords import KeywordFrequency


def _stripped_regex(value: str) -> str:
    python_regex(value.strip())
    return value.strip()


_Regex = Annotated[Phrase, AfterValidator(_stripped_regex)]


class WordOnce(Check, id="keywords:word_once", suite="iftrain", raw_regex=True):
    """A keyword occurs exactly once, in any case, inside words too."""

    keyword: _Regex
    example = Example(
        kwargs={"keyword": "anchor"},
        passes="Drop the anchor here.",
        fails="The anchorage is full, so keep the anchor up.",
    )

    @cached_property
    def _pattern(self) -> Keyword:
        return Keyword(self.keyword)

    def holds(self, text: Text) -> bool:
        return self._pattern.count(text) == 1

    def observed(self, text: Text) -> str:
        return amount(self._pattern.count(text), "time")

    @property
    def required(self) -> str:
        return f'"{self.keyword}" exactly once'

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*span, "counted") for span in self._pattern.spans(text))


class KeywordFrequencyDifferent(
    KeywordFrequency, id="keywords:word_count_different_numbers", suite="iftrain", raw_regex=True
):
    """A keyword occurs `less than` or `at least` so many times; the same rule as `keywords:frequency`."""

    example = Example(
        kwargs={"keyword": "gull", "frequency": 2, "relation": "less than"},
        passes="A gull sat on the mast.",
        fails="Two gulls fought a third gull.",
    )


class CountIncrementWord(Check, id="count:count_increment_word", suite="iftrain", raw_regex=True):
    """One keyword occurs exactly once and another exactly twice, in any case, inside words too."""

    keyword1: _Regex
    keyword2: _Regex
    example = Example(
        kwargs={"keyword1": "north", "keyword2": "wind"},
        passes="The wind from the north is a cold wind.",
        fails="The wind from the north is cold.",
    )

    @cached_property
    def _patterns(self) -> tuple[Keyword, Keyword]:
        return Keyword(self.keyword1), Keyword(self.keyword2)

    def _counts(self, text: Text) -> tuple[int, int]:
        first, second = self._patterns
        return first.count(text), second.count(text)

    def holds(self, text: Text) -> bool:
        return self._counts(text) == (1, 2)

    def observed(self, text: Text) -> str:
        first, second = self._counts(text)
        return f'"{self.keyword1}" {amount(first, "time")}, "{self.keyword2}" {amount(second, "time")}'

    @property
    def required(self) -> str:
        return f'"{self.keyword1}" once, "{self.keyword2}" twice'

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*span, "counted") for pattern in self._patterns for span in pattern.spans(text))


class ExcludeWordHarder(Check, id="keywords:exclude_word_harder", suite="iftrain"):
    """A keyword does not occur with a space on either side, in this very case.

    At the start or the end of the response, or next to a mark or a line break, it may stand. The kwarg
    `instruction` is not read: upstream draws a missing keyword from it.
    """

    keyword: Phrase
    instruction: Str = ""
    example = Example(
        kwargs={"keyword": "very"}, passes="Very calm, and not windy.", fails="A very calm and mild day."
    )

    @property
    def _spaced(self) -> str:
        return f" {self.keyword.strip()} "

    def holds(self, text: Text) -> bool:
        return self._spaced not in text.raw

    def observed(self, text: Text) -> str:
        return amount(text.raw.count(self._spaced), "time")

    @property
    def required(self) -> str:
        return f'no "{self.keyword.strip()}" between spaces'

    def evidence(self, text: Text) -> Iterable[Span]:
        at = text.raw.find(self._spaced)
        while at >= 0:
            yield Span(at, at + len(self._spaced), "violation")
            at = text.raw.find(self._spaced, at + len(self._spaced))


def _neighbours_in_the_alphabet(text: str) -> tuple[str, str] | None:
    """The first two words in a row that fail, if any."""
    for word, following in pairwise(text.split()):
        first, second = word[0].lower(), following[0].lower()
        # İ is two characters in lower case, and upstream lets no word start with such a one
        if len(first) != 1 or len(second) != 1 or ord(second) - ord(first) == 1:
            return word, following
    return None


class NoAdjacentConsecutive(Check, id="keywords:no_adjacent_consecutive", suite="iftrain"):
    """No word starts with the letter that follows, in the alphabet, the first letter of the word before.

    Words are what whitespace separates and case does not matter. Marks at the start of a word count as
    its first letter, by their code points; a word after one with z may start with a.
    """

    example = Example(kwargs={}, passes="Tall reeds lean here.", fails="Tall reeds grow here.")

    def holds(self, text: Text) -> bool:
        return text.view(_neighbours_in_the_alphabet) is None

    def observed(self, text: Text) -> str:
        pair = text.view(_neighbours_in_the_alphabet)
        return f'"{pair[0]} {pair[1]}"' if pair else "no such words"

    @property
    def required(self) -> str:
        return "no two words in a row that start with consecutive letters"


def _palindrome(text: str) -> str | None:
    """The first word that reads the same from both ends, if any."""
    return next((word for word in text.split() if word[0] == word[-1] and word == word[::-1]), None)


class Palindrome(Check, id="keywords:palindrome", suite="iftrain"):
    """A word reads the same from both ends.

    Words are what whitespace separates: `a`, `I` and `-` are palindromes, `Level` and `level.` are not.
    """

    example = Example(kwargs={}, passes="The kayak drifts.", fails="The canoe drifts.")

    def holds(self, text: Text) -> bool:
        return text.view(_palindrome) is not None

    def observed(self, text: Text) -> str:
        word = text.view(_palindrome)
        return "no palindrome" if word is None else f'"{word}"'

    @property
    def required(self) -> str:
        return "a palindrome"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS
