"""What rules share: pairs, and how a bound is put in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeVar

from rubricate_service.lint.demand import Bounds, Demand
from rubricate_service.lint.group import BuiltGroup, BuiltRubric

D = TypeVar("D", bound=Demand)

_PLURAL = re.compile(r"(?<=\bmatch)es\b|s\b")

Made = tuple[BuiltRubric, D]
"""A demand and the rubric that makes it."""


def pairs(group: BuiltGroup, kind: type[D]) -> Iterator[tuple[Made[D], Made[D]]]:
    """Each two demands of a kind that two rubrics make, the earlier first."""
    for one, other in combinations(group.demands(kind), 2):
        group.work.step()
        if one[0] is not other[0]:
            yield one, other


def number(value: float) -> str:
    """A number without needless decimals."""
    return f"{value:g}" if value < 1e6 else f"{value:.0f}"


def _counted(relation: str, value: float, bounds: Bounds) -> str:
    name = bounds.measure.name
    if value == 1:
        name = _PLURAL.sub("", name, count=1)
    return f"{'exactly' if bounds.low == bounds.high else relation} {number(value)} {name}"


def low_of(bounds: Bounds) -> str:
    """The lower bound in words."""
    return _counted("at least", bounds.low, bounds)


def high_of(bounds: Bounds) -> str:
    """The upper bound in words."""
    return _counted("at most", bounds.high, bounds)


def upper_bounds(group: BuiltGroup, kinds: Sequence[str]) -> Iterator[Made[Bounds]]:
    """Bounds with an upper end on something of these kinds."""
    for rubric, bounds in group.demands(Bounds):
        if bounds.measure.kind in kinds and bounds.high < math.inf:
            yield rubric, bounds


def quoted(text: str) -> str:
    """A phrase in quotes that it has none of, shortened where it is long."""
    mark = "'" if '"' in text and "'" not in text else '"'
    return f"{mark}{text}{mark}" if len(text) <= 60 else f"{mark}{text[:57]}…{mark}"
