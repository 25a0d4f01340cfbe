"""E01, E13 and E14: counts that cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

from rubricate_service.lint.demand import Bounds, Divided, Excludes, Measure
from rubricate_service.lint.finding import RULES, Finding, Rule
from rubricate_service.lint.group import BuiltGroup, BuiltRubric, Way
from rubricate_service.lint.index import PhraseIndex
from rubricate_service.lint.rules.common import Made, high_of, low_of, number, pairs, quoted, upper_bounds


def empty_ranges(group: BuiltGroup) -> Iterator[Finding]:
    """E01: the least that is allowed is more than the most."""
    rule = RULES["E01"]
    for rubric, bounds in group.demands(Bounds):
        if bounds.low > bounds.high or bounds.high < 0:
            message = f"{low_of(bounds)} and {high_of(bounds)}" if bounds.low > 0 else _below_zero(bounds)
            yield rule.at(rubric.path, message)
        elif math.ceil(bounds.low) > bounds.high:
            yield rule.at(rubric.path, f"a count is whole, and {low_of(bounds)} is asked for")
    alike: dict[Measure, list[Made[Bounds]]] = {}
    for made in group.demands(Bounds):
        alike.setdefault(made[1].measure, []).append(made)
    for (first, one), (second, other) in (two for same in alike.values() for two in combinations(same, 2)):
        group.work.step()
        if first is not second and max(one.low, other.low) > min(one.high, other.high) >= 0:
            low, high = (one, other) if one.low > other.high else (other, one)
            words = {id(low): low_of(low), id(high): high_of(high)}
            yield rule.at(second.path, f"{words[id(other)]}, while {first.path} asks for {words[id(one)]}")
    for (first, division), (second, another) in pairs(group, Divided):
        if division.separator == another.separator and division.parts != another.parts:
            message = (
                f"{number(another.parts)} parts between {another.separator}, while {first.path} asks for "
                f"{number(division.parts)}"
            )
            yield rule.at(second.path, message)


def _below_zero(bounds: Bounds) -> str:
    return f"fewer than {number(bounds.high + 1)} {bounds.measure.name}"


def phrases_too_long(group: BuiltGroup) -> Iterator[Finding]:
    """E13: required phrases are longer than the response may be.

    Two phrases may overlap, so that only the longest is certain to take its room. What all of them take
    side by side is a warning.
    """
    rule = RULES["E13"]
    apart: list[Way] | None = None
    for limited, bounds in upper_bounds(group, ("words", "characters")):
        errors = list(_beyond(group, limited, bounds, rule))
        yield from errors
        if errors or bounds.measure.kind != "words" or bounds.high < 1:
            continue
        apart = _apart(group) if apart is None else apart
        total = 0
        for way in apart:
            group.work.read(way.phrase)
            total += way.times * bounds.measure.least(way.phrase, 1)
        if total > bounds.high:
            message = f"{high_of(bounds)}, while the phrases that are required have {total}"
            yield rule.at(limited.path, message, way_out="a response that runs words together")


def _beyond(group: BuiltGroup, limited: BuiltRubric, bounds: Bounds, rule: Rule) -> Iterator[Finding]:
    """A phrase by itself has more of what is counted than there may be."""
    for rubric, ways in group.phrases:
        least, way = min(
            ((bounds.measure.least(w.phrase, w.times), w) for w in ways), key=lambda pair: pair[0]
        )
        if least > bounds.high >= 0:
            times = "" if way.times == 1 else f" {way.times} times"
            message = f"{high_of(bounds)}, while {quoted(way.phrase)}{times} of {rubric.path} has {least}"
            yield rule.at(limited.path, message)


def _apart(group: BuiltGroup) -> list[Way]:
    """Phrases that are required, without those that are a part of another one."""
    phrases = {ways[0].lower: ways[0] for _, ways in group.phrases if len(ways) == 1}
    index = PhraseIndex(phrases)
    parts = {part for whole in phrases for part in index.found_in(whole, group.work) if part != whole}
    return [way for lower, way in phrases.items() if lower not in parts]


def impossible_letters(group: BuiltGroup) -> Iterator[Finding]:
    """E14: fewer letters than required phrases have, or letters that are forbidden."""
    rule = RULES["E14"]
    kinds = ("letter", "letters", "cased_letter")
    for limited, limit in upper_bounds(group, kinds):
        yield from _beyond(group, limited, limit, rule)
    for rubric, bounds in group.demands(Bounds):
        if bounds.measure.kind not in kinds[:1] or bounds.low <= 0:
            continue
        for forbidding, excludes in group.demands(Excludes):
            if excludes.phrase.lower() == bounds.measure.about and not excludes.word and not excludes.cased:
                yield rule.at(
                    rubric.path,
                    f"{low_of(bounds)}, while {forbidding.path} forbids {quoted(excludes.phrase)}",
                )
