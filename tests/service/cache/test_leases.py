from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any

import pytest

from rubricate_service.cache import Leases, StoreDown, leases


class Register:
    """Gives leases out of a dictionary of the times at which they run out."""

    def __init__(self) -> None:
        self.until: dict[bytes, float] = {}
        self.claims: list[int] = []
        self.is_down = False
        self.pause = 0.0

    async def _enter(self) -> float:
        await asyncio.sleep(self.pause)
        if self.is_down:
            raise StoreDown("gone")
        return asyncio.get_running_loop().time()

    async def claim(self, keys: Collection[bytes], seconds: float) -> dict[bytes, bool]:
        self.claims.append(len(keys))
        now = await self._enter()
        free = {key: self.until.get(key, 0.0) <= now for key in keys}
        self.until |= {key: now + seconds for key, is_free in free.items() if is_free}
        return free

    async def renew(self, keys: Collection[bytes], seconds: float) -> None:
        now = await self._enter()
        self.until |= {key: now + seconds for key in keys if self.until.get(key, 0.0) > now}

    async def release(self, keys: Collection[bytes]) -> None:
        await self._enter()
        for key in keys:
            self.until.pop(key, None)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 10))


def test_one_of_many_processes_has_the_turn_and_passes_it_on() -> None:
    async def test() -> None:
        register = Register()
        processes = [Leases(register) for _ in range(5)]
        turns = await asyncio.gather(*(process.claim(b"k") for process in processes))
        assert sorted(turns) == [False] * 4 + [True]
        holder = processes[turns.index(True)]
        processes[turns.index(False)].release([b"k"])  # what is not held is not given back
        assert not await processes[turns.index(False)].claim(b"k")
        holder.release([b"k"])
        await asyncio.sleep(0.01)
        assert await processes[turns.index(False)].claim(b"k")
        for process in processes:
            await process.close()
        assert register.until == {}

    run(test())


def test_what_is_claimed_in_one_turn_of_the_loop_is_one_call() -> None:
    async def test() -> None:
        register = Register()
        process = Leases(register)
        assert all(await asyncio.gather(*(process.claim(bytes([n])) for n in range(100))))
        assert register.claims == [100]
        await process.close()

    run(test())


def test_a_lease_lasts_as_long_as_its_holder_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "LEASE_S", 0.15)

    async def test() -> None:
        register = Register()
        holder, other = Leases(register), Leases(register)
        assert await holder.claim(b"k")
        for _ in range(10):
            await asyncio.sleep(0.05)
            assert not await other.claim(b"k")
        assert holder._keeper is not None
        holder._keeper.cancel()  # as when its process dies
        await asyncio.sleep(0.2)
        assert await other.claim(b"k")
        await other.close()

    run(test())


def test_without_a_lessor_everybody_goes_ahead() -> None:
    async def test() -> None:
        register = Register()
        process = Leases(register)
        register.is_down = True
        assert await process.claim(b"k")
        process.release([b"k"])
        await process.close()

    run(test())


def test_a_claim_that_is_given_up_while_it_is_made_is_given_back() -> None:
    async def test() -> None:
        register = Register()
        process = Leases(register)
        register.pause = 0.05
        claim = asyncio.create_task(process.claim(b"k"))
        await asyncio.sleep(0.01)
        claim.cancel()
        await asyncio.sleep(0.06)
        assert b"k" in register.until
        await asyncio.sleep(0.1)
        assert register.until == {}
        await process.close()

    run(test())
