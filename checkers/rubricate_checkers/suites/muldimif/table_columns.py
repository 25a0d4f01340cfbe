"""What sentences say must stand in a table's head, or in the table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Named", "parse"]

_QUOTED = re.compile(r'"([^"]+)"')
_COLUMNS_SHOULD_BE = re.compile(r"columns?\s+should\s+be\s+([\w\s,]+)")
_COLUMNS_LIST = re.compile(r"columns:\s+([\w\s,']+)")
_COLUMNS_NAMED = re.compile(r'table must include columns named\s+"[^"]+"')
_SPLITTER = re.compile("[,、，和and]")
"""Splits at each of these characters, so that `brand` is looked for as `br`."""

_EACH = "each (?:entry|row|item|game|series)"
_MUST_INCLUDE = re.compile(
    rf"{_EACH} must include (?:the\s+)?([\w\s,]+(?:\s+and\s+(?:its|their)\s+[\w\s,]+)?)"
)
_SHOULD_CONTAIN = re.compile(
    rf"{_EACH} should (?:be )?(?:present|include|contain|show)(?:ed)? (?:in|with)?\s+([\w\s,]+)"
)
_MUST_INCLUDE_ITS = re.compile(r"each\s+\w+\s+must\s+include\s+(?:the\s+)?([\w\s]+\s+and\s+its\s+[\w\s]+)")


@dataclass(frozen=True)
class Named:
    """Something that a table must name.

    Attributes:
        head: Strings of which a cell of the head must contain one.
        whole: Whether it is as good when one of the strings contains a cell of the head.
        phrase: What may stand anywhere in the table instead, or None.
    """

    head: tuple[str, ...]
    whole: bool = False
    phrase: str | None = None

    def met(self, heads: Iterable[str], words: str) -> bool:
        """Whether the table names it, given the cells of its head and all its words in lower case."""
        if self.phrase is not None and self.phrase in words:
            return True
        return any(word in cell or (self.whole and cell in word) for cell in heads for word in self.head)

    @property
    def words(self) -> str:
        """It, in words."""
        names = " or ".join(f'"{word}"' for word in self.head)
        return f"{names} in the head" if self.phrase is None else f'"{self.phrase}", or {names} in the head'


def parse(sentence: str) -> tuple[Named, ...]:
    """All that a sentence, in lower case, says a table must name."""
    quoted = [
        name for name in (quote.strip().rstrip(",").strip() for quote in _QUOTED.findall(sentence)) if name
    ]
    is_series = "series must include" in sentence and "title" in sentence and "author" in sentence
    is_film = "film title" in sentence and "release year" in sentence
    if is_series and "year" in sentence:
        return (Named(("title",)), Named(("author",)), Named(("year",)))
    for_columns = "columns for" in sentence
    names = quoted if for_columns and quoted else _columns(sentence) or quoted
    columns = tuple(Named((name,), whole=for_columns) for name in names)
    if for_columns and columns:
        return columns
    if is_film:
        return (*columns, Named(("film", "title")), Named(("release", "year")))
    required = dict.fromkeys(
        _contents(sentence, ("title", "author", "year", "publication") if is_series else ())
    )
    # of a publication, only the year is looked for
    contents = (Named(tuple(part.split()), phrase=part) for part in required if part != "publication")
    return (*columns, *contents)


def _columns(sentence: str) -> list[str]:
    """Names of columns that a sentence lists without quotation marks."""
    listed = [
        match[1] for pattern in (_COLUMNS_SHOULD_BE, _COLUMNS_LIST) if (match := pattern.search(sentence))
    ]
    if _COLUMNS_NAMED.search(sentence):
        listed.append("named")  # the reference code reads this word instead of the names behind it
    pieces = (piece.strip("'\" ") for names in listed for piece in _SPLITTER.split(names))
    return [piece for piece in pieces if piece]


def _contents(sentence: str, known: Sequence[str]) -> Iterable[str]:
    """What a sentence says each row must have."""
    found = list(known)
    for pattern in (_MUST_INCLUDE, _SHOULD_CONTAIN):
        if match := pattern.search(sentence):
            found += _split(match[1])
    if match := _MUST_INCLUDE_ITS.search(sentence):
        found += re.split(r"\s+and\s+its\s+", match[1])
    return (part for part in map(str.strip, found) if part)


def _split(listed: str) -> list[str]:
    """The parts of `name, price and its colour`; what follows a second "and" is dropped."""
    if " and " not in listed:
        return re.split("[,、，]", listed)
    left, right, *_ = listed.split(" and ")
    return [*left.split(","), right.removeprefix("its ")]
