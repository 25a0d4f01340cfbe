"""Number of words of each element of a response: cell, entry, item or line."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial

from ...kwargs import refuse
from ...text import Text
from .elements import bullet_items, form, is_numbered
from .measures import count_words
from .numbers import TO_HUNDRED, alternatives
from .requirement import Bounds, Counted, Each, Requirement, Unclear

__all__ = ["parse"]

_NAMES = {"zero": 0} | TO_HUNDRED
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NAMES)})\b", re.IGNORECASE)

_CHARACTERS = re.compile(
    rf"must be (at most|at least) \b({alternatives(TO_HUNDRED)})\b characters", re.IGNORECASE
)

_NOUN = re.compile(
    r"(?:each entry in the|each|the)\s+(.+?)"
    r"\s+(?:is|in the table|column|must|consists of|contains?|should|have)",
    re.IGNORECASE,
)

_LIMITS = [
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("range", r"between (\d+) and (\d+) words"),
        ("range", r"range: (\d+)-(\d+) words"),
        ("min", r"at least (\d+) words"),
        ("min", r"a minimum of (\d+) words"),
        ("min", r"a minimum length of (\d+) words"),
        ("max", r"at most (\d+) words"),
        ("exact", r"exactly (\d+) words"),
        ("max", r"no more than (\d+) words"),
        ("max", r"not exceed (\d+) words"),
        ("max", r"a maximum of (\d+) words"),
        ("max", r"a maximum length of (\d+) words"),
        ("max", r"limit of (\d+) words"),
        ("max", r"not exceeding (\d+) words"),
        ("max", r"less than (\d+) words"),  # so many are accepted, too
    )
]


def parse(sentence: str) -> Requirement:
    """The limit that a sentence sets to each element. One that sets none is satisfied by no response."""
    if re.search("each word must be", sentence, re.IGNORECASE):
        match = _CHARACTERS.search(sentence)
        if match is None or not match[2].isdecimal():
            refuse("gives no number of characters in digits, on which the reference code breaks")
        if match[1] in ("at most", "at least"):
            number = int(match[2])
            return _WordLengths(Bounds(high=number) if match[1] == "at most" else Bounds(low=number))
    sentence = _NUMBER_WORD.sub(lambda match: str(_NAMES[match[0].lower()]), sentence)
    named = _NOUN.search(sentence)
    noun = named[1].lower().replace('"', "").replace("'", "") if named else None
    for kind, pattern in _LIMITS:
        if match := pattern.search(sentence):
            low, high = int(match[1]), int(match[match.lastindex or 1])
            bounds = Bounds(None if kind == "max" else low, None if kind == "min" else high)
            rule = Counted(count_words, bounds, "word")
            return Each(partial(_elements, noun=noun), rule, noun or "element")
    return Unclear(passes=False)


@dataclass(frozen=True)
class _WordLengths(Requirement):
    """The length of every word, where words are what single blanks separate, so that some are empty."""

    bounds: Bounds

    def _wrong(self, text: Text) -> str | None:
        return next((word for word in text.raw.split(" ") if not self.bounds.admit(len(word))), None)

    def holds(self, text: Text) -> bool:
        return self._wrong(text) is None

    def observed(self, text: Text) -> str:
        wrong = self._wrong(text)
        return "all words so" if wrong is None else f'"{wrong[:60]}" with {len(wrong)} characters'

    @property
    def required(self) -> str:
        return f"each word of {self.bounds.of('character')}"


def _elements(raw: str, noun: str | None) -> list[str]:
    match form(raw):
        case "table":
            return _cells(raw, "cells" if noun is None else noun)
        case "json":
            return _values(raw, noun)
        case "numbered":
            lines = filter(is_numbered, raw.split("\n"))
            return [line.split(":", 1)[-1].split(".", 1)[-1].strip() for line in lines]
        case "bullet":
            return bullet_items(raw)
        case _:
            lines = filter(None, map(str.strip, raw.split("\n")))
            return [line.lstrip("#").strip() for line in lines if not _is_heading_or_row(line)]


def _is_heading_or_row(line: str) -> bool:
    return line.strip("*#'\"").endswith(":") or (len(line) > 1 and line[0] == line[-1] == "|")


def _values(raw: str, noun: str | None) -> list[str]:
    """All values of a JSON object when the noun has `entry` in it, else the one named by its last word."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return []
    if not noun or not isinstance(data, dict):
        return []
    if "entry" in noun:
        return [str(value) for value in data.values()]
    return [str(data.get(noun.split()[-1], ""))]


_RULE = "<TitleSplit>"
"""Stands among the cells for the line under a table's head; the reference code's word, which it counts."""


def _cells(raw: str, noun: str) -> list[str]:
    """Cells of the columns whose head contains the noun; if there is none, all cells, heads and rules too.

    Empty cells are dropped before the rest is dealt out to the columns, which shifts them.
    """
    cells: list[str] = []
    for line in map(str.strip, raw.split("\n")):
        if re.match(r"[\s|*-]+$", line) and line.startswith("|"):
            cells.append(_RULE)
        elif line.startswith("|"):
            cells.extend(filter(None, map(str.strip, line[1:-1].split("|"))))
    head_end = cells.index(_RULE) if _RULE in cells else len(cells)
    heads = cells[:head_end]
    if not heads:
        return []
    body = [cell for cell in cells[head_end:] if cell != _RULE]
    found = []
    for start in range(0, len(body) - len(heads) + 1, len(heads)):
        row = dict(zip(heads, body[start : start + len(heads)], strict=True))
        found += [cell for head, cell in row.items() if noun in head.lower() and head.lower() != cell.lower()]
    return found or cells
