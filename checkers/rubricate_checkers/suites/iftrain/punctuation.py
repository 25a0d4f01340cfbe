"""`punctuation:`: marks that must not occur."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ...check import Check, Example, Span
from ...loose import Rescue
from ...text import Text
from ...wording import amount


class _NoMark(Check):
    """A mark does not occur anywhere."""

    _mark: ClassVar[str]
    _name: ClassVar[str]

    def holds(self, text: Text) -> bool:
        return self._mark not in text.raw

    def observed(self, text: Text) -> str:
        return amount(text.raw.count(self._mark), self._name)

    @property
    def required(self) -> str:
        return f"no {self._name}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.SMALLEST

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(i, i + 1, "violation") for i, char in enumerate(text.raw) if char == self._mark)


class NoDot(_NoMark, id="punctuation:punctuation_dot", suite="iftrain"):
    """The response has no dot, also none in a number; `…` and the dots of other scripts are allowed."""

    _mark = "."
    _name = "dot"
    example = Example(kwargs={}, passes="Turn left at the pier", fails="Turn left at the pier.")


class NoExclamationMark(_NoMark, id="punctuation:punctuation_exclamation", suite="iftrain"):
    """The response has no exclamation mark; those of other scripts are allowed."""

    _mark = "!"
    _name = "exclamation mark"
    example = Example(kwargs={}, passes="Turn left.", fails="Turn left!")
