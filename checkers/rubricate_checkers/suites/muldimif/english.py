"""Case of English text: all upper, all lower, or a capital at the start of each word."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...text import Text
from .requirement import Requirement, Trait, Unclear

__all__ = ["parse"]

_UPPER = re.compile(r"\ball[- ]?uppercase\b|in capitalized form")
_TITLE_CASE = re.compile(r"each word in|\bcapitalized\b")
_LOWER = re.compile(r"must be in lowercase|all lowercase|\blowercase\b")

_KEY = re.compile(r'"([^"]+)"\s*:')
_VALUE = re.compile(r':\s*"([^"]+)"')
_HEADING = re.compile(r"^#+\s*(.+)$", re.MULTILINE)


def parse(sentence: str) -> Requirement:
    """The case that a sentence asks for, and where. One that asks for none is satisfied by no response."""
    sentence = sentence.strip().lower()
    rule = _rule(sentence)
    if rule is not None:
        return _Cased(rule, *_part(sentence))
    if "written as a short blurb" in sentence:  # any response that is not blank passes
        return Trait(_is_there, "some text", "a blank response")
    return Unclear(passes=False)


def _is_there(raw: str) -> bool:
    return bool(raw.strip())


@dataclass(frozen=True)
class _Rule:
    """A case.

    Attributes:
        name: In words.
        holds: Whether a text is in it.
    """

    name: str
    holds: Callable[[str], bool]


_ALL_UPPER = _Rule("in upper case", lambda text: text == text.upper())
_ALL_LOWER = _Rule("in lower case", lambda text: text == text.lower())
_TITLE = _Rule(
    "with a capital for each word", lambda text: not any("a" <= word[0] <= "z" for word in text.split())
)
"""Only a-z must not begin a word: digits, marks and other letters may."""


def _rule(sentence: str) -> _Rule | None:
    if _UPPER.search(sentence):
        return _ALL_UPPER
    if _TITLE_CASE.search(sentence) or ("capital" in sentence and "each" in sentence):
        return _TITLE
    return _ALL_LOWER if _LOWER.search(sentence) else None


def _part(sentence: str) -> tuple[str, Callable[[str], str]]:
    """The part of a response that a sentence speaks of: its name, and what cuts it out."""
    if "table" in sentence:
        if "header" in sentence and "headings" not in sentence:
            return "the cells of the head", _head_cells
        if "entries" in sentence and "headings" not in sentence:
            return "the cells below the head", _body_cells
        return "the cells", _cells
    if "json" in sentence and "keys" in sentence:
        return "the keys", _keys
    if "json" in sentence and "values" in sentence:
        return "the values", _values
    if "heading" in sentence and "json" not in sentence:
        return "the headings", _headings
    return "the response", _whole


def _whole(raw: str) -> str:
    return raw


def _rows(raw: str) -> list[str]:
    """Non-blank lines of a text with a table; none where there is no cell border at all."""
    return [line for line in raw.split("\n") if line.strip()] if "|" in raw else []


def _join_cells(rows: Iterable[str]) -> str:
    return " ".join(cell.strip() for row in rows for cell in row.split("|") if cell.strip())


def _cells(raw: str) -> str:
    rows = _rows(raw)
    return _join_cells(rows) if rows else raw


def _head_cells(raw: str) -> str:
    rows = _rows(raw)
    return _join_cells(rows[:1]) if rows else raw


def _body_cells(raw: str) -> str:
    rows = _rows(raw)
    return _join_cells(rows[1:]) if len(rows) > 1 else raw


def _keys(raw: str) -> str:
    return _found(_KEY, raw) if "{" in raw and "}" in raw else raw


def _values(raw: str) -> str:
    return _found(_VALUE, raw) if "{" in raw and "}" in raw else raw


def _headings(raw: str) -> str:
    return _found(_HEADING, raw)


def _found(pattern: re.Pattern[str], raw: str) -> str:
    """What a pattern finds in a text; the text where it finds nothing."""
    return " ".join(pattern.findall(raw)) or raw


@dataclass(frozen=True)
class _Cased(Requirement):
    """A part of the response is in some case. A blank response is in none."""

    rule: _Rule
    part: str
    cut: Callable[[str], str]

    def holds(self, text: Text) -> bool:
        return not text.blank and self.rule.holds(text.view(self.cut))

    def observed(self, text: Text) -> str:
        if text.blank:
            return "a blank response"
        wrong = next((word for word in text.view(self.cut).split() if not self.rule.holds(word)), None)
        if self.holds(text) or wrong is None:
            return f"{self.part} {'' if self.holds(text) else 'not '}{self.rule.name}"
        return f'"{wrong[:60]}"'

    @property
    def required(self) -> str:
        return f"{self.part} {self.rule.name}"
