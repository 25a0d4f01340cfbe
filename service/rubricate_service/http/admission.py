"""How much is scored at a time, and who is next: a queue bounded by responses, fair between tenants.

A request is admitted whole. It holds as many places as it has responses (at most all there are: a larger
one runs alone), waits for them behind its own tenant's requests only, and tenants are served in turn.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from rubricate_service.errors import Overloaded
from rubricate_service.http.settings import QueueSettings

_WINDOW_S = 30.0  # over which throughput is measured
_MOST_RETRY_S = 60.0


@dataclass(frozen=True, slots=True)
class Load:
    """What is under way and what waits, in responses, for whoever watches."""

    items: int
    in_flight: int
    waiting: int
    in_flight_by_tenant: Mapping[str, int]
    waiting_by_tenant: Mapping[str, int]


@dataclass(eq=False, slots=True)
class _Ticket:
    tenant: str
    places: int
    admitted: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Admission:
    """Gives requests their places in one process.

    Args:
        settings: How many places there are, and how long a request waits for its own.
    """

    def __init__(self, settings: QueueSettings) -> None:
        self._settings = settings
        self._tenant_items = min(settings.tenant_items or settings.items, settings.items)
        self._in_flight: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        # tenants in the order of their turns, each with its requests in theirs
        self._queues: OrderedDict[str, deque[_Ticket]] = OrderedDict()
        self._finished: deque[tuple[float, int]] = deque()

    @property
    def load(self) -> Load:
        """The present load."""
        in_flight, waiting = +self._in_flight, +self._waiting
        return Load(self._settings.items, in_flight.total(), waiting.total(), in_flight, waiting)

    @asynccontextmanager
    async def places(self, tenant: str, items: int, deadline: float) -> AsyncIterator[None]:
        """Hold places for `items` responses, waiting for them until `deadline` (event loop's clock) at most.

        Raises:
            Overloaded: There were none in time, or too much of the tenant waits already.
        """
        ticket = _Ticket(tenant, min(items, self._tenant_items))
        await self._enter(ticket, deadline)
        try:
            yield
        finally:
            self._release(ticket)

    async def _enter(self, ticket: _Ticket, deadline: float) -> None:
        self._queues.setdefault(ticket.tenant, deque()).append(ticket)
        self._waiting[ticket.tenant] += ticket.places
        self._serve()
        too_many = self._waiting[ticket.tenant] > self._settings.waiting_items
        patience_s = 0.0 if too_many else min(self._settings.wait_s, deadline - _now())
        try:
            if not ticket.admitted.done() and patience_s > 0:
                await asyncio.wait([ticket.admitted], timeout=patience_s)
        except asyncio.CancelledError:  # the client left
            if ticket.admitted.done():
                self._release(ticket)
            else:
                self._leave(ticket)
            raise
        if not ticket.admitted.done():
            refusal = self._refusal(ticket)
            self._leave(ticket)
            raise refusal

    def _serve(self) -> None:
        """Admit, tenant by tenant, what has room."""
        while (ticket := self._next()) is not None:
            self._dequeue(ticket)
            if ticket.tenant in self._queues:
                self._queues.move_to_end(ticket.tenant)
            self._in_flight[ticket.tenant] += ticket.places
            ticket.admitted.set_result(None)

    def _next(self) -> _Ticket | None:
        """The request whose turn it is, if there is room for it.

        Nobody passes it while it waits for the service's room: a large request would wait for ever. Whose
        tenant has no room of its own is passed.
        """
        for tenant, queue in self._queues.items():
            ticket = queue[0]
            if self._in_flight[tenant] + ticket.places > self._tenant_items:
                continue
            fits = self._in_flight.total() + ticket.places <= self._settings.items
            return ticket if fits else None
        return None

    def _dequeue(self, ticket: _Ticket) -> None:
        queue = self._queues[ticket.tenant]
        queue.remove(ticket)
        self._waiting[ticket.tenant] -= ticket.places
        if not queue:
            del self._queues[ticket.tenant]

    def _leave(self, ticket: _Ticket) -> None:
        self._dequeue(ticket)
        self._serve()  # it may have stood in the way

    def _release(self, ticket: _Ticket) -> None:
        self._in_flight[ticket.tenant] -= ticket.places
        self._finished.append((_now(), ticket.places))
        while self._finished[0][0] < _now() - _WINDOW_S:
            self._finished.popleft()
        self._serve()

    def _refusal(self, ticket: _Ticket) -> Overloaded:
        tenant, settings = ticket.tenant, self._settings
        of_tenant = self._in_flight[tenant]
        if self._waiting[tenant] > settings.waiting_items:
            whose = f"tenant {tenant!r}" if tenant else "this service"
            why = f"{self._waiting[tenant] - ticket.places:,} responses of {whose} wait already"
            limit = f"`queue.waiting_items` is {settings.waiting_items:,}"
        elif of_tenant + ticket.places > self._tenant_items < settings.items:
            why = f"{of_tenant:,} of {self._tenant_items:,} responses of tenant {tenant!r} are in flight"
            limit = "`queue.tenant_items`"
        else:
            why = f"{self._in_flight.total():,} of {settings.items:,} responses of this service are in flight"
            limit = "`queue.items`"
        retry_after_s = self._retry_after_s(ticket)
        return Overloaded(f"no room for {ticket.places:,} more responses: {why} ({limit})", retry_after_s)

    def _retry_after_s(self, ticket: _Ticket) -> float:
        """When all that is ahead will have been scored, at the pace of the last half minute."""
        if not self._finished:
            return min(_MOST_RETRY_S, self._settings.wait_s)
        pace = sum(places for _, places in self._finished) / max(1.0, _now() - self._finished[0][0])
        ahead = self._in_flight.total() + self._waiting.total() - self._settings.items
        return min(_MOST_RETRY_S, ahead / pace)


def _now() -> float:
    return asyncio.get_running_loop().time()
