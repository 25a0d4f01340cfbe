"""An engine in the process that answers as it is told, and helpers to ask a judge in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rubricate_service.cache import Cache, Store
from rubricate_service.judge import (
    Answer,
    Completion,
    Identity,
    Judge,
    JudgeFailure,
    Manner,
    Question,
    ServedModel,
    Usage,
)
from rubricate_service.judge.judge import CacheMode
from rubricate_service.judge.members import Fixed
from rubricate_service.judge.replicas import Replicas
from rubricate_service.judge.served import PLAINLY

T = TypeVar("T")

Step = Completion | JudgeFailure | Callable[[float], Awaitable[Completion]]

IDENTITY = Identity("model", "sha256:1")
QUESTION = Question((("user", "Describe a lighthouse."),), "It is tall.", "Says how tall it is.", None)


def run(test: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine, and fail instead of hanging."""
    return asyncio.run(asyncio.wait_for(test, 20))


@dataclass
class ScriptedEngine:
    """Plays the steps of ``script``, then says ``2``; a step may be a function of the deadline."""

    script: list[Step] = field(default_factory=list)
    identity: Identity | JudgeFailure = IDENTITY
    latency_s: float = 0.0
    calls: list[Sequence[Mapping[str, str]]] = field(default_factory=list)
    manners: list[Manner] = field(default_factory=list)
    cancelled: int = 0
    in_flight: int = 0
    most_in_flight: int = 0

    async def identify(self, deadline: float) -> Identity:
        if isinstance(self.identity, JudgeFailure):
            raise self.identity
        return self.identity

    async def complete(
        self, messages: Sequence[Mapping[str, str]], deadline: float, manner: Manner = PLAINLY
    ) -> Completion:
        self.calls.append(messages)
        self.manners.append(manner)
        self.in_flight += 1
        self.most_in_flight = max(self.in_flight, self.most_in_flight)
        try:
            await asyncio.sleep(self.latency_s)
            step = self.script.pop(0) if self.script else Completion("2", model="model")
            if isinstance(step, JudgeFailure):
                raise step
            return step if isinstance(step, Completion) else await step(deadline)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        pass


def judge_of(
    engine: ServedModel, store: Store | None = None, concurrency: int = 64, *, is_shared: bool = False
) -> Judge:
    replicas = Replicas(Fixed({"one": engine}), concurrency)
    return Judge(replicas, Cache(store), secret=b"test", is_shared=is_shared)


async def ask(
    judge: Judge,
    question: Question = QUESTION,
    *,
    cache: CacheMode = "use",
    seconds: float = 5.0,
    usage: Usage | None = None,
    tenant: str = "",
) -> Answer:
    """Ask with a deadline so many seconds from now."""
    deadline = asyncio.get_running_loop().time() + seconds
    return await judge.ask(question, cache=cache, deadline=deadline, usage=usage or Usage(), tenant=tenant)


async def failure_of(asked: Awaitable[Answer]) -> JudgeFailure:
    """The failure that asking ends with."""
    try:
        answer = await asked
    except JudgeFailure as failure:
        return failure
    raise AssertionError(f"{answer} is no failure")
