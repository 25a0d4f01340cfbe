"""Not asking a server that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from rubricate_service.cache.store import StoreDown

PAUSE_S = 1.0
"""How long a server that failed is left alone before it is tried again."""


class Breaker:
    """Refuses calls after one has failed, until the server answers again.

    The server is tried again beside the calls, at most once in ``PAUSE_S``, and only while there are calls
    to refuse: nobody waits for a dead server twice, and an idle service does not knock.

    Args:
        probe: Asks the server for a sign of life within a bounded time, and raises when there is none.
    """

    def __init__(self, probe: Callable[[], Awaitable[object]]):
        self._probe = probe
        self._fault: str | None = None
        self._try_at = 0.0
        self._trial: asyncio.Task[None] | None = None

    def check(self) -> None:
        """Let a call through, or refuse it.

        Raises:
            StoreDown: The server failed and has not answered since.
        """
        if self._fault is None:
            return
        if (self._trial is None or self._trial.done()) and _now() >= self._try_at:
            self._trial = asyncio.create_task(self._try())
        raise StoreDown(self._fault)

    def trip(self, fault: str) -> None:
        """Refuse calls from now on; ``fault`` is told to those who are refused."""
        self._fault = fault
        self._try_at = _now() + PAUSE_S

    async def close(self) -> None:
        """End a trial that is under way, and begin anew."""
        if self._trial is not None:
            self._trial.cancel()
            await asyncio.gather(self._trial, return_exceptions=True)
            self._trial = None
        self._fault = None

    async def _try(self) -> None:
        try:
            await self._probe()
        except Exception:
            self._try_at = _now() + PAUSE_S
        else:
            self._fault = None


def _now() -> float:
    return asyncio.get_running_loop().time()
