"""One configured judge: its replicas, a prompt template, a cache, and one call for identical questions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Literal, TypeVar

from rubricate_service.cache import Cache
from rubricate_service.judge.budget import RetryBudget
from rubricate_service.judge.engine import Completion, Identity
from rubricate_service.judge.errand import Errand, late
from rubricate_service.judge.flight import Flight, Grounded, SingleFlight
from rubricate_service.judge.key import cache_key
from rubricate_service.judge.one_call import OneCall
from rubricate_service.judge.passport import Passport
from rubricate_service.judge.patience import Patience
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import Answer, JudgeFailure, Reading, read
from rubricate_service.judge.replicas import Replicas
from rubricate_service.judge.template import Template, default_template
from rubricate_service.judge.usage import Usage
from rubricate_service.settings import Mode, Prices

log = logging.getLogger("rubricate.judge")

CacheMode = Literal["use", "refresh", "off"]
T = TypeVar("T")

_Outcome = tuple[Reading, bool] | JudgeFailure
"""A reading and whether it was cached, or why there is none; a failure is shared like an answer."""

_START_S = 5.0
_STATUS_S = 1.0


class Judge:
    """Answers questions, and asks its replicas once for what is asked many times.

    Args:
        replicas: The model behind it; the judge closes them.
        cache: Where verdicts are kept; the judge closes it.
        secret: Key of the prompt's delimiters. A new one costs the engine's prefix cache, no verdicts.
        name: What the server's settings call this judge.
        template: The prompt, or None for the service's own.
        mode: ``per_rubric`` asks one question a call; ``one_call`` all that a request has about a response.
        prices: What its tokens cost, or None where that is not known.
    """

    def __init__(
        self,
        replicas: Replicas,
        cache: Cache,
        *,
        secret: bytes,
        name: str = "default",
        template: Template | None = None,
        mode: Mode = "per_rubric",
        prices: Prices | None = None,
    ):
        self.name = name
        self.cache = cache
        self._replicas = replicas
        self._budget = RetryBudget()
        self._secret = secret
        self._template = template or default_template()
        self._one_call = OneCall(secret) if mode == "one_call" else None
        self._template_digest = self._template.digest
        if self._one_call:  # what its answer leaves out is asked alone
            self._template_digest = self._one_call.template.digest + self._template.digest
        self._prices = prices
        self._passport: Passport | None = None
        self._issuing = asyncio.Lock()
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
        self,
        question: Question,
        *,
        cache: CacheMode = "use",
        deadline: float,
        usage: Usage,
        tenant: str | None = None,
    ) -> Answer:
        """The verdict on one question.

        Identical questions in flight share one call; with ``cache="off"`` those of one request do.

        Args:
            question: What to ask.
            cache: ``use`` reads and writes the cache, ``refresh`` only writes it, ``off`` neither.
            deadline: When to give up, by the event loop's clock (``loop.time()``, seconds).
            usage: The request's counters, to which the cost of this question is added. Requests, which they
                stand for, take turns at the replicas.
            tenant: Whose request it is; tenants take turns, too.

        Raises:
            JudgeFailure: There is no verdict; its kind says why.
        """
        request = id(usage) if cache == "off" else None
        flight, joined = self._flights.board(
            (question, cache, request),
            lambda flight: self._settle(question, cache, Errand.of(question, usage, tenant), flight),
            deadline,
        )
        try:
            outcome = await flight.wait(deadline)
        except TimeoutError:
            raise late(flight.errand) from None
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

    def usage(self) -> Usage:
        """Counters for one request, at zero."""
        return Usage(cost=None if self._prices is None else 0.0)

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The prompt of a question as the engine gets it: ``role`` and ``content`` of each message.

        In mode ``one_call`` it is that of the question by itself; others may have gone with it.
        """
        if self._one_call:
            return self._one_call.messages({"c1": question})
        form = self._passport.current.form if self._passport else "plain"
        return self._template.messages(question, self._secret, begun=form == "prefilled")

    def provenance(self) -> dict[str, Any]:
        """Who judges and how; ``model`` and ``fingerprint`` are None until the engine has said who it is."""
        identity = self._passport.current if self._passport else None
        return {
            "name": self.name,
            "model": identity and identity.model,
            "fingerprint": identity and identity.fingerprint,
            "template": (self._one_call.template if self._one_call else self._template).digest,
            "mode": "one_call" if self._one_call else "per_rubric",
            **_form(identity),
        }

    async def status(self) -> dict[str, Any]:
        """For readiness, within 1 s: ``status`` is ``ok`` or ``failing``, the latter with a ``reason``.

        Where one replica answers it is ``ok``; ``replicas`` has each of them.
        """
        return {**await self._health(), "replicas": self._replicas.report()}

    async def _health(self) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_STATUS_S):
                identity = await self._replicas.identify(_now() + _STATUS_S)
        except (JudgeFailure, TimeoutError) as failure:
            return {"status": "failing", "reason": str(failure) or "timeout: no answer within 1 s"}
        first = self._passport.first if self._passport else identity
        if identity != first:
            reason = f"identity: the judge was {first.model!r} and is {identity.model!r} or set up otherwise"
            return {"status": "failing", "reason": f"{reason}; restart the service to take it as it is"}
        return {"status": "ok", "model": identity.model, **_form(identity)}

    async def close(self) -> None:
        """Cancel what is in flight; close the replicas and the cache."""
        await self._flights.close()
        await self._replicas.close()
        await self.cache.close()

    async def _settle(
        self, question: Question, mode: CacheMode, errand: Errand, flight: Flight[_Outcome]
    ) -> _Outcome:
        """What all who wait for this question are told."""
        flight.errand = errand
        try:
            passport = await self._persist(flight, errand, lambda: self._identified(flight.deadline))
            if mode != "use":
                return await self._ask_replicas(passport, question, mode, errand, flight), False
            # half of the time is kept for asking oneself when another replica does not get there
            until = (_now() + flight.deadline) / 2
            while True:
                asked = passport.current
                async with self.cache.turn(self._key(asked, question), until) as known:
                    if known is not None:
                        return Reading.from_bytes(known), True
                    await passport.recall()
                    if passport.current == asked:
                        return await self._ask_replicas(passport, question, mode, errand, flight), False
                # it became known meanwhile who the judge is, and the verdict may lie under that
        except JudgeFailure as failure:
            return failure

    async def _ask_replicas(
        self,
        passport: Passport,
        question: Question,
        mode: CacheMode,
        errand: Errand,
        flight: Flight[_Outcome],
    ) -> Reading:
        """What the model says, kept unless the cache is off."""
        put = partial(self._put, passport)
        told = await self._one_call.ask(question, errand, flight, put) if self._one_call else None
        if told is None:
            begun = passport.current.form == "prefilled"
            messages = self._template.messages(question, self._secret, begun=begun)
            told = await put(messages, read, errand, flight)
        reading, answered = told
        if mode != "off":
            self.cache.put_many({self._key(answered, question): reading.to_bytes()})
        return reading

    async def _put(
        self,
        passport: Passport,
        messages: list[dict[str, str]],
        reader: Callable[[Completion], T],
        errand: Errand,
        flight: Flight[Any],
    ) -> tuple[T, Identity]:
        """What the model says to a prompt, read; and who answered."""
        self._budget.deposit()
        return await self._persist(
            flight, errand, lambda: self._attempt(passport, messages, reader, errand, flight.deadline)
        )

    async def _identified(self, deadline: float) -> Passport:
        if self._passport is not None:
            return self._passport
        async with self._issuing:
            if self._passport is None:
                self._passport = await Passport.issue(self._replicas, self.cache, deadline)
            return self._passport

    def _key(self, identity: Identity, question: Question) -> bytes:
        return cache_key(identity, self._template_digest, question)

    async def _attempt(
        self,
        passport: Passport,
        messages: list[dict[str, str]],
        reader: Callable[[Completion], T],
        errand: Errand,
        deadline: float,
    ) -> tuple[T, Identity]:
        """One call, read; and who answered, which may have changed with this very answer."""
        completion = await self._replicas.complete(messages, deadline, errand)
        self._is_shut_out = False
        errand.usage.add(completion, self._prices)
        identity = passport.confirm(completion)
        return reader(completion), identity

    async def _persist(self, flight: Flight[Any], errand: Errand, attempt: Callable[[], Awaitable[T]]) -> T:
        """Result of ``attempt``, made again after failures while patience and time last."""
        patience = Patience(self._budget)
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
                errand.trouble = failure
                await asyncio.sleep(pause)

    def _report(self, failure: JudgeFailure) -> None:
        """Say loudly, once, what no retry mends and every question will meet."""
        if failure.kind == "unauthorized" and not self._is_shut_out:
            self._is_shut_out = True
            log.error("judge %r gives no verdicts: %s", self.name, failure.message)


def _form(identity: Identity | None) -> dict[str, str]:
    """The form of its questions, where it is not the plain one."""
    return {} if identity is None or identity.form == "plain" else {"form": identity.form}


def _now() -> float:
    return asyncio.get_running_loop().time()
