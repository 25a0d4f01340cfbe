"""Evidence of checks that look at words, at ends, or for one thing: where these stand in a response."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from .check import Span

__all__ = ["Kind", "at_end", "at_start", "each_word", "every", "phrases"]

Kind = Literal["match", "violation", "counted"]

_WORD = re.compile(r"\S+")


def each_word(raw: str, kind: Kind, wanted: Callable[[str], bool]) -> Iterator[Span]:
    """The words, parted by whitespace, that are wanted."""
    return (Span(*match.span(), kind) for match in _WORD.finditer(raw) if wanted(match[0]))


def every(raw: str, pattern: re.Pattern[str], kind: Kind = "counted") -> Iterator[Span]:
    """Every match of a pattern."""
    return (Span(*match.span(), kind) for match in pattern.finditer(raw))


def phrases(raw: str, wanted: Iterable[str], kind: Kind, *, cased: bool = False) -> Iterator[Span]:
    """Every occurrence of phrases that are plain text, inside words too; in any case unless `cased`."""
    flags = re.NOFLAG if cased else re.IGNORECASE
    for phrase in wanted:
        if phrase:
            yield from every(raw, re.compile(re.escape(phrase), flags), kind)


def at_start(raw: str, length: int, holds: bool) -> list[Span]:
    """What stands first, whitespace aside: a match if it is what was asked for. Nothing of a blank text."""
    start = len(raw) - len(raw.lstrip())
    end = min(start + length, len(raw))
    return [Span(start, end, "match" if holds else "violation")] if start < end else []


def at_end(raw: str, length: int, holds: bool, beside: str = "") -> list[Span]:
    """What stands last, whitespace and then the characters `beside` aside, likewise."""
    end = len(raw.rstrip().rstrip(beside)) if beside else len(raw.rstrip())
    start = max(end - length, 0)
    return [Span(start, end, "match" if holds else "violation")] if start < end else []
