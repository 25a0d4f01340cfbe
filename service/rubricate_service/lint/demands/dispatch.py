"""Who says what a check demands: a function per class of checks, registered beside its like."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable
from functools import singledispatch

from rubricate_checkers import Check
from rubricate_checkers.keyword import is_literal
from rubricate_service.lint.demand import Bounds, Demand, Measure

log = logging.getLogger("rubricate.lint")

_ESCAPED = re.compile(r"\\([^\w\s])")


@singledispatch
def read(check: Check) -> Iterable[Demand] | None:
    """What a check demands; None where nobody says, which is not the same as nothing."""
    return None


def demands_of(check: Check) -> tuple[Demand, ...] | None:
    """What a check demands of every response that it passes, or None where that is not known.

    Each demand is necessary. What is left unsaid is unknown: together they need not be sufficient.
    """
    try:
        found = read(check)
        return None if found is None else tuple(dict.fromkeys(found))
    except Exception as error:  # a fault of ours: one rubric never costs the others
        log.error("what %s demands could not be read: %s", check.id, type(error).__name__)  # noqa: TRY400
        return None


def related(measure: Measure, relation: str, threshold: float) -> Bounds:
    """`less than` or `at least` a threshold, as bounds of a whole number."""
    if relation == "less than":
        return Bounds(measure, high=math.ceil(threshold) - 1)
    return Bounds(measure, low=threshold)


def exactly(measure: Measure, count: float) -> Bounds:
    """Bounds that only one count meets."""
    return Bounds(measure, count, count)


def literal(pattern: str) -> str | None:
    """The only text, but for its case, that a regular expression matches; None where there may be others."""
    text = _ESCAPED.sub("", pattern)
    return _ESCAPED.sub(r"\1", pattern) if is_literal(text) and text + pattern != "" else None
