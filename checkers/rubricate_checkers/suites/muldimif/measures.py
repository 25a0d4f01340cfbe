"""What several families measure in a raw text."""

from __future__ import annotations

import re

from .requirement import Bounds, Counted

__all__ = ["SHORT_BLURB", "count_citations", "count_words", "fenced"]

_CITATION = re.compile(r"\[\d+\]|\([A-Za-z]+, \d{4}\)")

SHORT_BLURB = Counted(len, Bounds(high=200), "character")
"""What a "short blurb" is."""


def count_words(raw: str) -> int:
    """Number of words, which blanks separate."""
    return len(raw.split())


def count_citations(raw: str) -> int:
    """Number of citations like `[1]` or `(Name, 2020)`."""
    return sum(1 for _ in _CITATION.finditer(raw))


def fenced(raw: str, language: str) -> str | None:
    """What stands between the first fence of a language and the next fence; None where either is missing."""
    opening = f"```{language}"
    start = raw.find(opening)
    if start < 0:
        return None
    end = raw.find("```", start + len(opening))
    return None if end < 0 else raw[start + len(opening) : end]
