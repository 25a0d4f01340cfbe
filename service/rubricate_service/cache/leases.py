"""Single-flight between processes: which of them makes a value that all of them want."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Protocol

from rubricate_service.cache.batches import Batches
from rubricate_service.cache.store import StoreError

LEASE_S = 3.0
"""How long others wait for a process that died; one that lives renews its leases in time."""


class Lessor(Protocol):
    """Gives leases on keys to processes. The methods raise ``StoreError``."""

    async def claim(self, keys: Collection[bytes], seconds: float) -> dict[bytes, bool]:
        """Take leases that run out by themselves; says of each key whether it was free."""

    async def renew(self, keys: Collection[bytes], seconds: float) -> None:
        """Let leases run from now."""

    async def release(self, keys: Collection[bytes]) -> None:
        """Give leases back before they run out."""


class Leases:
    """The leases of this process.

    A lease is advice: who has none because the lessor is down, or loses one by being late, makes a value
    that another makes as well. It never stops anybody.
    """

    def __init__(self, lessor: Lessor):
        self._lessor = lessor
        self._claims = Batches(self._claim)
        self._releases = Batches(self._release)
        self._held: set[bytes] = set()
        self._keeper: asyncio.Task[None] | None = None

    async def claim(self, key: bytes) -> bool:
        """Whether the caller shall make the value, and then ``release`` it."""
        claim = self._claims.ask(key)
        try:
            await asyncio.wait([claim])
        except asyncio.CancelledError:
            claim.add_done_callback(lambda _: self.release([key]))
            raise
        return claim.result() is not False

    def release(self, keys: Iterable[bytes]) -> None:
        """Let others make these values; nothing happens to a lease that is not held."""
        for key in self._held.intersection(keys):
            self._held.remove(key)
            self._releases.ask(key)

    async def close(self) -> None:
        """Give back what is held."""
        await self._claims.drain()
        self.release(self._held)
        await self._releases.drain()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)

    async def _claim(self, keys: list[bytes]) -> dict[bytes, bool]:
        try:
            claimed = await self._lessor.claim(keys, LEASE_S)
        except StoreError:
            return {}
        self._held.update(key for key, is_free in claimed.items() if is_free)
        if self._held and (self._keeper is None or self._keeper.done()):
            self._keeper = asyncio.create_task(self._keep())
        return claimed

    async def _release(self, keys: list[bytes]) -> dict[bytes, None]:
        with suppress(StoreError):  # then they run out
            await self._lessor.release(keys)
        return {}

    async def _keep(self) -> None:
        while self._held:
            await asyncio.sleep(LEASE_S / 3)
            with suppress(StoreError):
                await self._lessor.renew(list(self._held), LEASE_S)
