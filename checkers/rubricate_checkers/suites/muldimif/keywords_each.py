"""Keywords in each element of a response: cell, value, item or section."""

from __future__ import annotations

import json
import re
from functools import partial

from . import keyword_rule
from .elements import bullet_items, form, is_numbered
from .requirement import Each, Requirement, Unclear

__all__ = ["parse"]

_EACH = re.compile(r"\b(?:each|every)\s+(.+?)\s+(?:must|should|needs to|has to)\s+(.*)", re.IGNORECASE)
_NOT_WORD = re.compile(r"\W")


def parse(sentence: str) -> Requirement:
    """What a sentence says each element must have. One that does not say it is satisfied by no response."""
    match = _EACH.search(sentence)
    if match is None:
        return Unclear(passes=False)
    noun = match[1].lower()
    return Each(partial(_elements, noun=noun), keyword_rule.parse(match[2]), noun)


def _elements(raw: str, noun: str) -> list[str]:
    match form(raw):
        case "table":
            return _column(raw, noun)
        case "json":
            return _values(raw)
        case "numbered":
            return [line.split(".", 1)[1].strip() for line in raw.split("\n") if is_numbered(line)]
        case "bullet":
            return bullet_items(raw)
        case _:
            return _sections(raw)


def _values(raw: str) -> list[str]:
    try:
        data = json.loads(raw)
    except ValueError:
        return []
    return [str(value) for value in (data.values() if isinstance(data, dict) else data)]


def _sections(raw: str) -> list[str]:
    """What stands between lines of at least three equal `-`, `*` or `=`."""
    sections: list[str] = []
    lines: list[str] = []
    for line in raw.split("\n"):
        if _is_separator(line.strip()):
            if lines:
                sections.append("\n".join(lines).strip())
            lines = []
        else:
            lines.append(line)
    if lines:
        sections.append("\n".join(lines).strip())
    return sections or [raw]


def _is_separator(line: str) -> bool:
    return len(line) >= 3 and line[0] in "-*=" and not line.strip(line[0])


def _column(raw: str, noun: str) -> list[str]:
    """Cells of the column whose head shares most words with the noun; if none does, of the wordiest one."""
    lines = [line for line in map(str.strip, raw.split("\n")) if line.startswith("|") and line.endswith("|")]
    if len(lines) < 3:  # head, rule, and a row
        return []
    heads, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (lines[0], *lines[2:])]
    rows = [row for row in rows if len(row) == len(heads)]
    if not heads or not rows:
        return []
    # of heads that are equal, the last one's cells count
    cells = {head: [row[place].lstrip("#").strip() for row in rows] for place, head in enumerate(heads)}
    wanted = set(_plain_words(noun))
    best = max(heads, key=lambda head: sum(word in wanted for word in _plain_words(head)))
    if wanted.isdisjoint(_plain_words(best)):
        best = max(cells, key=lambda head: sum(len(cell.split()) for cell in cells[head]))
    return cells[best]


def _plain_words(phrase: str) -> list[str]:
    words = (_NOT_WORD.sub("", word).lower() for word in phrase.split())
    return [word for word in words if word]
