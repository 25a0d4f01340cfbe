"""E03: the case of letters."""

from __future__ import annotations

from collections.abc import Iterator

from rubricate_service.lint.demand import Bounds, Case
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup, Way
from rubricate_service.lint.rules.common import high_of, low_of, pairs, quoted

_NAMES = {"upper": "all in capitals", "lower": "all in lower case", "title": "every word in title case"}


def clashing_cases(group: BuiltGroup) -> Iterator[Finding]:
    """E03: a case, and another case, words in capitals, or a phrase in its own case."""
    rule = RULES["E03"]
    for (first, one), (second, other) in pairs(group, Case):
        cases = {one.case, other.case}
        if "lower" not in cases or len(cases) < 2:
            continue  # words in capitals are in title case too
        way_out: str | None
        if "title" in cases:
            way_out = "a response in which each word starts with a digit or a mark"
        else:
            way_out = None if one.lettered or other.lettered else "a response without letters"
        message = f"{_NAMES[other.case]}, while {first.path} asks for {_NAMES[one.case]}"
        yield rule.at(second.path, message, way_out=way_out)
    for rubric, case in group.demands(Case):
        wanted = f"{rubric.path} wants {_NAMES[case.case]}"
        for counting, bounds in group.demands(Bounds):
            if bounds.measure.kind != "capitals" or counting is rubric:
                continue
            if case.case == "lower" and bounds.low > 0:
                yield rule.at(counting.path, f"{low_of(bounds)}, while {wanted}")
            elif case.case == "upper" and case.lettered and 0 <= bounds.high < 1:
                yield rule.at(
                    counting.path, f"{high_of(bounds)}, while {rubric.path} wants {_NAMES['upper']}"
                )
        for asking, ways in group.phrases:
            if asking is not rubric and all(_is_unwritable(way, case) for way in ways):
                message = f"{quoted(ways[0].phrase)} must occur in this very case, while {wanted}"
                yield rule.at(asking.path, message)


def _is_unwritable(way: Way, case: Case) -> bool:
    other = {"upper": str.islower, "lower": str.isupper}.get(case.case)
    return way.cased and other is not None and any(map(other, way.phrase))
