"""Numbers as sentences write them: digits, English words, Chinese numerals."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["CHINESE", "TO_HUNDRED", "TO_TEN", "alternatives", "compound", "single"]

TO_TEN = {
    word: value
    for value, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], start=1
    )
}

_TEENS = [
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred"]

TO_HUNDRED = (
    TO_TEN
    | {word: value for value, word in enumerate(_TEENS, start=11)}
    | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
)

CHINESE = {char: value for value, char in enumerate("一二三四五六七八九十", start=1)} | {"两": 2}


def alternatives(names: Mapping[str, int]) -> str:
    """A pattern, without a group, of digits or one of the names."""
    return "|".join((r"\d+", *names))


def single(word: str, names: Mapping[str, int]) -> int:
    """The value of what `alternatives` matched, in any case."""
    return int(word) if word.isdecimal() else names[word.lower()]


def compound(phrase: str, names: Mapping[str, int]) -> int | None:
    """The value of digits (commas dropped) or of names in a row, which are summed: `twenty-five`.

    `hundred` multiplies what stands before it. None where a part is no number.
    """
    phrase = phrase.strip().replace(",", "")
    if phrase.isdecimal():
        return int(phrase)
    total = current = 0
    for part in re.split(r"[\s-]+", phrase.lower()):
        value = names.get(part)
        if value is None:
            return None
        if value >= 100:
            total += (current or 1) * value
            current = 0
        else:
            current += value
    return total + current
