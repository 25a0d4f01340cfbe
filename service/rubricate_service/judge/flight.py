"""One piece of work for all who ask for the same at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from rubricate_service.judge.errand import Errand

T = TypeVar("T")


class Grounded(Exception):
    """The work was cancelled while callers still waited for it."""


class Flight(Generic[T]):
    """Work in progress, and how many wait for it.

    Attributes:
        deadline: The latest of the waiters' deadlines, by the event loop's clock. It bounds the work, and
            moves when one with more time joins.
        errand: What the work is about, once it has begun: its trouble is told to those whose time runs out.
    """

    def __init__(self, work: Callable[[Flight[T]], Coroutine[Any, Any, T]], deadline: float):
        self.deadline = deadline
        self.errand: Errand | None = None
        self.task = asyncio.create_task(work(self))
        self._waiters = 0

    async def wait(self, deadline: float) -> T:
        """Result of the work; the last waiter to leave without it cancels the work.

        Args:
            deadline: When this caller leaves, by the event loop's clock.

        Raises:
            TimeoutError: The deadline passed.
            Grounded: Something else than its waiters cancelled the work.
        """
        self.deadline = max(self.deadline, deadline)
        self._waiters += 1
        try:
            remaining = deadline - asyncio.get_running_loop().time()
            await asyncio.wait({self.task}, timeout=max(remaining, 0.0))
        finally:
            self._waiters -= 1
            if not self._waiters:
                self.task.cancel()  # nothing happens to work that is done
        if not self.task.done():
            raise TimeoutError
        if self.task.cancelled():
            raise Grounded
        return self.task.result()

    @property
    def abandoned(self) -> bool:
        """Whether the work is being cancelled or is over, so that nobody may join it."""
        return self.task.done() or self.task.cancelling() > 0


class SingleFlight(Generic[T]):
    """The flights under way, by what makes two callers' work the same."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, Flight[T]] = {}

    def board(
        self, key: Hashable, work: Callable[[Flight[T]], Coroutine[Any, Any, T]], deadline: float
    ) -> tuple[Flight[T], bool]:
        """The flight under ``key``, and whether another caller began it. The caller must ``wait`` for it.

        Args:
            key: What makes two callers' work the same.
            work: Begins the work if nobody has; it is given its flight.
            deadline: The caller's deadline, by the event loop's clock.
        """
        flight = self._flights.get(key)
        if flight is not None and not flight.abandoned:
            return flight, True
        started = self._flights[key] = Flight(work, deadline)
        started.task.add_done_callback(lambda _: self._remove(key, started))
        return started, False

    def _remove(self, key: Hashable, landed: Flight[T]) -> None:
        if self._flights.get(key) is landed:  # an abandoned one may have a successor
            del self._flights[key]

    async def close(self) -> None:
        """Cancel what is under way and wait until it has ended."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
