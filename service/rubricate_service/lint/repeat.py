"""W07 for criteria: the judge asked several times about the same response."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from rubricate_service.judge.judge import Judge
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.usage import Usage
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup, BuiltRubric

_IN_FLIGHT = 32
_PATIENCE_S = 120.0


async def judge_flips(
    judge: Judge, groups: Sequence[BuiltGroup], runs: int
) -> tuple[list[Finding], Counter[str]]:
    """Ask the judge `runs` times about every criterion of every sample, without its cache.

    Returns:
        A finding for each criterion of whose samples some got different labels, and how many questions
        got no answer, by the kind of failure; these say nothing about a criterion.
    """
    places = [
        (group, rubric, criterion, text)
        for group in groups
        for rubric, criterion in group.criteria
        for text in group.responses
    ]
    questions = [Question(g.turns, text, criterion, g.reference) for g, _, criterion, text in places]
    failures: Counter[str] = Counter()
    slots = asyncio.Semaphore(_IN_FLIGHT)

    async def label(question: Question, usage: Usage) -> float | None:
        async with slots:
            deadline = asyncio.get_running_loop().time() + _PATIENCE_S
            try:
                return (await judge.ask(question, cache="off", deadline=deadline, usage=usage)).label
            except JudgeFailure as failure:
                failures[failure.kind] += 1
                return None

    rounds = []
    for _ in range(runs):  # questions of one request share a call, so that each round is one of its own
        usage = judge.usage()
        rounds.append(await asyncio.gather(*(label(question, usage) for question in questions)))
    flipped: Counter[BuiltRubric] = Counter()
    for (_, rubric, _, _), labels in zip(places, zip(*rounds, strict=True), strict=True):
        flipped[rubric] += len(set(labels) - {None}) > 1
    samples = {rubric: len(group.responses) for group, rubric, _, _ in places}
    return [
        RULES["W07"].at(
            f"{rubric.path}.criterion",
            f"asked {runs} times, the judge gave other labels to {count} of {samples[rubric]} samples",
        )
        for rubric, count in flipped.items()
        if count
    ], failures
