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

_START_S = 5.0
_STATUS_S = 1.0


class Judge:
    """Answers questions, each exactly once while it is asked many times.

    Args:
        engine: The model behind it; the judge closes it.
        cache: Where verdicts are kept; shared with others, so whoever made it closes it.
        secret: Key of the prompt's delimiters; the same over restarts, or the engine's prefix cache is lost.
        name: What the server's settings call this judge.
        concurrency: Questions that may be with the engine at once.
        template: The prompt, or None for the one that comes with the service.
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
        self._engine = engine
        self._cache = cache
        self._secret = secret
        self._template = template or default_template()
        self._passport = Passport(engine, cache)
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._flights: SingleFlight[tuple[Reading, bool] | JudgeFailure] = SingleFlight()
        self._is_shut_out = False

    async def start(self) -> None:
        """Ask the engine who it is, for at most 5 s. An engine that is down is asked again when needed."""
        try:
            async with asyncio.timeout(_START_S):
                await self._passport.learn(asyncio.get_running_loop().time() + _START_S)
        except (JudgeFailure, TimeoutError) as failure:
            log.warning(
                "judge %r does not say yet who it is: %s", self.name, str(failure) or "no answer in 5 s"
            )

    async def ask(
        self, question: Question, *, cache: CacheMode = "use", deadline: float, usage: Usage
    ) -> Answer:
        """The verdict on one question.

        Identical questions in flight share one call; with ``cache="off"`` those of one request do.

        Args:
            question: What to ask.
            cache: ``use`` reads and writes the cache, ``refresh`` only writes it, ``off`` neither.
            deadline: When to give up, by the event loop's clock (``loop.time()``, seconds).
            usage: The request's counters; what this question costs is added to them.

        Raises:
            JudgeFailure: There is no verdict; its kind says why.
        """
        # one Usage belongs to one request, so it tells requests apart
        scope = id(usage) if cache == "off" else None
        flight, joined = self._flights.board(
            (question, cache, scope), lambda flight: self._settle(question, cache, usage, flight), deadline
        )
        try:
            outcome = await flight.wait(deadline)
        except TimeoutError:
            raise _late(flight.trouble) from None
        except Grounded:
            raise JudgeFailure("canceled", "the service is stopping") from None
        if isinstance(outcome, JudgeFailure):
            raise JudgeFailure(
                outcome.kind, outcome.message
            )  # one each: an exception carries its raiser's frames
        reading, cached = outcome
        usage.cached += cached
        usage.joined += joined and not cached
        return Answer(reading.label, reading.expected, reading.label_mass, cached, joined and not cached)

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The prompt of a question exactly as the engine gets it, ``role`` and ``content`` of each message."""
        return self._template.messages(question, self._secret)

    def provenance(self) -> dict[str, Any]:
        """Who judges and how; ``model`` and ``fingerprint`` are None until the engine has said who it is."""
        identity = self._passport.current
        return {
            "name": self.name,
            "model": identity and identity.model,
            "fingerprint": identity and identity.fingerprint,
            "template": self._template.digest,
            "mode": "per_rubric",
        }

    async def status(self) -> dict[str, Any]:
        """For readiness, in at most 1 s: ``status`` is ``ok`` or ``failing``, then with a ``reason``."""
        try:
            async with asyncio.timeout(_STATUS_S):
                identity = await self._engine.identify(asyncio.get_running_loop().time() + _STATUS_S)
        except (JudgeFailure, TimeoutError) as failure:
            return {"status": "failing", "reason": str(failure) or "timeout: no answer within 1 s"}
        first = self._passport.first
        if first is not None and identity != first:
            reason = (
                f"identity: the judge was {first.model!r} and is {identity.model!r} now, or was set up anew; "
            )
            return {"status": "failing", "reason": f"{reason}restart the service to take it"}
        return {"status": "ok", "model": identity.model}

    async def close(self) -> None:
        """Cancel what is in flight and close the engine."""
        await self._flights.close()
        await self._engine.close()

    async def _settle(
        self,
        question: Question,
        mode: CacheMode,
        usage: Usage,
        flight: Flight[tuple[Reading, bool] | JudgeFailure],
    ) -> tuple[Reading, bool] | JudgeFailure:
        """The reading and whether it was cached, or why there is none."""
        try:
            identity = await self._persist(flight, lambda: self._passport.learn(flight.deadline))
            if mode == "use" and (reading := await self._recall(identity, question)) is not None:
                return reading, True
            if self._slots.locked():
                flight.trouble = JudgeFailure(
                    "timeout", f"{self._concurrency} others were ahead at the judge"
                )
            messages = self.messages(question)
            async with self._slots:  # kept while pausing, so that an overloaded engine is not asked by more
                flight.trouble = None
                reading, identity = await self._persist(
                    flight, lambda: self._attempt(messages, flight.deadline, usage)
                )
        except JudgeFailure as failure:
            return failure
        if mode != "off":
            key = cache_key(identity, self._template.digest, question)
            self._cache.put_many({key: reading.to_bytes()})
        return reading, False

    async def _recall(self, identity: Identity, question: Question) -> Reading | None:
        key = cache_key(identity, self._template.digest, question)
        found = await self._cache.get_many([key])
        return Reading.from_bytes(found[key]) if key in found else None

    async def _attempt(
        self, messages: list[dict[str, str]], deadline: float, usage: Usage
    ) -> tuple[Reading, Identity]:
        usage.calls += 1
        completion = await self._engine.complete(messages, deadline)
        usage.prompt_tokens += completion.prompt_tokens
        usage.cached_prompt_tokens += completion.cached_prompt_tokens
        usage.completion_tokens += completion.completion_tokens
        identity = self._passport.confirm(completion)
        return read(completion), identity

    async def _persist(self, flight: Flight[Any], attempt: Callable[[], Awaitable[T]]) -> T:
        """Result of ``attempt``, made again after failures for as long as patience and time allow."""
        clock = asyncio.get_running_loop().time
        patience = Patience()
        while True:
            try:
                result = await attempt()
            except JudgeFailure as failure:
                self._report(failure)
                if failure.kind == "timeout" and flight.deadline > clock():
                    continue  # one with more time has joined
                pause = patience.pause(failure)
                if pause is None or clock() + pause >= flight.deadline:
                    raise
                flight.trouble = failure
                await asyncio.sleep(pause)
            else:
                self._is_shut_out = False
                return result

    def _report(self, failure: JudgeFailure) -> None:
        if failure.kind == "unauthorized" and not self._is_shut_out:
            self._is_shut_out = True
            log.error("judge %r gives no verdicts: %s", self.name, failure.message)


def _late(trouble: Exception | None) -> JudgeFailure:
    """What a caller is told whose time ran out, given what the work last stumbled over."""
    if not isinstance(trouble, JudgeFailure):
        return JudgeFailure("timeout", "no verdict before the deadline")
    kind = "overloaded" if trouble.kind == "overloaded" else "timeout"
    return JudgeFailure(kind, f"no verdict before the deadline: {trouble.message}")
