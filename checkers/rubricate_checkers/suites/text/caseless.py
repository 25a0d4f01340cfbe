"""Texts made ready for a plain search: case taken away, and the edges of words marked.

A regular expression that ignores case tries a phrase anew at every place of a response, which takes a
minute for a long phrase in a long text. `in` takes linear time, and finds the same in these texts.
"""

from __future__ import annotations

import re

from .units import UNSPACED

__all__ = ["EDGE", "IOTA_BELOW", "LETTER", "fold", "fold_with_edges", "with_edges"]

LETTER = rf"[^\W{UNSPACED}]"
"""A letter, digit or underscore of a script that parts words by spaces."""

EDGE = "\0"
"""What stands before and behind each run of `LETTER` in a text with edges."""

IOTA_BELOW = "\u0345"
"""The one mark that is a letter in another case, so that words with it have no certain edges."""

_RUN = re.compile(f"{LETTER}+")

# Pairs that are one in upper case (Unicode's SpecialCasing), where they are several characters.
_TWINS = {"\ufb05": "\ufb06", "\u1fd3": "\u0390", "\u1fe3": "\u03b0"}


def _without_case(char: str) -> str:
    lower = char.lower()
    if len(lower) > 1:  # only that of İ, which is i with a second dot
        lower = lower[0]
    upper = lower.upper()
    return upper if len(upper) == 1 else _TWINS.get(lower, lower)


class _Table(dict[int, str]):
    """`_without_case` of each code point, once it was asked for."""

    def __missing__(self, code: int) -> str:
        char = self[code] = _without_case(chr(code))
        return char


_TABLE = _Table()


def fold(text: str) -> str:
    """The text with one character for all that `re.IGNORECASE` takes for the same; its length stays."""
    return text.upper() if text.isascii() else text.translate(_TABLE)


def with_edges(text: str) -> str:
    """The text with an `EDGE` wherever a word begins or ends, so that only whole words are found in it."""
    return _RUN.sub(rf"{EDGE}\g<0>{EDGE}", text)


def fold_with_edges(text: str) -> str:
    """As `fold` and `with_edges`."""
    return fold(with_edges(text))
