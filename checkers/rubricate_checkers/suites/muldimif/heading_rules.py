"""What sentences ask of headings: levels that must occur, how many levels, which comes first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .numbers import TO_TEN, alternatives, single
from .requirement import Bounds

__all__ = ["Heading", "Rule", "parse"]


class Heading(NamedTuple):
    """A heading: number of `#`, and its words."""

    level: int
    words: str


class Rule(NamedTuple):
    """One thing asked of headings: in words, and a test of all of them."""

    words: str
    test: Callable[[Sequence[Heading]], bool]


def _compile(pattern: str) -> re.Pattern[str]:
    r"""A pattern in which `N` stands for a number, any case."""
    return re.compile(pattern.replace("N", rf"\b({alternatives(TO_TEN)})\b"), re.IGNORECASE)


_TWO_LEVELS = (
    _compile("use heading levels N and N"),
    _compile(r"use heading levels.*?level\s*N.*?level\s*N"),
)
_LISTED_LEVELS = (
    _compile("a heading level N"),
    re.compile(r"H(\d+)", re.IGNORECASE),
    _compile("Level N for"),
)
_COUNT = "(?:a|at least one|two|three|four|five|six|seven|eight|nine|ten|\\d+)"
"""Each word stands for itself: `a` is also the end of a word before, and `at least` goes with `one` only."""
_TITLED = (
    _compile("""level N heading titled ["'](.*?)["']"""),
    _compile(f"""{_COUNT} level N heading with the text ["'](.*?)["']"""),
)
_VERB = re.compile(
    "include|including|us(?:e|ing)|formatted|presented|organized|structured|feature|should be|incorporate"
)
_ONE_LEVEL = (
    _compile(r"(?:a|at least \d+) heading level N"),
    _compile(f"{_COUNT} level N heading"),
    re.compile(r"must use a heading level of h(\d+)"),
)
_RELATION = "(at least|at most|exactly|up to|a maximum of|under) N"
_LEVEL_COUNT = (_compile(f"{_RELATION} heading level"), _compile(f"{_RELATION} level"))
_DEEPEST = _compile(r" must (?:not exceed|be limited to)\s+(?:level\s+)?N")
_FIRST = _compile("must begin with a level N heading")
_USE = _compile("use heading level N")
_SOME_HEADING = (
    "include headings",
    "includes headings",
    "use heading levels",
    "using heading levels",
    "presented under a separate heading",
    "separated with headings",
    "with headings",
)

_POINTS_AND_SUBPOINTS = (
    "format the response using Markdown, employing '##' for main points and '###' for subpoints "
    "to clearly organize the information"
)


def parse(sentence: str) -> list[Rule]:
    """The rules that a sentence states.

    A comma between word characters, as in `a,b`, starts a new clause, and each clause states one rule
    at most.
    """
    fixed = _fixed(sentence)
    clauses = re.split(r"\b,\b", sentence)
    return [rule for clause in clauses if (rule := fixed or _clause(clause, sentence.lower()))]


def _fixed(sentence: str) -> Rule | None:
    """The rule of a sentence that is known by heart."""
    lower = sentence.lower()
    if (
        "include headings at two levels: main and subheadings" in lower
        or "be structured with a main heading and subheadings" in lower
    ):
        return _all_levels({1, 2})
    if sentence == "Questions must be organized under a level 2 heading.":
        return Rule("headings with a question mark on level 2", _questions_on_level_2)
    if "include a single level 1 heading" in lower:
        return Rule("exactly 1 heading of level 1", lambda found: [level for level, _ in found].count(1) == 1)
    if (
        "be structured using a minimum of two heading levels" in lower
        or "include headings at two levels" in lower
    ):
        return _number_of_levels(Bounds(low=2))
    return _all_levels({2, 3}) if sentence == _POINTS_AND_SUBPOINTS else None


def _clause(clause: str, whole: str) -> Rule | None:
    """The first rule that fits a clause; the last kind looks at the whole sentence, in lower case."""
    if match := _first(_TWO_LEVELS, clause):
        return _all_levels({single(match[1], TO_TEN), single(match[2], TO_TEN)})
    listed = next(filter(None, (pattern.findall(clause) for pattern in _LISTED_LEVELS)), [])
    if listed and ("must include" in clause or "should" in clause):
        return _all_levels({single(word, TO_TEN) for word in listed})
    if "titled" in clause:
        clause = clause.strip().rstrip(".")
        if match := _first(_TITLED, clause):
            return _titled(single(match[1], TO_TEN), match[2])
    clause = clause.strip().lower().rstrip(".")
    if _VERB.search(clause):
        if match := _first(_ONE_LEVEL, clause):
            return _some(single(match[1], TO_TEN))
        if match := _first(_LEVEL_COUNT, clause):
            return _number_of_levels(_bounds(match[1], single(match[2], TO_TEN)))
    if match := _DEEPEST.search(clause):
        return _at_most_level(single(match[1], TO_TEN))
    if match := _FIRST.search(clause):
        return _starts_with(single(match[1], TO_TEN))
    if match := _USE.search(clause):
        return _some(single(match[1], TO_TEN))
    if any(phrase in whole for phrase in _SOME_HEADING):
        return Rule("at least 1 heading", lambda found: bool(found))
    return None


def _first(patterns: Iterable[re.Pattern[str]], clause: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.search(clause) for pattern in patterns)), None)


def _bounds(relation: str, count: int) -> Bounds:
    match relation:
        case "at least":
            return Bounds(low=count)
        case "exactly":
            return Bounds(count, count)
        case _:  # `under` includes the number, too
            return Bounds(high=count)


def _questions_on_level_2(found: Sequence[Heading]) -> bool:
    return bool(found) and all(level == 2 for level, words in found if "?" in words)


def _all_levels(levels: set[int]) -> Rule:
    names = " and ".join(str(level) for level in sorted(levels))
    return Rule(f"headings of level {names}", lambda found: levels <= {level for level, _ in found})


def _number_of_levels(bounds: Bounds) -> Rule:
    return Rule(bounds.of("heading level"), lambda found: bounds.admit(len({level for level, _ in found})))


def _titled(level: int, words: str) -> Rule:
    return Rule(f'a heading of level {level} that says "{words}"', lambda found: (level, words) in found)


def _some(wanted: int) -> Rule:
    return Rule(f"a heading of level {wanted}", lambda found: any(level == wanted for level, _ in found))


def _at_most_level(deepest: int) -> Rule:
    return Rule(
        f"headings down to level {deepest} at most",
        lambda found: bool(found) and all(level <= deepest for level, _ in found),
    )


def _starts_with(wanted: int) -> Rule:
    return Rule(f"a first heading of level {wanted}", lambda found: bool(found) and found[0].level == wanted)
