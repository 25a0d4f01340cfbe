"""`count:` of words, numbers, marks and given keywords."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from functools import cached_property

from ...check import Check, Example, Span
from ...kwargs import Count, Str
from ...loose import Rescue
from ...spans import every
from ...text import Text
from ...wording import amount
from .common import EDGES, bare, spaces_unless


class WordCountRange(
    Check,
    id="count:word_count_range",
    suite="ifbench",
    aliases=("ifbench@2025:count:word_count_range",),
):
    r"""The response has from `min_words` to `max_words` words, both included.

    A word is a run of `\w`: `don't` is two, `a_b` is one, a run of Chinese characters is one.
    """

    min_words: Count
    max_words: Count
    example = Example(
        kwargs={"min_words": 3, "max_words": 5},
        passes="The kettle is on.",
        fails="The kettle is on and the cups are out.",
    )

    def holds(self, text: Text) -> bool:
        return self.min_words <= text.word_count <= self.max_words

    def observed(self, text: Text) -> str:
        return amount(text.word_count, "word")

    @property
    def required(self) -> str:
        return f"at least {amount(self.min_words, 'word')}, at most {amount(self.max_words, 'word')}"


def _distinct_words(raw: str) -> int:
    return len({word.strip(EDGES) for word in set(raw.lower().split())})


class UniqueWordCount(
    Check,
    id="count:unique_word_count",
    suite="ifbench",
    aliases=("ifbench@2025:count:unique_word_count",),
):
    """The response has at least `N` different words, whatever their case.

    Words stand between whitespace and lose the punctuation at their ends; all words of nothing but
    punctuation count as one.
    """

    N: Count
    example = Example(
        kwargs={"N": 4},
        passes="Salt, pepper, thyme and sage.",
        fails="Salt, pepper, salt and pepper.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_distinct_words) >= self.N

    def observed(self, text: Text) -> str:
        return amount(text.view(_distinct_words), "different word")

    @property
    def required(self) -> str:
        return f"at least {amount(self.N, 'different word')}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE


_NUMBER = re.compile(r"\d+")
_WRITTEN_NUMBER = re.compile(rf"\d+(?:[{re.escape(string.punctuation)}]+\d+)*")
_DIGITS_ONLY = spaces_unless(str.isdigit)


def _numbers(raw: str) -> int:
    text = bare(raw)
    if text.isascii():
        return len(text.encode().translate(_DIGITS_ONLY).split())
    return len(_NUMBER.findall(text))


class NumbersCount(Check, id="count:numbers", suite="ifbench", aliases=("ifbench@2025:count:numbers",)):
    """The response has exactly `N` numbers in digits.

    Punctuation is taken out first: `1,000`, `3.14` and `1-2` are one number each, `a1b2` is two.
    """

    N: Count
    example = Example(
        kwargs={"N": 2},
        passes="Bake at 180 degrees for 25 minutes.",
        fails="Bake at 180 degrees for half an hour.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_numbers) == self.N

    def observed(self, text: Text) -> str:
        return amount(text.view(_numbers), "number")

    @property
    def required(self) -> str:
        return f"exactly {amount(self.N, 'number')}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return every(text.raw, _WRITTEN_NUMBER)

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARRED  # asterisks are punctuation


_MARKS = ".,!?;:"
_INTERROBANGS = ("?!", "!?", "‽")


def _missing_marks(raw: str) -> list[str]:
    """The standard marks that a text lacks beside its first interrobang, and the interrobang itself."""
    if not any(mark in raw for mark in _INTERROBANGS):
        return [_INTERROBANGS[0]]
    first = "?!" if "?!" in raw else "!?"
    rest = raw.replace(first, "", 1)
    return [mark for mark in _MARKS if mark not in rest]


class PunctuationCover(
    Check, id="count:punctuation", suite="ifbench", aliases=("ifbench@2025:count:punctuation",)
):
    """The response has each of `. , ! ? ; :` and an interrobang: `?!`, `!?` or `‽`.

    The two marks of the first interrobang do not count as `!` and `?`.
    """

    example = Example(
        kwargs={},
        passes="Late again?! Listen: the bus, our bus, left; who knew? Run! Now.",
        fails="Late again?! Listen: the bus, our bus, left; run on.",
    )

    def holds(self, text: Text) -> bool:
        return not text.view(_missing_marks)

    def observed(self, text: Text) -> str:
        missing = text.view(_missing_marks)
        return f"no {' '.join(missing)}" if missing else "all of them"

    @property
    def required(self) -> str:
        return "each of . , ! ? ; : and an interrobang (?!)"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS


_TIMES = (1, 2, 3, 5, 7)


class KeywordsMultiple(
    Check,
    id="count:keywords_multiple",
    suite="ifbench",
    aliases=("ifbench@2025:count:keywords_multiple",),
):
    """Five keywords occur exactly once, twice, three, five and seven times, in any case.

    They are found inside words too: `art` occurs in `start`.
    """

    keyword1: Str
    keyword2: Str
    keyword3: Str
    keyword4: Str
    keyword5: Str
    example = Example(
        kwargs={
            "keyword1": "oak",
            "keyword2": "elm",
            "keyword3": "ash",
            "keyword4": "fir",
            "keyword5": "yew",
        },
        passes="Oak, elm, elm, ash, ash, ash, fir, fir, fir, fir, fir, yew, yew, yew, yew, yew, yew, yew.",
        fails="Oak, elm, ash, fir, yew.",
    )

    @cached_property
    def _keywords(self) -> list[str]:
        keywords = (self.keyword1, self.keyword2, self.keyword3, self.keyword4, self.keyword5)
        return [keyword.strip().lower() for keyword in keywords]

    def holds(self, text: Text) -> bool:
        pairs = zip(self._keywords, _TIMES, strict=True)
        return all(text.lower.count(keyword) == times for keyword, times in pairs)

    def observed(self, text: Text) -> str:
        return ", ".join(f'"{keyword}" {text.lower.count(keyword)}x' for keyword in self._keywords)

    @property
    def required(self) -> str:
        pairs = zip(self._keywords, _TIMES, strict=True)
        return ", ".join(f'"{keyword}" {times}x' for keyword, times in pairs)

    def evidence(self, text: Text) -> Iterable[Span]:
        if len(text.lower) != len(text.raw):
            return []  # places in the lowered text are not places in the response
        found = (match for word in self._keywords for match in re.finditer(re.escape(word), text.lower))
        return (Span(*match.span(), "counted") for match in found)
