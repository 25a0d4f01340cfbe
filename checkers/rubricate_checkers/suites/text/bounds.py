"""`min` and `max`: what several checks bound a count by."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import Annotated, ClassVar, Self

from pydantic import PlainValidator, WithJsonSchema, model_validator

from ...check import Check, Span
from ...kwargs import refuse
from ...text import Text
from ...wording import amount


def _bound(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        refuse(f"must be a number from 0, not {value!r}")
    return value


Bound = Annotated[
    int | float | None, PlainValidator(_bound), WithJsonSchema({"type": "number", "minimum": 0})
]
"""A number from 0, or nothing."""


class Bounded(Check):
    """A number of things lies between `min` and `max`, both included; one of the two may be left out."""

    noun: ClassVar[str]
    min: Bound = None
    max: Bound = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min is None and self.max is None:
            refuse("min or max must be given")
        if self.min is not None and self.max is not None and self.max < self.min:
            refuse(f"max ({self.max}) must not be less than min ({self.min})")
        return self

    @abstractmethod
    def spans(self, text: Text) -> list[tuple[int, int]]:
        """(start, end) of each thing that is counted, in code points."""

    def count(self, text: Text) -> int:
        return len(self.spans(text))

    def holds(self, text: Text) -> bool:
        low = -math.inf if self.min is None else self.min
        high = math.inf if self.max is None else self.max
        return low <= text.once(self.count) <= high

    def observed(self, text: Text) -> str:
        return amount(text.once(self.count), self.noun)

    @property
    def required(self) -> str:
        if self.min is None or self.max is None:
            relation, bound = ("at most", self.max) if self.min is None else ("at least", self.min)
            return f"{relation} {amount(bound or 0, self.noun)}"
        if self.min == self.max:
            return f"exactly {amount(self.min, self.noun)}"
        return f"{self.min:g} to {amount(self.max, self.noun)}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*span, "counted") for span in self.spans(text))
