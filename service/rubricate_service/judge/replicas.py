"""All replicas of a judge as one: who is there, who is well, and what is made of a failure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from rubricate_service.judge.concurrency import Limit
from rubricate_service.judge.dispatch import Dispatcher, Replica
from rubricate_service.judge.engine import Completion, Engine, Identity
from rubricate_service.judge.errand import Errand
from rubricate_service.judge.members import Members
from rubricate_service.judge.outlier import Outliers
from rubricate_service.judge.passport import is_same_model
from rubricate_service.judge.reading import JudgeFailure

log = logging.getLogger("rubricate.judge")

_ROLL_CALL_S = 4.0
_INQUIRY_S = 5.0
_FAIR_CHANCE_S = 5.0


class Replicas:
    """Sends each errand to one of many engines that serve the same model.

    Each call is one attempt, as with an engine; the judge decides about another, which goes to another
    replica. A replica that fails is left out, looked at, and taken back (``Outliers``).

    Args:
        members: Where they are found; this set closes the engines that it makes.
        most: Calls that one replica gets at a time, at most.
    """

    def __init__(self, members: Members, most: int = 64):
        self._members = members
        self._most = most
        self._outliers = Outliers(_now)
        self._dispatcher = Dispatcher(self._outliers)
        self._identity: Identity | None = None
        self._watch: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

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
        is_first = self._identity is None
        if is_first and len(replicas) > 1:
            deadline = min(deadline, _now() + _ROLL_CALL_S)
        said = await asyncio.gather(*(_say(replica.engine, deadline) for replica in replicas))
        identities = [answer for answer in said if isinstance(answer, Identity)]
        if not identities:
            raise next(answer for answer in said if isinstance(answer, JudgeFailure))
        self._identity = self._identity or identities[0]
        for replica, answer in zip(replicas, said, strict=True):
            if isinstance(answer, Identity):
                if answer != self._identity:
                    self._eject(replica, self._stranger(answer.model), confirmed=True)
            elif is_first:
                self._eject(replica, answer, confirmed=True)
        return self._identity if self._identity in identities else identities[0]

    async def complete(
        self, messages: Sequence[Mapping[str, str]], deadline: float, errand: Errand
    ) -> Completion:
        """Answer ``messages`` by the replica of the errand, when its turn has come.

        Raises:
            JudgeFailure: As with any engine. What another replica may do better is ``unreachable``, and an
                ``overloaded`` one says when to come again, which is at once when there are others.
        """
        replica = await self._dispatcher.turn(errand, deadline)
        errand.usage.calls += 1
        began = _now()
        limit = deadline
        if len(self._dispatcher.usable) > 1:  # a replica that hangs leaves time for another
            limit = min(deadline, began + max((deadline - began) / 2, _FAIR_CHANCE_S))
        try:
            completion = await replica.engine.complete(messages, limit, errand.prefix, errand.ids)
            if self._is_stranger(completion):
                raise self._stranger(str(completion.model))
        except JudgeFailure as failure:
            raise self._told(replica, failure, began, limit < deadline) from None
        else:
            replica.limit.succeeded(replica.in_flight)
            if self._dispatcher.has(replica):
                self._outliers.succeeded(replica.name)
            return completion
        finally:
            self._dispatcher.leave(replica)
            self._close_if_done(replica)

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
        """Stop looking after the replicas and close their engines."""
        replicas = list(self._dispatcher.replicas.values())
        tasks = [*(r.inquiry for r in replicas if r.inquiry)]
        if self._watch is not None:
            tasks.append(self._watch)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._closing, return_exceptions=True)
        await asyncio.gather(*(replica.engine.close() for replica in replicas))

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
                    self._blame(replica, failure)
                if is_cut_short:
                    message = f"the judge at {replica.name} did not answer within {_now() - began:.0f} s"
                    return JudgeFailure("unreachable", message)
            case "unreachable" | "unreadable":  # of the engine: no chat completion at all
                self._blame(replica, failure)
            case "identity":
                self._eject(replica, failure, confirmed=True)
                if others:
                    return JudgeFailure("unreachable", failure.message)
        return failure

    def _blame(self, replica: Replica, failure: JudgeFailure) -> None:
        if self._dispatcher.has(replica) and self._outliers.failed(replica.name):
            self._eject(replica, failure)

    def _eject(self, replica: Replica, failure: JudgeFailure, *, confirmed: bool = False) -> None:
        """Leave a replica out if it may be, and look at it then; at once where it may not."""
        if (
            not self._dispatcher.has(replica)
            or self._outliers.state(replica.name) == "ejected"
            or len(self._dispatcher.replicas) == 1
        ):
            return
        seconds = self._outliers.eject(replica.name, confirmed=confirmed)
        if seconds is not None:
            _log_out(replica, seconds, failure)
            self._dispatcher.evict(replica)
        elif confirmed:
            return
        self._inquire(replica, seconds or 0.0)

    def _inquire(self, replica: Replica, pause: float) -> None:
        if replica.inquiry is not None:
            replica.inquiry.cancel()
        replica.inquiry = asyncio.create_task(self._look_at(replica, pause))

    async def _look_at(self, replica: Replica, pause: float | None) -> None:
        """Ask a replica who it is until it says so, or until there is no choice but to use it."""
        while pause is not None:
            await asyncio.sleep(pause)
            said = await _say(replica.engine, _now() + _INQUIRY_S)
            if said == self._identity:
                log.info("judge replica %s is there and is itself", replica.name)
                self._outliers.admit(replica.name)
                self._dispatcher.serve(replica)
                return
            failure = self._stranger(said.model) if isinstance(said, Identity) else said
            pause = self._outliers.eject(replica.name, confirmed=True)
            if pause is not None:
                _log_out(replica, pause, failure)
                self._dispatcher.evict(replica)

    def _is_stranger(self, completion: Completion) -> bool:
        if not (self._identity and completion.model):
            return False
        return not is_same_model(self._identity.model, completion.model)

    def _stranger(self, model: str) -> JudgeFailure:
        asked = self._identity.model if self._identity else None
        same = " set up otherwise" if model == asked else ""
        return JudgeFailure(
            "identity",
            f"the answer came from {model!r}{same}, and the judge is {asked!r}; serve that model again, "
            "or restart the service to take the new one",
        )

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
        self._outliers.join(replica.name, trusted=self._identity is None)
        self._dispatcher.add(replica)
        if self._outliers.state(replica.name) == "ejected":
            self._inquire(replica, 0.0)

    def _retire(self, replica: Replica) -> None:
        log.info("judge replica %s is gone", replica.name)
        if replica.inquiry is not None:
            replica.inquiry.cancel()
        self._outliers.leave(replica.name)
        self._dispatcher.remove(replica)
        self._close_if_done(replica)

    def _close_if_done(self, replica: Replica) -> None:
        """Close the engine of a replica that is gone, once its last call is over."""
        if not replica.in_flight and not self._dispatcher.has(replica):
            closing = asyncio.create_task(replica.engine.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


async def _say(engine: Engine, deadline: float) -> Identity | JudgeFailure:
    """Who an engine says it is, or why it does not say so."""
    try:
        return await engine.identify(deadline)
    except JudgeFailure as failure:
        return failure


def _log_out(replica: Replica, seconds: float, failure: JudgeFailure) -> None:
    log.warning("judge replica %s gets no calls for %.0f s: %s", replica.name, seconds, failure)


def _now() -> float:
    return asyncio.get_running_loop().time()
