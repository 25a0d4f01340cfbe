"""Who is served next, and by which replica."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial

from rubricate_service.judge.balance import choose
from rubricate_service.judge.concurrency import Limit
from rubricate_service.judge.errand import Errand
from rubricate_service.judge.fair import FairQueue
from rubricate_service.judge.outlier import Outliers
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import ServedModel
from rubricate_service.judge.signatures import Signatures

_HOMES = 16_384  # prefixes whose replica is remembered: dozens of steps of a trainer


@dataclass(eq=False)
class Replica:
    """One replica of the set, what it is doing and what waits for it.

    Attributes:
        name: Its address, for people; holds no secret.
        model: What answers.
        limit: How many calls it may have at once.
        in_flight: How many it has.
        queue: Who waits for it.
        alarm: Wakes the queue when the replica may be asked again.
        inquiry: Finds out whether the replica is there and is itself.
        signatures: How its last answers were signed.
    """

    name: str
    model: ServedModel
    limit: Limit
    in_flight: int = 0
    queue: FairQueue[Ticket] = field(default_factory=FairQueue)
    alarm: asyncio.TimerHandle | None = None
    inquiry: asyncio.Task[None] | None = None
    signatures: Signatures = field(default_factory=Signatures)

    @property
    def load(self) -> int:
        """Calls that it has to answer, waiting ones included."""
        return self.in_flight + len(self.queue)


@dataclass(slots=True, eq=False)
class Ticket:
    """An errand that waits for a replica; ``called`` is done when it has its turn."""

    errand: Errand
    replica: Replica
    called: asyncio.Future[None]


@dataclass(slots=True, eq=False)
class _Home:
    """The replica of a prefix, and whether it has seen it yet."""

    replica: Replica
    begun: bool = False


class Dispatcher:
    """Gives each errand a replica and its turn there.

    All errands of a prefix go to one replica, as long as that takes calls. A replica with nothing to do
    takes over what waits for another, a whole prefix at a time and none that has been begun.

    Attributes:
        replicas: The set, by name; changed by ``add`` and ``remove`` only.
    """

    def __init__(self, outliers: Outliers):
        self.replicas: dict[str, Replica] = {}
        self._outliers = outliers
        self._homes: OrderedDict[bytes, _Home] = OrderedDict()

    @property
    def usable(self) -> list[Replica]:
        """Those that are not ejected."""
        return [r for r in self.replicas.values() if self._outliers.state(r.name) != "ejected"]

    def has(self, replica: Replica) -> bool:
        """Whether it is still in the set; one of the same name may have come after it."""
        return self.replicas.get(replica.name) is replica

    @property
    def opens_in(self) -> float:
        """Seconds until a replica may be asked; 0 when one may be asked now."""
        return max(min(r.limit.resumes_at for r in self.usable) - _now(), 0.0)

    def add(self, replica: Replica) -> None:
        """A replica more; it takes over what waits."""
        self.replicas[replica.name] = replica
        self.serve(replica)

    def remove(self, replica: Replica) -> None:
        """Take a replica out that ``outliers`` does not know any more; what it answers now goes on."""
        del self.replicas[replica.name]
        self.evict(replica)

    def evict(self, replica: Replica) -> None:
        """Send all who wait for a replica to others."""
        if replica.alarm is not None:
            replica.alarm.cancel()
        for ticket in replica.queue.drain():
            ticket.replica = self._assign(ticket.errand)
            ticket.replica.queue.push(ticket.errand.line, ticket)
        self.serve_all()

    async def turn(self, errand: Errand, deadline: float) -> Replica:
        """Wait for a turn; the replica must be given back with ``leave``.

        Nothing but a cancellation ends the wait; ``errand.trouble`` says meanwhile what it is for.

        Raises:
            JudgeFailure: ``overloaded``: all replicas want to be left alone until after the deadline;
                ``unreachable``: there is no replica at all.
        """
        if not self.replicas:
            raise JudgeFailure("unreachable", "the judge's name leads to no replica; check that one runs")
        replica = self._assign(errand)
        if not replica.queue and self._has_room(replica):
            self._begin(errand, replica)
            return replica
        if _now() + (pause := self.opens_in) >= deadline:
            raise JudgeFailure("overloaded", _words(errand, "the judge wants to be left alone"), pause)
        ticket = Ticket(errand, replica, asyncio.get_running_loop().create_future())
        replica.queue.push(errand.line, ticket)
        self.serve(replica)  # it may have room by now, or needs somebody who wakes it
        before = errand.trouble
        errand.trouble = before or JudgeFailure("timeout", "others were ahead of this question at the judge")
        try:
            await ticket.called
        except asyncio.CancelledError:
            self._withdraw(ticket)
            raise
        errand.trouble = before
        return ticket.replica

    def leave(self, replica: Replica) -> None:
        """A call is over."""
        replica.in_flight -= 1
        if self.has(replica):
            self.serve(replica)

    def serve(self, replica: Replica) -> None:
        """Call those who wait, as far as the replica has room.

        Whether it is held is looked at first, as the clock goes on meanwhile: held for want of room and free
        when the alarm is to be set, it would have nobody who ever wakes it.
        """
        is_held = replica.limit.is_held
        while self._has_room(replica):
            ticket = replica.queue.pop() if replica.queue else self._take_over(replica)
            if ticket is None:
                return
            if not ticket.called.done():  # else it is about to leave
                self._begin(ticket.errand, replica)
                ticket.called.set_result(None)
        if replica.queue and is_held:
            self._set_alarm(replica)

    def serve_all(self) -> None:
        """Call those who wait, as far as there is room anywhere."""
        for replica in self.usable:
            self.serve(replica)

    def _has_room(self, replica: Replica) -> bool:
        state = self._outliers.state(replica.name)
        calls = {"ok": replica.limit.calls, "probing": 1, "ejected": 0}[state]
        return replica.in_flight < calls and not replica.limit.is_held

    def _begin(self, errand: Errand, replica: Replica) -> None:
        replica.in_flight += 1
        if errand.tried and {r.name for r in self.usable} <= {*errand.tried}:
            errand.tried.clear()  # all were: begin anew
        errand.tried.append(replica.name)
        home = self._homes.get(errand.prefix)
        if home is not None and home.replica is replica:
            home.begun = True

    def _assign(self, errand: Errand) -> Replica:
        usable = self.usable
        others = (
            [r for r in usable if r.name not in errand.tried]
            or [r for r in usable if r.name not in errand.tried[-1:]]
            or usable
        )
        ready = [r for r in others if not r.limit.is_held and not self._is_being_probed(r)] or others
        home = self._homes.get(errand.prefix)
        if home is not None and home.replica in ready:
            return home.replica
        replica = self.replicas[choose(errand.prefix, {r.name: r.load for r in ready})]
        if home is None or home.replica not in usable:
            self._settle(errand.prefix, replica)
        return replica

    def _settle(self, prefix: bytes, replica: Replica) -> None:
        self._homes[prefix] = _Home(replica)
        if len(self._homes) > _HOMES:
            self._homes.popitem(last=False)

    def _is_being_probed(self, replica: Replica) -> bool:
        return replica.load > 0 and self._outliers.state(replica.name) == "probing"

    def _take_over(self, replica: Replica) -> Ticket | None:
        """Move a prefix from the longest queue to this one, and take its first errand."""
        for donor in sorted(self.replicas.values(), key=lambda r: len(r.queue), reverse=True):
            if not donor.queue:
                return None
            if tickets := donor.queue.take_last(partial(self._may_move, donor, replica)):
                self._settle(tickets[0].errand.prefix, replica)
                for ticket in tickets:
                    ticket.replica = replica
                    replica.queue.push(ticket.errand.line, ticket)
                return replica.queue.pop()
        return None

    def _may_move(self, donor: Replica, to: Replica, tickets: Collection[Ticket]) -> bool:
        if any(to.name in ticket.errand.tried for ticket in tickets):
            return False
        home = self._homes.get(next(iter(tickets)).errand.prefix)
        return donor.limit.is_held or home is None or not home.begun or home.replica is not donor

    def _withdraw(self, ticket: Ticket) -> None:
        if ticket.called.done() and not ticket.called.cancelled():  # called while it was leaving
            self.leave(ticket.replica)
        else:
            ticket.replica.queue.discard(ticket.errand.line, ticket)

    def _set_alarm(self, replica: Replica) -> None:
        if replica.alarm is not None:
            replica.alarm.cancel()
        loop = asyncio.get_running_loop()
        replica.alarm = loop.call_at(replica.limit.resumes_at, self._wake, replica)

    def _wake(self, replica: Replica) -> None:
        if self.has(replica):
            self.serve(replica)


def _words(errand: Errand, otherwise: str) -> str:
    return errand.trouble.message if errand.trouble else otherwise


def _now() -> float:
    return asyncio.get_running_loop().time()
