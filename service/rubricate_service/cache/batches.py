"""Many who ask for one thing each, and one call for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Batches(Generic[T]):
    """Gathers what is asked within one turn of the event loop, or while a call is under way, into one call.

    Args:
        call: Answers for those of some keys that have one; must not raise.
    """

    def __init__(self, call: Callable[[list[bytes]], Awaitable[Mapping[bytes, T]]]):
        self._call = call
        self._asked: dict[bytes, asyncio.Future[T | None]] = {}
        self._worker: asyncio.Task[None] | None = None

    def ask(self, key: bytes) -> asyncio.Future[T | None]:
        """The answer for a key, to come. Others may wait for the same, so ``asyncio.wait`` for it."""
        if key not in self._asked:
            self._asked[key] = asyncio.get_running_loop().create_future()
            if self._worker is None or self._worker.done():
                self._worker = asyncio.create_task(self._work())
        return self._asked[key]

    async def drain(self) -> None:
        """Wait until everything asked is answered."""
        if self._worker is not None:
            await self._worker

    async def _work(self) -> None:
        while self._asked:
            asked, self._asked = self._asked, {}
            answers = await self._call(list(asked))
            for key, future in asked.items():
                future.set_result(answers.get(key))
