"""All replicas of a judge as one: who is there, who is asked, and what is made of a failure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from rubricate_service.judge.budget import RetryBudget
from rubricate_service.judge.concurrency import Limit
from rubricate_service.judge.dispatch import Dispatcher, Replica
from rubricate_service.judge.errand import Errand
from rubricate_service.judge.health import Health, say
from rubricate_service.judge.members import Members
from rubricate_service.judge.outlier import Outliers
from rubricate_service.judge.pace import Pace
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import Completion, Identity
from rubricate_service.telemetry.calls import judge_call

log = logging.getLogger("rubricate.judge")

_ROLL_CALL_S = 4.0
_FAIR_CHANCE_S = 5.0


class Replicas:
    """Sends each errand to one of many replicas that serve the same model.

    Each call is one attempt, as with any model; the judge decides about another, which goes to another
    replica. A replica that fails is left out, looked at, and taken back (``Outliers``).

    Args:
        members: Where they are found; this set closes the models that it makes.
        most: Calls that one replica gets at a time, at most.

    Attributes:
        budget: Calls that may be repeated, of all questions together.
    """

    def __init__(self, members: Members, most: int = 64):
        self.budget = RetryBudget()
        self._members = members
        self._most = most
        self._outliers = Outliers(_now)
        self._dispatcher = Dispatcher(self._outliers)
        self._health = Health(self._dispatcher, self._outliers)
        self._pace = Pace()
        self._watch: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def fingerprints(self) -> frozenset[str]:
        """The ``system_fingerprint``s of the last answers of those that are not left out; "" for none."""
        return frozenset().union(*(replica.signatures.recent for replica in self._dispatcher.usable))

    def expect(self, fingerprints: frozenset[str]) -> None:
        """Take these for those of answers that came before this process began."""
        for replica in self._dispatcher.replicas.values():
            for fingerprint in fingerprints:
                replica.signatures.add(fingerprint)

    async def identify(self, deadline: float) -> Identity:
        """Ask all who they are. The first of them that answers says who the judge is; others are left out.

        Raises:
            JudgeFailure: None of them said so.
        """
        if not self._dispatcher.replicas:
            await self._refresh()
        if self._watch is None and self._members.every_s is not None:
            self._watch = asyncio.create_task(self._keep_watch(self._members.every_s))
        replicas = self._dispatcher.usable
        is_first = self._health.identity is None
        if is_first and len(replicas) > 1:
            deadline = min(deadline, _now() + _ROLL_CALL_S)
        said = await asyncio.gather(*(say(replica.model, deadline) for replica in replicas))
        identities = [answer for answer in said if isinstance(answer, Identity)]
        if not identities:
            raise next(answer for answer in said if isinstance(answer, JudgeFailure))
        known = self._health.identity = self._health.identity or identities[0]
        for replica, answer in zip(replicas, said, strict=True):
            if isinstance(answer, Identity):
                if answer != known:
                    self._health.eject(replica, self._health.stranger(answer.model), confirmed=True)
            elif is_first:
                self._health.eject(replica, answer, confirmed=True)
        return known if known in identities else identities[0]

    async def complete(
        self, messages: Sequence[Mapping[str, str]], deadline: float, errand: Errand
    ) -> Completion:
        """Answer ``messages`` by the replica of the errand, when its turn has come.

        A replica that has fallen silent has the errand moved to another one, once and as far as the budget
        of retries goes: without one left, or when it is only slow, it is waited for.

        Raises:
            JudgeFailure: As with any model. What another replica may do better is ``unreachable``, and an
                ``overloaded`` one says when to come again, which is at once when there are others.
        """
        was_moved = errand.was_moved
        try:
            return await self._attempt(messages, deadline, errand)
        except JudgeFailure as failure:
            if errand.was_moved is was_moved:
                raise
            errand.trouble = failure
        return await self._attempt(messages, deadline, errand)

    def report(self) -> list[dict[str, Any]]:
        """Each replica for readiness: its name, state, limit, and calls in flight and waiting."""
        return [
            {
                "replica": replica.name,
                "state": self._outliers.state(replica.name),
                "limit": replica.limit.calls,
                "in_flight": replica.in_flight,
                "waiting": len(replica.queue),
            }
            for replica in self._dispatcher.replicas.values()
        ]

    async def close(self) -> None:
        """Stop looking after the replicas and close their models."""
        replicas = list(self._dispatcher.replicas.values())
        tasks = [*(r.inquiry for r in replicas if r.inquiry)]
        if self._watch is not None:
            tasks.append(self._watch)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._closing, return_exceptions=True)
        await asyncio.gather(*(replica.model.close() for replica in replicas))

    async def _attempt(
        self, messages: Sequence[Mapping[str, str]], deadline: float, errand: Errand
    ) -> Completion:
        replica = await self._dispatcher.turn(errand, deadline)
        errand.usage.calls += 1
        began = _now()
        limit = deadline
        if len(self._dispatcher.usable) > 1:  # a replica that hangs leaves time for another
            limit = min(deadline, began + max((deadline - began) / 2, _FAIR_CHANCE_S))
        try:
            with judge_call(replica.name):
                completion = await self._call(replica, messages, limit, errand)
            if (stranger := self._health.stranger_in(completion)) is not None:
                raise stranger
        except JudgeFailure as failure:
            raise self._told(replica, failure, began, limit < deadline) from None
        else:
            replica.limit.succeeded(replica.in_flight)
            replica.signatures.add(completion.system_fingerprint)
            self._pace.answered(replica.name, began, _now())
            if self._dispatcher.has(replica):
                self._outliers.succeeded(replica.name)
            return completion
        finally:
            self._dispatcher.leave(replica)
            self._close_if_done(replica)

    async def _call(
        self, replica: Replica, messages: Sequence[Mapping[str, str]], limit: float, errand: Errand
    ) -> Completion:
        if errand.was_moved or len(self._dispatcher.replicas) == 1:
            return await replica.model.complete(messages, limit, errand.manner)
        began = _now()
        try:
            async with self._pace.listening(replica.name, self.budget.withdraw):
                return await replica.model.complete(messages, limit, errand.manner)
        except TimeoutError:
            errand.was_moved = True
            took = _now() - began
            raise JudgeFailure(
                "unreachable",
                f"the judge at {replica.name} said nothing for {took:.1f} s, in which others answered",
            ) from None

    def _told(
        self, replica: Replica, failure: JudgeFailure, began: float, is_cut_short: bool
    ) -> JudgeFailure:
        """Take note of what a failure says about a replica; what the judge is told of it."""
        others = any(r is not replica for r in self._dispatcher.usable)
        match failure.kind:
            case "overloaded":
                replica.limit.overloaded(began, failure.retry_after)
                self._dispatcher.serve_all()
                return JudgeFailure("overloaded", failure.message, self._dispatcher.opens_in)
            case "timeout":
                if _now() - began >= _FAIR_CHANCE_S:  # else it says more about the deadline
                    replica.limit.cut(began)
                    self._health.blame(replica, failure)
                if is_cut_short:
                    message = f"the judge at {replica.name} did not answer within {_now() - began:.0f} s"
                    return JudgeFailure("unreachable", message)
            case "unreachable" | "unreadable":  # of the server: no chat completion at all
                self._health.blame(replica, failure)
            case "identity":
                self._health.eject(replica, failure, confirmed=True)
                if others:
                    return JudgeFailure("unreachable", failure.message)
        return failure

    async def _keep_watch(self, every_s: float) -> None:
        """Look again and again for replicas that came or went."""
        is_lost = False
        while True:
            await asyncio.sleep(every_s)
            try:
                await self._refresh()
                is_lost = False
            except JudgeFailure as failure:
                if not is_lost:
                    log.warning("the judge's replicas stay as they are: %s", failure.message)
                is_lost = True

    async def _refresh(self) -> None:
        found = await self._members.find()
        known = self._dispatcher.replicas
        for name, make in found.items():
            if name not in known:
                self._join(Replica(name, make(), Limit(self._most, _now)))
        for replica in [r for r in known.values() if r.name not in found]:
            self._retire(replica)

    def _join(self, replica: Replica) -> None:
        self._outliers.join(replica.name, trusted=self._health.identity is None)
        self._dispatcher.add(replica)
        if self._outliers.state(replica.name) == "ejected":
            self._health.inquire(replica, 0.0)

    def _retire(self, replica: Replica) -> None:
        log.info("judge replica %s is gone", replica.name)
        if replica.inquiry is not None:
            replica.inquiry.cancel()
        self._outliers.leave(replica.name)
        self._dispatcher.remove(replica)
        self._close_if_done(replica)

    def _close_if_done(self, replica: Replica) -> None:
        """Close the model of a replica that is gone, once its last call is over."""
        if not replica.in_flight and not self._dispatcher.has(replica):
            closing = asyncio.create_task(replica.model.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


def _now() -> float:
    return asyncio.get_running_loop().time()
