"""`punctuation:no_comma`."""

from __future__ import annotations

from collections.abc import Iterable

from ...check import Check, Example, Span
from ...loose import Rescue
from ...text import Text
from ...wording import amount


class NoComma(Check, id="punctuation:no_comma", aliases=("rubrichub:CommaChecker",)):
    """The response has no comma, also none in a number; commas of other scripts are allowed."""

    example = Example(kwargs={}, passes="Turn left and go on.", fails="Turn left, then go on.")

    def holds(self, text: Text) -> bool:
        return "," not in text.raw

    def observed(self, text: Text) -> str:
        return amount(text.raw.count(","), "comma")

    @property
    def required(self) -> str:
        return "no comma"

    @property
    def rescue(self) -> Rescue:
        return Rescue.SMALLEST

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(i, i + 1, "violation") for i, char in enumerate(text.raw) if char == ",")
