"""E08 and E10: fixed answers, and parts between separators that contain one another."""

from __future__ import annotations

from collections.abc import Iterator

from rubricate_service.lint.admits import admits
from rubricate_service.lint.demand import (
    Bounds,
    Case,
    Contains,
    Demand,
    Divided,
    Document,
    Exact,
    Excludes,
    InLanguage,
    OneOf,
    ParagraphStart,
    Starts,
)
from rubricate_service.lint.demand import Ends as Ending
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup
from rubricate_service.lint.rules.common import low_of, pairs, quoted

_MINDS_CASE = frozenset({"capitals", "cased_letter", "sentences"})


def fixed_answers(group: BuiltGroup) -> Iterator[Finding]:
    """E08: the whole answer is given, and a rubric fails it."""
    rule = RULES["E08"]
    for rubric, exact in group.demands(Exact):
        for other in group.demanding:
            if other is rubric:
                continue
            for demand in other.demands or ():
                if isinstance(demand, Exact | InLanguage) or (_minds_case(demand) and exact.folded):
                    continue
                for text in exact.texts:
                    group.work.read(text)
                if not any(admits(demand, text) for text in exact.texts):
                    answer = quoted(exact.texts[0])
                    message = f"{rubric.path} wants {answer} and nothing else, which fails this rubric"
                    yield rule.at(other.path, message)
                    break
    for rubric, choice in group.demands(OneOf):
        if not choice.answers:
            continue
        for other, bounds in group.demands(Bounds):
            if other is rubric or bounds.measure.kind not in ("words", "sentences", "paragraphs"):
                continue
            if bounds.low > 0 and not any(admits(bounds, phrase) for phrase in choice.phrases):
                yield rule.at(
                    other.path,
                    f"{low_of(bounds)}, while {rubric.path} asks for a choice such as "
                    f"{quoted(choice.phrases[0])}",
                    way_out="a response with more around the choice",
                    hint="Say in the prompt that more than the choice is wanted, or drop this rubric.",
                )


def _minds_case(demand: Demand) -> bool:
    if isinstance(demand, Bounds):
        return demand.measure.kind in _MINDS_CASE
    if isinstance(demand, Contains | Excludes | Starts | Ending | ParagraphStart):
        return demand.cased
    return isinstance(demand, Case | Document | OneOf)


def one_kind_nothing_in_common(group: BuiltGroup) -> Iterator[Finding]:
    """E10: two fixed answers, two first words of one paragraph, separators within separators."""
    rule = RULES["E10"]
    for (first, one), (second, other) in pairs(group, Exact):
        folded = one.folded or other.folded
        texts = [{t.lower() if folded else t for t in demand.texts} for demand in (one, other)]
        if not texts[0] & texts[1]:
            message = f"{quoted(other.texts[0])} and nothing else, while {first.path} wants"
            yield rule.at(second.path, f"{message} {quoted(one.texts[0])} and nothing else")
    for (first, start), (second, another) in pairs(group, ParagraphStart):
        cased = start.cased or another.cased  # a word that may be the beginning of a longer one
        if start.number == another.number and not cased and start.word != another.word:
            message = f"paragraph {another.number} starts with {quoted(another.word)}, while"
            yield rule.at(second.path, f"{message} {first.path} asks for {quoted(start.word)}")
    for (first, division), (second, finer) in pairs(group, Divided):
        separators = sorted((division.separator, finer.separator), key=len)
        parts = max(division, finer, key=lambda demand: len(demand.separator)).parts
        if separators == ["***", "******"] and parts > 1:
            message = "parts between ****** have an empty part between *** in them, which fails"
            yield rule.at(
                max((first, second), key=lambda rubric: rubric.path).path,
                f"{message} {min(first.path, second.path)} or this one",
            )
