"""Answers that deserve nothing, made for a group: whatever rubric pays for one can be gamed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rubricate_checkers import Check
from rubricate_clients.wire import Group
from rubricate_service.lint.demand import Bounds, Contains, Ends, LastWord, OneOf, Starts
from rubricate_service.lint.demands import demands_of
from rubricate_service.normalise import plan_group, prompt_text

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
    wanted = _Wanted()
    for rubric in plan.rubrics:
        if rubric.check is not None and not rubric.rubric.is_negative:
            _add(wanted, rubric.check, rubric.rubric.kwargs or {})
    yield from wanted.first
    # what stands at an end is there already
    there = Counter(wanted.first) + Counter(wanted.last)
    for word, times in wanted.inside.items():
        yield from [word] * (min(times, _MOST_TIMES) - there[word])
    yield from wanted.last


@dataclass(slots=True)
class _Wanted:
    """Words at the beginning, anywhere (with how often), and at the end."""

    first: list[str] = field(default_factory=list)
    inside: dict[str, int] = field(default_factory=dict)
    last: list[str] = field(default_factory=list)

    def within(self, word: str, times: int) -> None:
        """Want a word at least so often."""
        self.inside[word] = max(times, self.inside.get(word, 0))


def _add(wanted: _Wanted, check: Check, kwargs: dict[str, Any]) -> None:
    """Add what a check wants."""
    given = {text for value in kwargs.values() for text in _texts(value)}
    demands = demands_of(check)
    for demand in demands or ():
        match demand:
            case Starts(phrase):
                wanted.first.append(phrase)
            case Contains(phrase, times):
                wanted.within(phrase, times)
            case OneOf(phrases):
                wanted.within(phrases[0], 1)
            case Ends(phrase) | LastWord(phrase):
                wanted.last.append(phrase)
            case Bounds(measure, low) if measure.about in given and math.isfinite(low):
                wanted.within(measure.about, math.ceil(low))
            case _:
                pass
    if demands is None:
        for text in (text for name in _WORDS for text in _texts(kwargs.get(name))):
            wanted.within(text, 1)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
