from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from rubricate_service.cache import StoreDown, breaker
from rubricate_service.cache.breaker import Breaker


def passes(breaker: Breaker) -> bool:
    try:
        breaker.check()
    except StoreDown:
        return False
    return True


def test_a_server_that_failed_is_tried_beside_the_calls_and_not_more_than_once_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(breaker, "PAUSE_S", 0.1)
    probes: list[float] = []
    alive = False

    async def probe() -> None:
        probes.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.02)
        if not alive:
            raise ConnectionError

    async def test() -> None:
        nonlocal alive
        guard = Breaker(probe)
        assert passes(guard)
        guard.trip("it is gone")
        for _ in range(40):  # 0.4 s of callers, none of whom waits
            assert not passes(guard)
            await asyncio.sleep(0.01)
        assert 2 <= len(probes) <= 4
        assert all(later - earlier >= 0.1 for earlier, later in pairwise(probes))
        await asyncio.sleep(0.2)
        knocks = len(probes)
        await asyncio.sleep(0.2)
        assert len(probes) == knocks  # nobody calls, nobody knocks
        alive = True
        assert not passes(guard)
        await asyncio.sleep(0.1)
        assert passes(guard)
        await guard.close()

    asyncio.run(asyncio.wait_for(test(), 10))


def test_closing_ends_a_trial() -> None:
    async def test() -> None:
        guard = Breaker(asyncio.Event().wait)
        guard.trip("it is gone")
        guard._try_at = 0.0
        before = asyncio.all_tasks()
        with pytest.raises(StoreDown, match="it is gone"):
            guard.check()
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == len(before) + 1
        await guard.close()
        assert asyncio.all_tasks() == before

    asyncio.run(asyncio.wait_for(test(), 10))
