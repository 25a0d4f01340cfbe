"""Nesting levels of a JSON answer: objects and lists count, empty ones on top do not."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...text import Text
from ...wording import amount
from .measures import fenced
from .numbers import alternatives, single
from .requirement import Bounds, Requirement, Unclear

__all__ = ["parse"]

_DEEPEST = 330
"""Levels at which the recursion of the reference code ends under Python's default limit (measured: 332)."""

_NAMES = {"two": 2, "three": 3}


def _compile(phrases: Iterable[str]) -> list[re.Pattern[str]]:
    return [re.compile(phrase.replace("N", f"({alternatives(_NAMES)})")) for phrase in phrases]


_EXACT = _compile(
    (
        "exactly N levels? of nesting",
        "structured as a json object with a nesting level of N",
        "json example with exactly N level",
        "object nesting levels must be N",
        "nesting level of N",
        "be limited to N levels of nesting",
    )
)
_MAX = _compile(
    (
        "must not exceed N levels? of nesting",
        "no more than N level",
        "maximum of N (?:(?:object )?nesting )?levels",
        "not exceed N levels",
        "levels not exceeding N",
        "with the structure not exceeding N levels",
        "object nesting levels must not exceed N",
        "and at most N",
    )
)
_MIN = _compile(
    (
        "at least N levels? of nesting",
        "at least N levels? deep",
        "must include a json object with at least N level",
        "and at least N",
    )
)


def parse(sentence: str) -> Requirement:
    """The levels that a sentence allows. One that says nothing of them is satisfied by no response."""
    sentence = re.sub(r"[^\w\s]", "", sentence.lower())
    for pattern in _EXACT:
        if match := pattern.search(sentence):
            exact = single(match[1], _NAMES)
            return _Nesting(Bounds(exact, exact))
    bounds = Bounds(max(_numbers(_MIN, sentence), default=None), min(_numbers(_MAX, sentence), default=None))
    return Unclear(passes=False) if bounds == Bounds() else _Nesting(bounds)


def _numbers(patterns: list[re.Pattern[str]], sentence: str) -> list[int]:
    return [single(word, _NAMES) for pattern in patterns for word in pattern.findall(sentence)]


def _levels(raw: str) -> int | None:
    """Nesting levels of the first JSON block, or else of the whole text; None for `null` and what is no JSON.

    Raises:
        RecursionError: It is nested deeper than the reference code gets.
    """
    block = fenced(raw, "json")
    try:
        data = json.loads(raw if block is None else block.strip())
    except ValueError:  # no JSON, or a number too long for an int
        return None
    return None if data is None else _depth(data)


def _depth(data: Any) -> int:
    levels = 0
    layer = [data]
    while children := [child for node in layer if isinstance(node, dict | list) for child in _children(node)]:
        levels += 1
        if levels > _DEEPEST:
            raise RecursionError("nested too deeply")
        layer = children
    return levels


def _children(node: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


@dataclass(frozen=True)
class _Nesting(Requirement):
    """The answer is JSON nested to so many levels."""

    bounds: Bounds

    def holds(self, text: Text) -> bool:
        levels = text.view(_levels)
        return levels is not None and self.bounds.admit(levels)

    def observed(self, text: Text) -> str:
        levels = text.view(_levels)
        return "no JSON, or null" if levels is None else f"JSON with {amount(levels, 'nesting level')}"

    @property
    def required(self) -> str:
        return f"JSON with {self.bounds.of('nesting level')}"
