"""Keywords: whole words in any case; Chinese ones anywhere."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ...check import Span
from ...text import Text
from ...wording import listed
from .requirement import Requirement

__all__ = ["AvoidedTerm", "Terms"]


@lru_cache(maxsize=4096)
def _pattern(term: str) -> re.Pattern[str]:
    """A term with a Chinese character is matched anywhere, any other one only between non-word characters."""
    literal = re.escape(term)
    if any("\u4e00" <= char <= "\u9fff" for char in term):
        return re.compile(literal)
    return re.compile(rf"(?<!\w){literal}(?!\w)", re.IGNORECASE)


def _count(term: str, text: Text) -> int:
    return sum(1 for _ in _pattern(term).finditer(text.raw))


def _spans(term: str, text: Text, kind: Literal["match", "violation"]) -> Iterable[Span]:
    return (Span(*match.span(), kind) for match in _pattern(term).finditer(text.raw))


@dataclass(frozen=True)
class Terms(Requirement):
    """Terms that must occur: all of them, or any one.

    Attributes:
        terms: At least one term.
        at_least: How often, without overlap.
        any_of: Whether one of them is enough.
    """

    terms: tuple[str, ...]
    at_least: int = 1
    any_of: bool = False

    def holds(self, text: Text) -> bool:
        enough = (_count(term, text) >= self.at_least for term in self.terms)
        return any(enough) if self.any_of else all(enough)

    def observed(self, text: Text) -> str:
        return ", ".join(f'"{term}" {_count(term, text)}x' for term in self.terms)

    @property
    def required(self) -> str:
        which = "any of " if self.any_of and len(self.terms) > 1 else ""
        often = "" if self.at_least == 1 else f", each at least {self.at_least} times"
        return f"{which}{listed(self.terms)}{often}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return (span for term in self.terms for span in _spans(term, text, "match"))


@dataclass(frozen=True)
class AvoidedTerm(Requirement):
    """A term that must not occur."""

    term: str

    def holds(self, text: Text) -> bool:
        return _pattern(self.term).search(text.raw) is None

    def observed(self, text: Text) -> str:
        return f'"{self.term}" {_count(self.term, text)}x'

    @property
    def required(self) -> str:
        return f'no "{self.term}"'

    def evidence(self, text: Text) -> Iterable[Span]:
        return list(_spans(self.term, text, "violation"))
