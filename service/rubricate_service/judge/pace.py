"""How long replicas take to answer, and when one of them has fallen silent."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

RECENT = 200
"""So many answers are remembered, of all replicas together."""

ENOUGH = 10
"""Fewer answers of others, meanwhile, say nothing about a replica."""

FACTOR = 5.0
SHORTEST_S = 2.0
"""A replica is silent after ``FACTOR`` times what 99 % of these answers took, and this at least."""


class Pace:
    """When the last answers came, from whom, and how long they took.

    A call is measured by what the other replicas answer while it lasts: where all are slow, be it from one
    moment to the next, none is silent; nor is one that nobody can be compared with.
    """

    def __init__(self) -> None:
        self._answers: deque[tuple[str, float, float]] = deque(maxlen=RECENT)

    def answered(self, replica: str, began: float, now: float) -> None:
        """A call that began at one time of the event loop's clock was answered at another."""
        self._answers.append((replica, now - began, now))

    def patience_s(self, replica: str, began: float) -> float | None:
        """Seconds that a call may last which began then; None while too little is known of the others."""
        others = sorted(took for name, took, at in self._answers if name != replica and at >= began)
        if len(others) < ENOUGH:
            return None
        return max(SHORTEST_S, FACTOR * others[math.ceil(0.99 * len(others)) - 1])

    @asynccontextmanager
    async def listening(self, replica: str, may_end: Callable[[], bool]) -> AsyncIterator[None]:
        """Raise ``TimeoutError`` when the call within has lasted too long, and may end."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        timer: asyncio.TimerHandle
        async with asyncio.timeout(None) as limit:

            def look() -> None:
                nonlocal timer
                patience, now = self.patience_s(replica, began), loop.time()
                if patience is not None and began + patience <= now and may_end():
                    limit.reschedule(now)
                else:
                    timer = loop.call_at(max(began + (patience or 0.0), now + SHORTEST_S / 4), look)

            timer = loop.call_at(began + SHORTEST_S, look)
            try:
                yield
            finally:
                timer.cancel()
