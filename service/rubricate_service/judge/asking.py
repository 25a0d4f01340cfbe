"""Asking the replicas: a prompt, as many attempts as make sense, and a verdict that was really given."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from rubricate_service.cache import Cache
from rubricate_service.judge.errand import Errand
from rubricate_service.judge.flight import Flight
from rubricate_service.judge.one_call import OneCall, Told
from rubricate_service.judge.passport import Passport
from rubricate_service.judge.patience import Patience
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import JudgeFailure, read
from rubricate_service.judge.replicas import Replicas
from rubricate_service.judge.served import Completion, Identity
from rubricate_service.judge.template import Template
from rubricate_service.settings import Prices

log = logging.getLogger("rubricate.judge")

T = TypeVar("T")


class Asker:
    """Puts questions to the replicas.

    Args:
        replicas: The model.
        cache: Remembers who the model was.
        name: What the server's settings call the judge.
        secret: Key of the prompt's delimiters.
        template: The prompt of one question.
        one_call: Puts several questions in one call, or None to put each by itself.
        prices: What tokens cost, or None where that is not known.

    Attributes:
        passport: Who the model is, as soon as it has said so.
        prompt_digest: Digest of the prompts that a verdict may come from.
    """

    def __init__(
        self,
        replicas: Replicas,
        cache: Cache,
        *,
        name: str,
        secret: bytes,
        template: Template,
        one_call: OneCall | None,
        prices: Prices | None,
    ):
        self.passport: Passport | None = None
        # what an answer to many questions leaves out is asked alone
        self.prompt_digest = (one_call.template.digest if one_call else "") + template.digest
        self._replicas = replicas
        self._cache = cache
        self._name = name
        self._secret = secret
        self._template = template
        self._one_call = one_call
        self._prices = prices
        self._issuing = asyncio.Lock()
        self._is_shut_out = False

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The prompt of a question by itself: ``role`` and ``content`` of each message."""
        form = self.passport.first.form if self.passport else "plain"
        return self._template.messages(question, self._secret, begun=form == "prefilled")

    async def identified(self, deadline: float) -> Passport:
        """Who the model is; asked once.

        Raises:
            JudgeFailure: It does not say so.
        """
        if self.passport is not None:
            return self.passport
        async with self._issuing:
            if self.passport is None:
                self.passport = await Passport.issue(self._replicas, self._cache, deadline)
            return self.passport

    async def told(self, question: Question, errand: Errand, flight: Flight[Any]) -> Told:
        """The verdict on a question, and who gave it.

        Raises:
            JudgeFailure: There is none; its kind says why.
        """
        told = await self._one_call.ask(question, errand, flight, self._put) if self._one_call else None
        return told or await self._put(self.messages(question), read, errand, flight)

    async def persist(self, flight: Flight[Any], errand: Errand, attempt: Callable[[], Awaitable[T]]) -> T:
        """Result of ``attempt``, made again after failures while patience and time last.

        Raises:
            JudgeFailure: That of the last attempt.
        """
        patience = Patience(self._replicas.budget)
        while True:
            deadline = flight.deadline
            try:
                return await attempt()
            except JudgeFailure as failure:
                self.report(failure)
                if failure.kind == "timeout" and flight.deadline > deadline:
                    continue  # one with more time has joined meanwhile
                pause = patience.pause(failure)
                if pause is None or _now() + pause >= flight.deadline:
                    raise
                errand.learn(failure)
                await asyncio.sleep(pause)

    def report(self, failure: JudgeFailure) -> None:
        """Say loudly, once, what no retry mends and every question will meet."""
        if failure.kind == "unauthorized" and not self._is_shut_out:
            self._is_shut_out = True
            log.error("judge %r gives no verdicts: %s", self._name, failure.message)

    async def _put(
        self,
        messages: list[dict[str, str]],
        reader: Callable[[Completion], T],
        errand: Errand,
        flight: Flight[Any],
    ) -> tuple[T, Identity]:
        """What the model says to a prompt, read; and who answered."""
        self._replicas.budget.deposit()
        return await self.persist(flight, errand, partial(self._attempt, messages, reader, errand, flight))

    async def _attempt(
        self,
        messages: list[dict[str, str]],
        reader: Callable[[Completion], T],
        errand: Errand,
        flight: Flight[Any],
    ) -> tuple[T, Identity]:
        passport = await self.identified(flight.deadline)
        completion = await self._replicas.complete(messages, flight.deadline, errand)
        self._is_shut_out = False
        errand.usage.add(completion, self._prices)
        identity = passport.confirm(completion)
        return reader(completion), identity


def _now() -> float:
    return asyncio.get_running_loop().time()
