"""A keyword as IFEval reads it: a regular expression whose case is ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .kwargs import python_regex
from .text import Text

__all__ = ["Keyword", "is_literal"]

_SPECIAL = frozenset(r".^$*+?{}[]\|()")


def is_literal(pattern: str) -> bool:
    """Whether a pattern is plain text: no character in it has a meaning for `re`."""
    return _SPECIAL.isdisjoint(pattern)


class Keyword:
    """A pattern that is searched for anywhere in a response, inside words too.

    A plain ASCII one, and most are, is found with `str` methods instead; the answer is the same.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = python_regex(pattern, re.IGNORECASE)
        self.literal = pattern.lower() if pattern.isascii() and is_literal(pattern) else None

    def occurs(self, text: Text) -> bool:
        """Whether it occurs in the response."""
        if self.literal is not None and text.ascii_lower is not None:
            return self.literal in text.ascii_lower
        return self.pattern.search(text.raw) is not None

    def count(self, text: Text) -> int:
        """Number of occurrences that do not overlap."""
        if self.literal is not None and text.ascii_lower is not None:
            return text.ascii_lower.count(self.literal)
        return sum(1 for _ in self.pattern.finditer(text.raw))

    def spans(self, text: Text) -> Iterator[tuple[int, int]]:
        """(start, end) of each occurrence."""
        return (match.span() for match in self.pattern.finditer(text.raw))
