r"""Number of paragraphs: non-blank pieces between `\n\n`.

A line of blanks between them separates nothing. Only one bound is read.
"""

from __future__ import annotations

import re

from .numbers import CHINESE, TO_TEN, alternatives, single
from .requirement import Bounds, Counted, Requirement, Unclear

__all__ = ["parse"]

_NAMES = TO_TEN | CHINESE

_PHRASES = (
    ("exact", "exactly N paragraph"),
    ("exact", "(?:should|must) contain N paragraph"),
    ("one", " be a single paragraph"),
    ("min", "at least N paragraph"),
    ("min", "least: N paragraph"),
    ("min", "a minimum of N(?: distinct)? paragraph"),
    ("max", "at most N paragraph"),
    ("max", "not exceeding N paragraph"),
    ("max", "no more than N paragraph"),
    ("max", "最多(?:分为)?C个段落"),
    ("range", "range D-D paragraph"),
    ("range", "range: D-D"),
    ("range", "between D and D paragraph"),
    ("range", "between D to D paragraph"),
    ("range", "D to D paragraph"),
)
"""(kind, pattern) in the order in which they are tried; N, C and D stand for a number."""

_NUMBERS = {"N": f"({alternatives(TO_TEN)})", "C": f"({alternatives(CHINESE)})", "D": r"(\d+)"}


def _compile(phrase: str) -> re.Pattern[str]:
    return re.compile("".join(_NUMBERS.get(char, char) for char in phrase), re.IGNORECASE)


_PATTERNS = [(kind, _compile(phrase)) for kind, phrase in _PHRASES]


def _count(raw: str) -> int:
    return sum(1 for piece in raw.split("\n\n") if piece.strip())


def parse(sentence: str) -> Requirement:
    """The bound that a sentence sets. One that sets none is satisfied by no response."""
    sentence = sentence.lower()
    for kind, pattern in _PATTERNS:
        if match := pattern.search(sentence):
            numbers = [single(group, _NAMES) for group in match.groups()] or [1]
            bounds = Bounds(
                None if kind == "max" else numbers[0],
                None if kind == "min" else numbers[-1],
            )
            return Counted(_count, bounds, "paragraph")
    return Unclear(passes=False)
