"""Answers that deserve nothing, made for a group: whatever rubric pays for one can be gamed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rubricate_clients.wire import Group
from rubricate_service.lint.demand import Bounds, Contains, Ends, OneOf, Starts
from rubricate_service.lint.demands import demands_of
from rubricate_service.normalise import RubricPlan, plan_group, prompt_text

MASTER_KEYS = (
    ".",
    ":",
    ",",
    "Thought process:",
    "Let's solve this problem step by step.",
    "Solution",
    "解",
    "かいせつ",
    "Respuesta",
)
"""Openers without an answer that judges are known to give credit for (arXiv 2507.08794)."""

_FILLER = " ".join(["this is an answer."] * 100)
_MOST_TIMES = 1000
_WORDS = ("first_word", "keyword", "keywords", "word", "phrase", "last_word")
"""Kwargs that are words of the response, where nobody says what their check demands."""


def probes_of(group: Group) -> dict[str, str]:
    """The probes of a group by name, in the order in which they are shown.

    `keywords` and its like are there only where checks ask for words.
    """
    prompt = prompt_text(group.prompt)
    probes = {"empty": "", "one character": "x", "repeated": _FILLER, "prompt echo": prompt}
    if stuffed := " ".join(_stuffing(group)):
        probes |= {"keywords": stuffed, "keywords and filler": f"{stuffed}\n\n{_FILLER}\n\n{stuffed}"}
    return probes | {f"master key {key!r}": key for key in MASTER_KEYS}


def _stuffing(group: Group) -> Iterator[str]:
    """The words that checks ask for: what comes first, all others, what comes last."""
    plan = plan_group(0, group.model_copy(update={"responses": [""]}), "keep")
    wanted = [_wanted(rubric) for rubric in plan.rubrics if not rubric.rubric.is_negative]
    for place in range(3):
        for words in wanted:
            yield from words[place]


def _wanted(rubric: RubricPlan) -> tuple[list[str], list[str], list[str]]:
    """The words that a check wants at the beginning, anywhere, and at the end."""
    first: list[str] = []
    inside: list[str] = []
    last: list[str] = []
    kwargs = rubric.rubric.kwargs or {}
    given = {text for value in kwargs.values() for text in _texts(value)}
    demands = None if rubric.check is None else demands_of(rubric.check)
    for demand in demands or ():
        match demand:
            case Starts():
                first.append(demand.phrase)
            case Contains():
                inside += [demand.phrase] * min(demand.times, _MOST_TIMES)
            case OneOf():
                inside.append(demand.phrases[0])
            case Ends():
                last.append(demand.phrase)
            case Bounds(measure, low) if measure.about in given and math.isfinite(low):
                inside += [measure.about] * min(math.ceil(low), _MOST_TIMES)
            case _:
                pass
    if demands is None:
        inside += [text for name in _WORDS for text in _texts(kwargs.get(name))]
    return first, inside, last


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
