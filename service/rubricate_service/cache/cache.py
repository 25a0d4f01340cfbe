"""The verdict cache: a least-recently-used table in the process, over a store that outlives it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal, TypeVar

from cachetools import TTLCache

from rubricate_service.cache.batches import Batches
from rubricate_service.cache.leases import Leases
from rubricate_service.cache.seal import seal, unseal
from rubricate_service.cache.store import Store, StoreDown, StoreError
from rubricate_service.telemetry.metrics import CACHE_LOOKUPS, CACHE_UNSAVED
from rubricate_service.telemetry.tracing import span

log = logging.getLogger("rubricate.cache")

T = TypeVar("T")

_IN_MEMORY, _IN_STORE, _NOWHERE = (CACHE_LOOKUPS.labels(f) for f in ("memory", "store", "nowhere"))
_RECENT_S = 3600.0  # after which this process too hears of a purge, and of what others have refreshed
_NO_KEY = bytes(32)  # asked for to see whether the store works
_FIRST_LOOK_S, _LAST_LOOK_S = 0.01, 0.25  # pauses between looks for a value that another process makes


class Cache:
    """Bytes under keys of one length; both tiers are optional and neither ever fails a caller.

    What is asked within one turn of the event loop, or while the store is busy, goes to the store as one
    batch. Writes do not wait: a value counts for this process at once and reaches the store soon after.

    Args:
        store: What outlives the process, or None; the cache closes it.
        leases: Who makes a value when processes that share the store want the same, or None when each does
            for itself; the cache closes them.
        lru_entries: Size of the table in the process.
    """

    def __init__(self, store: Store | None, leases: Leases | None = None, *, lru_entries: int = 100_000):
        self._store = store
        self._leases = leases
        self._recent: TTLCache[bytes, bytes] = TTLCache(lru_entries, _RECENT_S)
        self._reads = Batches(self._read)
        self._unsaved: dict[bytes, bytes] = {}
        self._ended: list[bytes] = []
        self._saver: asyncio.Task[None] | None = None
        self._lost = 0
        self._faults: dict[str, str] = {}

    async def get_many(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there and sound."""
        found: dict[bytes, bytes] = {}
        asked: dict[bytes, asyncio.Future[bytes | None]] = {}
        for key in keys:
            if (value := self._recent.get(key)) is not None:
                found[key] = value
                _IN_MEMORY.inc()
            elif self._store is not None:
                asked[key] = self._reads.ask(key)
        if asked:
            await asyncio.wait(asked.values())  # waits without cancelling what others wait for as well
            found |= {key: value for key, future in asked.items() if (value := future.result()) is not None}
        return found

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values. Called on the event loop; returns before the store has them."""
        self._recent.update(values)
        if self._store is not None:
            self._unsaved.update(values)
            self._wake()

    @asynccontextmanager
    async def turn(
        self, key: bytes, look: Callable[[], Awaitable[T | None]], until: float
    ) -> AsyncIterator[T | None]:
        """What ``look`` finds, or None when it is the caller's turn to make it and put it.

        Where another process that shares the store is making it, that is waited for. One that dies is
        noticed within ``LEASE_S``, and nothing is waited for longer than ``until``: at worst a value is
        made twice.

        Args:
            key: What all who want the same take turns by; the value may lie elsewhere.
            look: Looks for the value in this cache.
            until: When to go ahead whoever else does, by the event loop's clock.
        """
        value = await look()
        if value is not None or self._leases is None:
            yield value
            return
        try:
            yield await self._take_turn(self._leases, key, look, until)
        finally:
            self._ended.append(key)
            self._wake()

    @property
    def is_failing(self) -> bool:
        """Whether the store could not be used when it was last needed."""
        return bool(self._faults)

    async def status(self) -> dict[str, Any]:
        """For readiness: ``status`` is ``ok`` or ``failing`` with the ``reason``, ``store`` says which.

        ``unsaved``, where there are some, counts the values that the store did not take since the start.
        """
        if self._store is None:
            return {"status": "ok", "store": "memory"}
        with self._watched("read"):
            await self._store.get_many([_NO_KEY])
        line: dict[str, Any] = {"status": "failing" if self._faults else "ok", "store": self._store.name}
        if self._faults:
            line["reason"] = "; ".join(self._faults.values())
        if self._lost:
            line["unsaved"] = self._lost
        return line

    async def close(self) -> None:
        """Write what is not written yet, and close the store."""
        await self._reads.drain()
        if self._saver is not None:
            await self._saver
        if self._leases is not None:
            await self._leases.close()
        if self._store is not None:
            await self._store.close()

    async def _take_turn(
        self, leases: Leases, key: bytes, look: Callable[[], Awaitable[T | None]], until: float
    ) -> T | None:
        loop, pause = asyncio.get_running_loop(), _FIRST_LOOK_S
        while True:
            # claimed before it is looked for: whoever had the turn wrote the value before giving it up
            is_ours = await leases.claim(key)
            if (value := await look()) is not None:
                return value
            if is_ours or loop.time() + pause >= until:
                return None
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_LOOK_S)

    async def _read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        sealed: dict[bytes, bytes] = {}
        if self._store is not None:
            with self._watched("read"), span("cache", keys=len(keys)) as note:
                sealed = await self._store.get_many(keys)
                note(found=len(sealed))
        _IN_STORE.inc(len(sealed))
        _NOWHERE.inc(len(keys) - len(sealed))
        values: dict[bytes, bytes] = {}
        for key in keys:
            value = unseal(key, sealed[key]) if key in sealed else None
            if key in sealed and value is None:
                log.warning("a cached verdict was damaged and is judged again (key %s…)", key.hex()[:12])
            # a newer one may have been put while the store was being read
            value = self._recent.get(key, value)
            if value is not None:
                self._recent[key] = values[key] = value
        return values

    def _wake(self) -> None:
        if self._saver is None or self._saver.done():
            self._saver = asyncio.create_task(self._save())

    async def _save(self) -> None:
        """Write what was put, then end the turns in which it was: whoever is next finds it."""
        while self._unsaved or self._ended:
            values, self._unsaved = self._unsaved, {}
            ended, self._ended = self._ended, []
            if values and self._store is not None:
                kept = 0
                with self._watched("written"):
                    await self._store.put_many({key: seal(key, value) for key, value in values.items()})
                    kept = len(values)
                self._lost += len(values) - kept
                CACHE_UNSAVED.inc(len(values) - kept)
            if self._leases is not None:
                self._leases.release(ended)

    @contextmanager
    def _watched(self, what: Literal["read", "written"]) -> Iterator[None]:
        """Keep a failure of the store from the caller, as a cache may forget but never stop a verdict.

        That it fails, and that it works again, is logged once. A store that is down is one fault, whatever
        was wanted of it; one that refuses to be written may still be read.
        """
        try:
            yield
        except Exception as error:
            fault = "reached" if isinstance(error, StoreDown) else what
            message = str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}"
            if fault not in self._faults:
                log.warning("the cache cannot be %s, and verdicts are made without: %s", fault, message)
            self._faults[fault] = message
        else:
            for fault in ("reached", what):
                if self._faults.pop(fault, None) is not None:
                    log.warning("the cache can be %s again", fault)
