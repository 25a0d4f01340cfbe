"""W01 to W03: what the checks say of texts, and of samples where there are some."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup, BuiltRubric
from rubricate_service.worker import Finding as Found

PROBES = {".": "a lone full stop", "x": "a single letter", "": "an empty response"}
"""Texts without content, by which W01 tells whether a group asks for any."""

_FEWEST = 3
"""Distinct samples below which nothing is said about all of them."""
_FEWEST_PAIRS = 8
_FEWEST_OF_EACH = 3
_SAME = 0.95


def nothing_asked(group: BuiltGroup) -> Iterator[Finding]:
    """W01: a text without content passes every rubric."""
    if not group.is_whole or group.criteria:
        return
    for text, name in PROBES.items():
        if all(_passes(group, rubric, text) for rubric in group.rubrics):
            yield RULES["W01"].at(group.path, f"{name} passes {_all_of(len(group.rubrics))}")
            return


def _all_of(count: int) -> str:
    return "the only rubric" if count == 1 else f"all {count} rubrics"


def _passes(group: BuiltGroup, rubric: BuiltRubric, text: str) -> bool | None:
    found = group.say(rubric, text)
    return found.holds is not rubric.rubric.is_negative if isinstance(found, Found) else None


def no_discrimination(group: BuiltGroup) -> Iterator[Finding]:
    """W02: all samples pass, or all fail."""
    if len(group.responses) < _FEWEST:
        return
    for rubric in group.checks:
        passes = {_passes(group, rubric, text) for text in group.responses}
        if len(passes) == 1 and None not in passes:
            verb = "pass" if passes == {True} else "fail"
            yield RULES["W02"].at(rubric.path, f"all {len(group.responses)} distinct samples {verb}")


def duplicates(group: BuiltGroup) -> Iterator[Finding]:
    """W03: two rubrics are the same, or their verdicts on at least 8 samples correlate above 0.95 (φ)."""
    first: dict[tuple[object, ...], BuiltRubric] = {}
    for other in group.rubrics:
        if (one := first.setdefault(_key(other), other)) is not other:
            yield RULES["W03"].at(other.path, f"it is the same as {one.path}")
    if len(group.responses) < _FEWEST_PAIRS:
        return
    for one, other in combinations(group.checks, 2):
        if _key(one) == _key(other):
            continue
        group.work.step(len(group.responses))
        verdicts = [[_passes(group, rubric, text) for text in group.responses] for rubric in (one, other)]
        if (share := phi(*verdicts)) is not None and share > _SAME:
            message = f"on {len(group.responses)} samples it says what {one.path} says (φ = {share:.2f})"
            yield RULES["W03"].at(other.path, message, hint="See whether one of the two is enough.")


def _key(rubric: BuiltRubric) -> tuple[object, ...]:
    negative = rubric.rubric.is_negative
    if rubric.check is None or rubric.spec is None:
        return " ".join((rubric.rubric.criterion or "").lower().split()), negative
    return rubric.check.id, rubric.spec.kwargs, negative


def phi(one: Sequence[bool | None], other: Sequence[bool | None]) -> float | None:
    """The correlation of two rows of verdicts, from -1 to 1 (Yule's φ).

    None where a verdict is missing, or a row has fewer than three passes or three failures.
    """
    if None in one or None in other:
        return None
    both = sum(bool(a and b) for a, b in zip(one, other, strict=True))
    passes, others = sum(map(bool, one)), sum(map(bool, other))
    count = len(one)
    if not all(_FEWEST_OF_EACH <= n <= count - _FEWEST_OF_EACH for n in (passes, others)):
        return None
    spread = math.sqrt(passes * (count - passes) * others * (count - others))
    return (both * count - passes * others) / spread
