"""One configured judge: its replicas, a prompt template, a cache, and one call for identical questions."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Coroutine
from functools import partial
from typing import Any, Literal

from rubricate_service.cache import Cache
from rubricate_service.judge.asking import Asker
from rubricate_service.judge.errand import Errand, late
from rubricate_service.judge.flight import Flight, Grounded, SingleFlight
from rubricate_service.judge.key import cache_key
from rubricate_service.judge.one_call import OneCall
from rubricate_service.judge.passport import Passport
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import Answer, JudgeFailure, Reading
from rubricate_service.judge.replicas import Replicas
from rubricate_service.judge.served import Identity
from rubricate_service.judge.streak import Streak
from rubricate_service.judge.template import Template, default_template
from rubricate_service.judge.usage import Usage
from rubricate_service.settings import Mode, Prices

log = logging.getLogger("rubricate.judge")

CacheMode = Literal["use", "refresh", "off"]

_Outcome = tuple[Reading, bool] | JudgeFailure
"""A reading and whether it was cached, or why there is none; a failure is shared like an answer."""

_START_S = 5.0
_STATUS_S = 1.0
_FAIR_CHANCE_S = 2.0
_TIME_BYTES = 8


class Judge:
    """Answers questions, and asks its replicas once for what is asked many times.

    Args:
        replicas: The model behind it; the judge closes them.
        cache: Where verdicts are kept; the judge closes it.
        secret: Key of the prompt's delimiters and of the tenants' salts. A new one costs the prefix cache of
            the model's server, no verdicts.
        name: What the server's settings call this judge.
        template: The prompt, or None for the service's own.
        mode: ``per_rubric`` asks one question a call; ``one_call`` all that a request has about a response.
        prices: What its tokens cost, or None where that is not known.
        is_shared: Whether tenants share verdicts and calls. Where they do not, none learns from the speed of
            an answer what another has asked.
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
        is_shared: bool = False,
    ):
        self.name = name
        self.cache = cache
        self._replicas = replicas
        self._secret = secret
        self._template = template or default_template()
        self._one_call = OneCall(secret) if mode == "one_call" else None
        self._prices = prices
        self._is_shared = is_shared
        self._asker = Asker(
            replicas,
            cache,
            name=name,
            secret=secret,
            template=self._template,
            one_call=self._one_call,
            prices=prices,
        )
        self._flights: SingleFlight[_Outcome] = SingleFlight()
        self._streak = Streak(_now)

    async def start(self) -> None:
        """Ask the model who it is, for at most 5 s; one that is down is asked again when it is needed."""
        try:
            async with asyncio.timeout(_START_S):
                await self._asker.identified(_now() + _START_S)
        except TimeoutError:
            log.warning("judge %r did not say within %.0f s who it is", self.name, _START_S)
        except JudgeFailure as failure:
            log.warning("judge %r does not say yet who it is: %s", self.name, failure)
            self._asker.report(failure)

    async def ask(
        self,
        question: Question,
        *,
        cache: CacheMode = "use",
        deadline: float,
        usage: Usage,
        tenant: str = "",
    ) -> Answer:
        """The verdict on one question.

        Identical questions in flight share one call; with ``cache="off"`` those of one request do.

        Args:
            question: What to ask.
            cache: ``use`` reads and writes the cache, ``refresh`` only writes it, ``off`` neither.
            deadline: When to give up, by the event loop's clock (``loop.time()``, seconds).
            usage: The request's counters, to which the cost of this question is added. Requests, which they
                stand for, take turns at the replicas.
            tenant: Whose request it is; tenants take turns, too, and share nothing unless they shall.

        Raises:
            JudgeFailure: There is no verdict; its kind says why.
        """
        scope = "" if self._is_shared else tenant
        request = id(usage) if cache == "off" else None

        def work(flight: Flight[_Outcome]) -> Coroutine[Any, Any, _Outcome]:
            errand = Errand.of(question, usage, tenant, self._salt(scope))
            return self._settle(question, cache, scope, errand, flight)

        began = _now()
        flight, joined = self._flights.board((question, scope, cache, request), work, deadline)
        try:
            with self._streak.asking():
                outcome = await flight.wait(deadline)
        except TimeoutError:
            failure = late(flight.errand)
            if _now() - began >= _FAIR_CHANCE_S:  # else it says more about the deadline
                self._streak.failed(failure.kind)
            raise failure from None
        except Grounded:
            raise JudgeFailure("canceled", "the service is stopping") from None
        if isinstance(outcome, JudgeFailure):
            self._streak.failed(outcome.kind)
            # a new one for each, as an exception carries the frames of those who raise it
            raise JudgeFailure(outcome.kind, outcome.message)
        reading, cached = outcome
        if not cached:
            self._streak.decided()
        joined = joined and not cached
        usage.cached += cached
        usage.joined += joined
        return Answer(reading.label, reading.expected, reading.label_mass, cached, joined)

    def usage(self) -> Usage:
        """Counters for one request, at zero."""
        return Usage(cost=None if self._prices is None else 0.0)

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The prompt of a question as the model gets it: ``role`` and ``content`` of each message.

        In mode ``one_call`` it is that of the question by itself; others may have gone with it.
        """
        return self._one_call.messages({"c1": question}) if self._one_call else self._asker.messages(question)

    def provenance(self) -> dict[str, Any]:
        """Who judges and how; ``model`` and ``fingerprint`` are None until the model has said who it is."""
        identity = self._asker.passport.current if self._asker.passport else None
        return {
            "name": self.name,
            "model": identity and identity.model,
            "fingerprint": identity and identity.fingerprint,
            "template": (self._one_call.template if self._one_call else self._template).digest,
            "mode": "one_call" if self._one_call else "per_rubric",
            **_form(identity),
        }

    def replicas(self) -> list[dict[str, Any]]:
        """Each replica as the scheduler sees it now: name, state, limit, calls in flight and waiting."""
        return self._replicas.report()

    async def status(self) -> dict[str, Any]:
        """For readiness, within 1 s: ``status`` is ``ok`` or ``failing``, the latter with a ``reason``.

        Where one replica says who it is, and not all of the last questions went without a verdict, it is
        ``ok``; ``replicas`` has each of them.
        """
        return {**await self._health(), "replicas": self.replicas()}

    async def _health(self) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_STATUS_S):
                identity = await self._replicas.identify(_now() + _STATUS_S)
        except (JudgeFailure, TimeoutError) as failure:
            return {"status": "failing", "reason": str(failure) or "timeout: no answer within 1 s"}
        first = self._asker.passport.first if self._asker.passport else identity
        if identity != first:
            reason = f"identity: the judge was {first.model!r} and is {identity.model!r} or set up otherwise"
            return {"status": "failing", "reason": f"{reason}; restart the service to take it as it is"}
        if (trouble := self._streak.told()) is not None:
            return {"status": "failing", "reason": trouble}
        return {"status": "ok", "model": identity.model, **_form(identity)}

    async def close(self) -> None:
        """Cancel what is in flight; close the replicas and the cache."""
        await self._flights.close()
        await self._replicas.close()
        await self.cache.close()

    async def _settle(
        self, question: Question, mode: CacheMode, scope: str, errand: Errand, flight: Flight[_Outcome]
    ) -> _Outcome:
        """What all who wait for this question are told."""
        flight.errand = errand
        try:
            passport = await self._asker.persist(
                flight, errand, lambda: self._asker.identified(flight.deadline)
            )
            if mode != "use":
                return await self._judged(question, mode, scope, errand, flight), False
            # half of the time is kept for asking oneself when another process does not get there
            until = (_now() + flight.deadline) / 2
            # the turn's key is the same for processes that have met different replicas
            key = self._key(passport.first, question, scope)
            look = partial(self._known, passport, question, scope)
            async with self.cache.turn(key, look, until) as known:
                if known is not None:
                    return known, True
                return await self._judged(question, mode, scope, errand, flight), False
        except JudgeFailure as failure:
            return failure

    async def _known(self, passport: Passport, question: Question, scope: str) -> Reading | None:
        """The newest verdict in the cache of those whose verdicts count now."""
        keys = [self._key(identity, question, scope) for identity in await passport.served()]
        found = await self.cache.get_many(keys)
        return Reading.from_bytes(max(found.values())[_TIME_BYTES:]) if found else None

    async def _judged(
        self, question: Question, mode: CacheMode, scope: str, errand: Errand, flight: Flight[_Outcome]
    ) -> Reading:
        """What the model says, kept unless the cache is off."""
        reading, identity = await self._asker.told(question, errand, flight)
        if mode != "off":
            made_at = time.time_ns().to_bytes(_TIME_BYTES, "big")
            self.cache.put_many({self._key(identity, question, scope): made_at + reading.to_bytes()})
        return reading

    def _key(self, identity: Identity, question: Question, scope: str) -> bytes:
        return cache_key(identity, self._asker.prompt_digest, question, scope)

    def _salt(self, scope: str) -> str:
        """What keeps a tenant's prompts apart in a prefix cache, and none can guess; "" for no tenant."""
        return hmac.digest(self._secret, b"cache_salt " + scope.encode(), "sha256").hex() if scope else ""


def _form(identity: Identity | None) -> dict[str, str]:
    """The form of its questions, where it is not the plain one."""
    return {} if identity is None or identity.form == "plain" else {"form": identity.form}


def _now() -> float:
    return asyncio.get_running_loop().time()
