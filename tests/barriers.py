"""A barrier with a scripted scorer, and scripts that are played against it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from rubricate_clients.wire import Options, Rubric
from rubricate_service.compat.barrier import Barrier
from rubricate_service.compat.place import Place
from rubricate_service.compat.result import Result, Undecided
from rubricate_service.compat.room import Room
from rubricate_service.compat.task import Task
from rubricate_service.compat.waits import Member

LONG = 30.0
"""Seconds that no test waits out."""

MakePlace = Callable[[float], Place]
Script = Callable[[Barrier, "Scorer"], Awaitable[None]]


class Scorer:
    """Scores a response with its length, and says who was there.

    Attributes:
        rounds: The responses of each group that it was asked to score.
        gate: What scoring waits for.
        undecided: Responses that it cannot decide.
    """

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.undecided: set[str] = set()
        self.cancelled = 0

    async def __call__(self, task: Task, texts: Sequence[str]) -> list[Result]:
        self.rounds.append(sorted(texts))
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        fault = [Undecided(path="rubrics[0]", message="timeout: too late")]
        return [
            Result(
                a_out=float(len(text)),
                members=len(texts),
                missing=task.size - len(texts),
                undecided=fault if text in self.undecided else [],
            )
            for text in texts
        ]


def task_of(size: int = 3, **fields: Any) -> Task:
    rubric = Rubric(check="punctuation:no_comma")
    given = {"prompt": "Say it.", "reference": None, "rubrics": [rubric], "options": Options()}
    return Task(**{**given, "tenant": "", "run": "", "group": "", "size": size, **fields})


def ask(barrier: Barrier, text: str, size: int = 3, **fields: Any) -> asyncio.Task[Result]:
    return asyncio.create_task(barrier.result(Member(task_of(size, **fields), text)))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


def play(
    place: MakePlace | None,
    script: Script,
    *,
    timeout_s: float = LONG,
    most: int = 100,
    most_bytes: int = 1 << 20,
) -> Scorer:
    """Run a script against a barrier, and see that it leaves nothing behind."""

    async def played() -> Scorer:
        scorer = Scorer()
        at = place(timeout_s) if place is not None else None
        barrier = Barrier(scorer, at, Room(most, most_bytes), timeout_s=timeout_s, settle_s=LONG)
        await barrier.open()
        try:
            await script(barrier, scorer)
            assert (barrier.waiting_members, barrier.open_groups) == (0, 0)
        finally:
            await barrier.close()
        return scorer

    return asyncio.run(played())
