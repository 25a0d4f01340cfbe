"""Marks at the end of a response, of its sentences, lines, table cells or bullets."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ... import punkt
from ...text import Text
from .requirement import Requirement

__all__ = ["parse"]

_MARKS = {"period": ".", "question mark": "?", "exclamation mark": "!", "semicolon": ";"}

_NEGATIVE = re.compile(r"\b(?:must not|avoid|exclude|not end with|do not use)\b")
_FOLLOWED = re.compile(rf"({'|'.join(_MARKS)})\s+followed by a `([^`]+)`")
_NAMED = re.compile(rf"\b({'|'.join(_MARKS)}|punctuation mark)s?\b")
_BULLET = re.compile(r"^[-*•]\s.*$", re.MULTILINE)


def parse(sentence: str) -> Requirement:
    """The marks that a sentence names, and the units that must, or must not, end with one.

    A sentence that names none is satisfied by every response when it forbids; when it asks, only by one
    in which there is no unit.
    """
    sentence = sentence.strip().lower().rstrip(".")
    if "bullet point" in sentence:
        named = next((mark for name, mark in _MARKS.items() if name in sentence), None)
        endings = (named,) if named else tuple(string.punctuation)
        return _Endings("sentence of each bullet", _bullet_sentences, endings, named or "a mark")
    noun, units = _units(sentence)
    if followed := _FOLLOWED.search(sentence):
        ending = _MARKS[followed[1]] + followed[2]
        return _Endings(noun, units, (ending,), ending)
    negative = _NEGATIVE.search(sentence) is not None
    names = _NAMED.findall(sentence)
    if "punctuation mark" in names:
        return _Endings(noun, units, tuple(string.punctuation), "a mark", negative)
    marks = tuple(dict.fromkeys(_MARKS[name] for name in names))
    return _Endings(noun, units, marks, " or ".join(marks) or "a mark it does not name", negative)


def _units(sentence: str) -> tuple[str, Callable[[Text], Iterable[str]]]:
    """What must end so: its name, and what cuts a response into it. Words are found inside others, too."""
    if "table" in sentence or "cell" in sentence:
        return "cell", _cells
    if "paragraph" in sentence or "section" in sentence:
        return "line", _lines
    if any(word in sentence for word in ("each", "any", "all")):
        return "sentence", _sentences
    return "response", _whole


def _whole(text: Text) -> Iterable[str]:
    return [text.raw.strip()]


def _lines(text: Text) -> Iterable[str]:
    return filter(None, map(str.strip, text.raw.split("\n")))


def _sentences(text: Text) -> Iterable[str]:
    return text.sentences


def _cells(text: Text) -> Iterable[str]:
    """What stands between borders, also outside of tables, from the third line on; not rules of dashes."""
    lines = text.raw.strip().split("\n")
    rows = lines[2:] if len(lines) > 1 else lines
    cells = (cell.strip() for row in rows for cell in row.strip("|").split("|"))
    return (cell for cell in cells if cell.strip("-"))


def _bullet_sentences(text: Text) -> Iterable[str]:
    for bullet in _BULLET.findall(text.raw.strip()):
        for start, end in punkt.sentence_spans(bullet):
            yield bullet[start:end]


@dataclass(frozen=True)
class _Endings(Requirement):
    """Every unit of a response ends, or does not end, with one of some strings.

    Attributes:
        noun: What a unit is.
        units: Cuts a response into units.
        endings: The strings.
        words: They, in words.
        negative: Whether they are forbidden.
    """

    noun: str
    units: Callable[[Text], Iterable[str]]
    endings: tuple[str, ...]
    words: str
    negative: bool = False

    @property
    def parsed(self) -> bool:
        return bool(self.endings)

    def _wrong(self, text: Text) -> str | None:
        """The first unit that does not end as it should. No units are right, a blank one is without mark."""
        return next((unit for unit in self.units(text) if unit.endswith(self.endings) == self.negative), None)

    def holds(self, text: Text) -> bool:
        return self._wrong(text) is None

    def observed(self, text: Text) -> str:
        wrong = self._wrong(text)
        if wrong is None:
            return "as required"
        return f'one that ends in "{wrong[-30:]}"' if wrong else "nothing"

    @property
    def required(self) -> str:
        scope = "the response" if self.noun == "response" else f"each {self.noun}"
        return f"{scope} ends {'without' if self.negative else 'with'} {self.words}"
