"""The verdict cache: a least-recently-used table in the process, over a store that outlives it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from cachetools import LRUCache

from rubricate_service.cache.seal import seal, unseal
from rubricate_service.cache.store import Store

log = logging.getLogger("rubricate.cache")

T = TypeVar("T")


class Cache:
    """Bytes under keys of one length; both tiers are optional and neither ever fails a caller.

    Reads and writes of the store run in a thread. What is asked while that thread is busy, or within one
    turn of the event loop, goes to the store as one batch. Writes do not wait: a value counts for this
    process at once and reaches the store soon after.

    Args:
        store: What outlives the process, or None; the cache closes it.
        lru_entries: Size of the table in the process.
    """

    def __init__(self, store: Store | None, *, lru_entries: int = 100_000):
        self._store = store
        self._recent: LRUCache[bytes, bytes] = LRUCache(lru_entries)
        self._wanted: dict[bytes, asyncio.Future[bytes | None]] = {}
        self._unsaved: dict[bytes, bytes] = {}
        self._worker: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rubricate-cache")
        self._fault: str | None = None

    async def get_many(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there and sound."""
        found: dict[bytes, bytes] = {}
        asked: dict[bytes, asyncio.Future[bytes | None]] = {}
        for key in keys:
            if (value := self._recent.get(key)) is not None:
                found[key] = value
            elif self._store is not None:
                if key not in self._wanted:
                    self._wanted[key] = asyncio.get_running_loop().create_future()
                asked[key] = self._wanted[key]
        if asked and self._store is not None:
            self._wake(self._store)
            await asyncio.wait(asked.values())  # waits without cancelling what others wait for as well
            found |= {key: value for key, future in asked.items() if (value := future.result()) is not None}
        return found

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values. Called on the event loop; returns before the store has them."""
        self._recent.update(values)
        if self._store is not None:
            self._unsaved.update(values)
            self._wake(self._store)

    def status(self) -> dict[str, Any]:
        """For readiness: ``status`` is ``ok`` or ``failing``, then with the ``reason``."""
        return {"status": "ok"} if self._fault is None else {"status": "failing", "reason": self._fault}

    async def close(self) -> None:
        """Write what is not written yet, and close the store."""
        if self._worker is not None:
            await self._worker
        if self._store is not None:
            await self._in_thread(self._store.close)
        self._thread.shutdown()

    def _wake(self, store: Store) -> None:
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work(store))

    async def _work(self, store: Store) -> None:
        """Carry batches to the store until nothing is left; readers go first, as they are waited for."""
        while self._wanted or self._unsaved:
            if self._wanted:
                asked, self._wanted = self._wanted, {}
                sealed = await self._in_thread(store.get_many, list(asked)) or {}
                for key, future in asked.items():
                    self._answer(key, future, sealed.get(key))
            if self._unsaved:
                values, self._unsaved = self._unsaved, {}
                await self._in_thread(store.put_many, {k: seal(k, v) for k, v in values.items()})

    def _answer(self, key: bytes, future: asyncio.Future[bytes | None], sealed: bytes | None) -> None:
        value = None if sealed is None else unseal(key, sealed)
        if sealed is not None and value is None:
            log.warning("a cached verdict was damaged and is judged again (key %s…)", key.hex()[:12])
        # a newer one may have been put while the store was being read
        value = self._recent.get(key, value)
        if value is not None:
            self._recent[key] = value
        future.set_result(value)

    async def _in_thread(self, call: Callable[..., T], *args: object) -> T | None:
        """Result of a call to the store, or None when it failed: a cache may forget, never stop a verdict."""
        loop = asyncio.get_running_loop()
        try:
            result = await loop.run_in_executor(self._thread, call, *args)
        except Exception as error:
            if self._fault is None:
                log.exception("the cache's store fails; verdicts are not kept until it works again")
            self._fault = f"{type(error).__name__}: {error}"
            return None
        if self._fault is not None:
            log.warning("the cache's store works again")
            self._fault = None
        return result
