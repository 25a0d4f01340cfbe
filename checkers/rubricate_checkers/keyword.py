"""Keywords as IFEval reads them: regular expressions whose case is ignored.

Most are plain ASCII words, which `str` methods find much faster; the answer is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .kwargs import python_regex
from .memo import lazy
from .text import Text

__all__ = ["Keyword", "WholeWord", "is_literal"]

_SPECIAL = frozenset(r".^$*+?{}[]\|()")


def is_literal(pattern: str) -> bool:
    """Whether a pattern is plain text: no character in it has a meaning for `re`."""
    return _SPECIAL.isdisjoint(pattern)


def _plain(pattern: str) -> str | None:
    return pattern.lower() if pattern.isascii() and is_literal(pattern) else None


class Keyword:
    """A pattern that is searched for anywhere in a response, inside words too.

    Attributes:
        plain: What to look for in `Text.ascii_lower` instead of the pattern, or None.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.plain = _plain(pattern)

    @lazy
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when a response needs it; raises as `python_regex` does."""
        return python_regex(self._pattern, re.IGNORECASE)

    def occurs(self, text: Text) -> bool:
        """Whether it occurs in the response."""
        if self.plain is not None and text.ascii_lower is not None:
            return self.plain in text.ascii_lower
        return self.pattern.search(text.raw) is not None

    def count(self, text: Text) -> int:
        """Number of occurrences that do not overlap."""
        if self.plain is not None and text.ascii_lower is not None:
            return text.ascii_lower.count(self.plain)
        return sum(1 for _ in self.pattern.finditer(text.raw))

    def spans(self, text: Text) -> Iterator[tuple[int, int]]:
        """(start, end) of each occurrence."""
        return (match.span() for match in self.pattern.finditer(text.raw))


class WholeWord(Keyword):
    r"""A pattern between two word boundaries (`\b`)."""

    def __init__(self, pattern: str) -> None:
        super().__init__(rf"\b{pattern}\b")
        self.plain = _plain(pattern)

    def occurs(self, text: Text) -> bool:
        """Whether it occurs in the response."""
        lower = text.ascii_lower
        if self.plain is None or lower is None:
            return self.pattern.search(text.raw) is not None
        start = lower.find(self.plain)
        while start >= 0:
            if _is_boundary(lower, start) and _is_boundary(lower, start + len(self.plain)):
                return True
            start = lower.find(self.plain, start + 1)
        return False

    def count(self, text: Text) -> int:
        """Number of occurrences that do not overlap."""
        return sum(1 for _ in self.spans(text))


def _is_boundary(text: str, place: int) -> bool:
    return _is_word(text[place - 1 : place]) != _is_word(text[place : place + 1])


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
