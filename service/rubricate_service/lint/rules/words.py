"""E02 and E04: what must occur and must not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from rubricate_service.lint.demand import Bounds, Excludes
from rubricate_service.lint.demands.words import is_counted_word
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup, Way
from rubricate_service.lint.index import PhraseIndex
from rubricate_service.lint.rules.common import Made, high_of, low_of, quoted, upper_bounds
from rubricate_service.lint.work import Work


class _Clash(Enum):
    """How a required phrase stands to a forbidden one."""

    NONE = auto()
    WORD_PART = auto()
    """They exclude one another unless the forbidden word is a part of a longer one."""
    CERTAIN = auto()


def forbidden_phrases(group: BuiltGroup) -> Iterator[Finding]:
    """E02 for words, E04 for marks: a required phrase has what another rubric forbids."""
    forbidden: dict[str, list[Made[Excludes]]] = {}
    for made in group.demands(Excludes):
        forbidden.setdefault(made[1].phrase.lower(), []).append(made)
    index = PhraseIndex(forbidden)
    for rubric, ways in group.phrases if forbidden else ():
        for phrase in index.found_in(ways[0].lower, group.work):
            for forbidding, excludes in forbidden[phrase]:
                clashes = {_clash(group.work, way, excludes) for way in ways}
                if _Clash.NONE in clashes:
                    continue
                rule = RULES["E02" if any(map(str.isalnum, phrase)) else "E04"]
                required = quoted(ways[0].phrase)
                message = f"{required} must occur, while {forbidding.path} allows no {_named(excludes)}"
                doubtful = _Clash.WORD_PART in clashes
                way_out = f"a longer word with {quoted(excludes.phrase)} in it" if doubtful else None
                yield rule.at(rubric.path, message, way_out=way_out)


def uncounted_words(group: BuiltGroup) -> Iterator[Finding]:
    """E09: a number of times is asked for of what is never counted, as it is no single word."""
    for rubric, bounds in group.demands(Bounds):
        measure = bounds.measure
        if measure.kind == "token" and bounds.low > 0 and not is_counted_word(measure.about):
            yield RULES["E09"].at(
                rubric.path,
                f"{low_of(bounds)}, which is not found: words are runs of letters and digits",
                hint="Give one word without blanks and marks, or count it with `keywords:frequency`.",
            )


def _named(excludes: Excludes) -> str:
    names = {",": "commas", ".": "full stops", "!": "exclamation marks", " ": "blanks", "\n": "line breaks"}
    return names.get(excludes.phrase) or quoted(excludes.phrase)


def _clash(work: Work, way: Way, excludes: Excludes) -> _Clash:
    work.read(way.phrase)
    phrase, forbidden = way.phrase, excludes.phrase
    if not excludes.cased:
        phrase, forbidden = phrase.lower(), forbidden.lower()
    elif not way.cased and forbidden.lower() != forbidden.upper():
        return _Clash.NONE  # it may occur in another case
    if forbidden not in phrase:
        return _Clash.NONE
    if not excludes.word:
        return _Clash.CERTAIN
    found = _Clash.NONE
    for match in re.finditer(rf"(?=\b{re.escape(forbidden)}\b)", phrase):
        start, end = match.start(), match.start() + len(forbidden)
        if (start > 0 or way.left) and (end < len(phrase) or way.right):
            return _Clash.CERTAIN
        found = _Clash.WORD_PART
    return found


def keywords_too_often(group: BuiltGroup) -> Iterator[Finding]:
    """E02: a keyword may occur less often than required phrases have it."""
    for limited, bounds in upper_bounds(group, ("keyword",)):
        for rubric, ways in group.phrases:
            if rubric is limited or min(bounds.measure.least(w.phrase, w.times) for w in ways) <= bounds.high:
                continue
            if all(way.lower == bounds.measure.about for way in ways):
                continue  # two counts of one keyword: E01 says so
            message = f"{high_of(bounds)}, while {rubric.path} asks for {quoted(ways[0].phrase)}"
            times = f" {ways[0].times} times" if ways[0].times > 1 else ""
            yield RULES["E02"].at(limited.path, message + times)
