"""One configured judge: an engine, a prompt template, a cache, and one call for identical questions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

from rubricate_service.cache import Cache
from rubricate_service.judge.engine import Engine, Identity
from rubricate_service.judge.flight import Flight, Grounded, SingleFlight
from rubricate_service.judge.key import cache_key
from rubricate_service.judge.passport import Passport
from rubricate_service.judge.patience import Patience
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import Answer, JudgeFailure, Reading, read
from rubricate_service.judge.template import Template, default_template
from rubricate_service.judge.usage import Usage

log = logging.getLogger("rubricate.judge")

CacheMode = Literal["use", "refresh", "off"]
T = TypeVar("T")

_Outcome = tuple[Reading, bool] | JudgeFailure
"""A reading and whether it was cached, or why there is none; a failure is shared like an answer."""

_START_S = 5.0
_STATUS_S = 1.0


class Judge:
    """Answers questions, and asks its engine once for what is asked many times.

    Args:
        engine: The model behind it; the judge closes it.
        cache: Where verdicts are kept; the judge closes it.
        secret: Key of the prompt's delimiters. A new one costs the engine's prefix cache, no verdicts.
        name: What the server's settings call this judge.
        concurrency: Questions that may be with the engine at once.
        template: The prompt, or None for the service's own.
    """

    def __init__(
        self,
        engine: Engine,
        cache: Cache,
        *,
        secret: bytes,
        name: str = "default",
        concurrency: int = 64,
        template: Template | None = None,
    ):
        self.name = name
        self.cache = cache
        self._engine = engine
        self._secret = secret
        self._template = template or default_template()
        self._passport: Passport | None = None
        self._issuing = asyncio.Lock()
        self._slots = asyncio.Semaphore(concurrency)
        self._flights: SingleFlight[_Outcome] = SingleFlight()
        self._is_shut_out = False

    async def start(self) -> None:
        """Ask the engine who it is, for at most 5 s; one that is down is asked again when it is needed."""
        try:
            async with asyncio.timeout(_START_S):
                await self._identified(_now() + _START_S)
        except TimeoutError:
            log.warning("judge %r did not say within %.0f s who it is", self.name, _START_S)
        except JudgeFailure as failure:
            log.warning("judge %r does not say yet who it is: %s", self.name, failure)
            self._report(failure)

    async def ask(
        self, question: Question, *, cache: CacheMode = "use", deadline: float, usage: Usage
    ) -> Answer:
        """The verdict on one question.

        Identical questions in flight share one call; with ``cache="off"`` those of one request do.

        Args:
            question: What to ask.
            cache: ``use`` reads and writes the cache, ``refresh`` only writes it, ``off`` neither.
            deadline: When to give up, by the event loop's clock (``loop.time()``, seconds).
            usage: The request's counters, to which the cost of this question is added.

        Raises:
            JudgeFailure: There is no verdict; its kind says why.
        """
        request = id(usage) if cache == "off" else None
        flight, joined = self._flights.board(
            (question, cache, request), lambda flight: self._settle(question, cache, usage, flight), deadline
        )
        try:
            outcome = await flight.wait(deadline)
        except TimeoutError:
            raise _late(flight.trouble) from None
        except Grounded:
            raise JudgeFailure("canceled", "the service is stopping") from None
        if isinstance(outcome, JudgeFailure):
            # a new one for each, as an exception carries the frames of those who raise it
            raise JudgeFailure(outcome.kind, outcome.message)
        reading, cached = outcome
        joined = joined and not cached
        usage.cached += cached
        usage.joined += joined
        return Answer(reading.label, reading.expected, reading.label_mass, cached, joined)

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The prompt of a question as the engine gets it: ``role`` and ``content`` of each message."""
        return self._template.messages(question, self._secret)

    def provenance(self) -> dict[str, Any]:
        """Who judges and how; ``model`` and ``fingerprint`` are None until the engine has said who it is."""
        identity = self._passport.current if self._passport else None
        return {
            "name": self.name,
            "model": identity and identity.model,
            "fingerprint": identity and identity.fingerprint,
            "template": self._template.digest,
            "mode": "per_rubric",
        }

    async def status(self) -> dict[str, Any]:
        """For readiness, within 1 s: ``status`` is ``ok`` or ``failing``, the latter with a ``reason``."""
        try:
            async with asyncio.timeout(_STATUS_S):
                identity = await self._engine.identify(_now() + _STATUS_S)
        except (JudgeFailure, TimeoutError) as failure:
            return {"status": "failing", "reason": str(failure) or "timeout: no answer within 1 s"}
        first = self._passport.first if self._passport else identity
        if identity != first:
            reason = f"identity: the judge was {first.model!r} and is {identity.model!r} or set up otherwise"
            return {"status": "failing", "reason": f"{reason}; restart the service to take it as it is"}
        return {"status": "ok", "model": identity.model}

    async def close(self) -> None:
        """Cancel what is in flight; close the engine and the cache."""
        await self._flights.close()
        await self._engine.close()
        await self.cache.close()

    async def _settle(
        self, question: Question, mode: CacheMode, usage: Usage, flight: Flight[_Outcome]
    ) -> _Outcome:
        """What all who wait for this question are told."""
        try:
            passport = await self._persist(flight, lambda: self._identified(flight.deadline))
            if mode != "use":
                return await self._ask_engine(passport, question, mode, usage, flight), False
            # half of the time is kept for asking oneself when another replica does not get there
            until = (_now() + flight.deadline) / 2
            while True:
                async with self.cache.turn(self._key(passport.current, question), until) as known:
                    if known is not None:
                        return Reading.from_bytes(known), True
                    if not await passport.recall():
                        return await self._ask_engine(passport, question, mode, usage, flight), False
                # another replica has learned meanwhile who the judge is, and keeps its verdicts under that
        except JudgeFailure as failure:
            return failure

    async def _ask_engine(
        self, passport: Passport, question: Question, mode: CacheMode, usage: Usage, flight: Flight[_Outcome]
    ) -> Reading:
        """What the engine says, kept unless the cache is off."""
        if self._slots.locked():
            flight.trouble = JudgeFailure("timeout", "others were ahead of this question at the judge")
        messages = self.messages(question)
        async with self._slots:  # kept through pauses, so that an overloaded engine is not asked by more
            flight.trouble = None
            reading, answered = await self._persist(
                flight, lambda: self._attempt(passport, messages, flight.deadline, usage)
            )
        if mode != "off":
            self.cache.put_many({self._key(answered, question): reading.to_bytes()})
        return reading

    async def _identified(self, deadline: float) -> Passport:
        if self._passport is not None:
            return self._passport
        async with self._issuing:
            if self._passport is None:
                self._passport = await Passport.issue(self._engine, self.cache, deadline)
            return self._passport

    def _key(self, identity: Identity, question: Question) -> bytes:
        return cache_key(identity, self._template.digest, question)

    async def _attempt(
        self, passport: Passport, messages: list[dict[str, str]], deadline: float, usage: Usage
    ) -> tuple[Reading, Identity]:
        """One call, read; and who answered, which may have changed with this very answer."""
        usage.calls += 1
        completion = await self._engine.complete(messages, deadline)
        self._is_shut_out = False
        usage.prompt_tokens += completion.prompt_tokens
        usage.cached_prompt_tokens += completion.cached_prompt_tokens
        usage.completion_tokens += completion.completion_tokens
        identity = passport.confirm(completion)
        return read(completion), identity

    async def _persist(self, flight: Flight[_Outcome], attempt: Callable[[], Awaitable[T]]) -> T:
        """Result of ``attempt``, made again after failures while patience and time last."""
        patience = Patience()
        while True:
            deadline = flight.deadline
            try:
                return await attempt()
            except JudgeFailure as failure:
                self._report(failure)
                if failure.kind == "timeout" and flight.deadline > deadline:
                    continue  # one with more time has joined meanwhile
                pause = patience.pause(failure)
                if pause is None or _now() + pause >= flight.deadline:
                    raise
                flight.trouble = failure
                await asyncio.sleep(pause)

    def _report(self, failure: JudgeFailure) -> None:
        """Say loudly, once, what no retry mends and every question will meet."""
        if failure.kind == "unauthorized" and not self._is_shut_out:
            self._is_shut_out = True
            log.error("judge %r gives no verdicts: %s", self.name, failure.message)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _late(trouble: Exception | None) -> JudgeFailure:
    """What a caller hears whose time ran out, given what the work last stumbled over."""
    if not isinstance(trouble, JudgeFailure):
        return JudgeFailure("timeout", "no verdict before the deadline")
    kind: Literal["overloaded", "timeout"] = "overloaded" if trouble.kind == "overloaded" else "timeout"
    return JudgeFailure(kind, f"no verdict before the deadline: {trouble.message}")
