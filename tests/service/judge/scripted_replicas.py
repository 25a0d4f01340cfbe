"""Judges over several scripted engines, and many questions to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import SupportsIndex

from scripted_engine import QUESTION, ScriptedEngine, Step, ask

from rubricate_service.cache import Cache
from rubricate_service.judge import (
    Judge,
    JudgeFailure,
    Question,
    ServedModel,
    Usage,
)
from rubricate_service.judge.members import Fixed
from rubricate_service.judge.replicas import Replicas

DOWN = JudgeFailure("unreachable", "down")


class Forever(list[Step]):
    """A script that plays its only step again and again."""

    def pop(self, index: SupportsIndex = -1) -> Step:
        return self[0]


def always(step: Step, latency_s: float = 0.0) -> ScriptedEngine:
    return ScriptedEngine(Forever([step]), latency_s=latency_s)


def questions(responses: int, criteria: int = 4) -> list[Question]:
    return [
        replace(QUESTION, response=f"Response {r}.", criterion=f"Criterion {c}.")
        for r in range(responses)
        for c in range(criteria)
    ]


def judge_over(*engines: ServedModel, most: int = 64) -> Judge:
    named = {str(n): engine for n, engine in enumerate(engines)}
    return Judge(Replicas(Fixed(named), most), Cache(None), secret=b"test")


async def ask_all(judge: Judge, asked: Iterable[Question], usage: Usage | None = None) -> list[str]:
    """The kind of failure of each question, or ``ok``."""
    shared = usage or Usage()

    async def one(question: Question) -> str:
        try:
            await ask(judge, question, usage=shared)
        except JudgeFailure as failure:
            return failure.kind
        return "ok"

    return await asyncio.gather(*map(one, asked))


async def states(judge: Judge) -> dict[str, str]:
    return {r["replica"]: r["state"] for r in (await judge.status())["replicas"]}


def responses_of(engine: ScriptedEngine) -> set[str]:
    return {line for call in engine.calls for line in call[1]["content"].splitlines() if "Response " in line}
