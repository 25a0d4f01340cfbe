from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

import pytest

from rubricate_service.cache import Cache, StoreDown, StoreError, StoreStats
from rubricate_service.cache.seal import seal


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 10))


def key(n: int) -> bytes:
    return n.to_bytes(32, "big")


class DictStore:
    """A store in a dictionary, which remembers its calls and fails while it is told to."""

    name = "dictionary"

    def __init__(self, values: Mapping[bytes, bytes] | None = None) -> None:
        self.values = dict(values or {})
        self.gets: list[list[bytes]] = []
        self.puts: list[dict[bytes, bytes]] = []
        self.broken: Exception | None = None
        self.closed = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def _enter(self) -> None:
        await self.gate.wait()
        if self.broken is not None:
            raise self.broken
        assert not self.closed

    async def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        self.gets.append(list(keys))
        await self._enter()
        return {k: self.values[k] for k in keys if k in self.values}

    async def put_many(self, values: Mapping[bytes, bytes]) -> None:
        self.puts.append(dict(values))
        await self._enter()
        self.values.update(values)

    async def stats(self) -> StoreStats:
        return StoreStats(len(self.values), 0, None)

    async def purge(self) -> int:
        raise NotImplementedError

    async def close(self) -> None:
        self.closed = True


def test_without_a_store_it_remembers_the_latest() -> None:
    async def test() -> None:
        cache = Cache(None, lru_entries=2)
        cache.put_many({key(1): b"1", key(2): b"2"})
        assert await cache.get_many([key(1), key(9)]) == {key(1): b"1"}
        cache.put_many({key(3): b"3"})
        assert await cache.get_many(map(key, (1, 2, 3))) == {key(1): b"1", key(3): b"3"}
        assert await cache.status() == {"status": "ok", "store": "memory"}
        await cache.close()

    run(test())


def test_a_store_outlives_the_table_in_the_process() -> None:
    store = DictStore()

    async def write() -> None:
        cache = Cache(store)
        cache.put_many({key(1): b"1"})
        await cache.close()

    async def read() -> None:
        store.closed = False
        cache = Cache(store)
        assert await cache.get_many([key(1), key(2)]) == {key(1): b"1"}
        assert await cache.get_many([key(1)]) == {key(1): b"1"}
        assert store.gets == [[key(1), key(2)]]  # the second time it was in the process
        await cache.close()

    run(write())
    assert store.closed
    run(read())


def test_what_is_asked_in_one_turn_is_one_read() -> None:
    store = DictStore({key(n): seal(key(n), b"v") for n in range(0, 100, 2)})

    async def test() -> None:
        cache = Cache(store)
        found = await asyncio.gather(*(cache.get_many([key(n)]) for n in range(100)))
        assert [bool(f) for f in found] == [n % 2 == 0 for n in range(100)]
        assert [len(keys) for keys in store.gets] == [100]
        await cache.close()

    run(test())


def test_what_is_asked_while_the_store_is_busy_is_one_batch_too() -> None:
    store = DictStore()

    async def test() -> None:
        cache = Cache(store)
        store.gate.clear()
        asked = [asyncio.create_task(cache.get_many([key(0)]))]
        await asyncio.sleep(0.02)
        for n in range(1, 20):
            asked.append(asyncio.create_task(cache.get_many([key(n)])))
            cache.put_many({key(100 + n): b"v"})
            await asyncio.sleep(0.001)
        store.gate.set()
        await asyncio.gather(*asked)
        await cache.close()
        assert [len(keys) for keys in store.gets] == [1, 19]
        assert [len(values) for values in store.puts] == [1, 18]

    run(test())


def test_a_waiter_that_is_cancelled_leaves_the_others_their_answer() -> None:
    store = DictStore({key(1): seal(key(1), b"v")})

    async def test() -> None:
        cache = Cache(store)
        one, other = (asyncio.create_task(cache.get_many([key(1)])) for _ in range(2))
        await asyncio.sleep(0)
        one.cancel()
        assert await other == {key(1): b"v"}
        await cache.close()

    run(test())


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"garbage",
        seal(key(1), b"v")[:-1],
        seal(key(1), b"v") + b"x",
        seal(key(2), b"v"),
        b"\x02" + seal(key(1), b"v")[1:],
    ],
)
def test_a_damaged_value_is_a_miss_and_is_replaced(value: bytes, caplog: pytest.LogCaptureFixture) -> None:
    store = DictStore({key(1): value})

    async def test() -> None:
        cache = Cache(store)
        assert await cache.get_many([key(1)]) == {}
        cache.put_many({key(1): b"new"})
        await cache.close()

    run(test())
    assert "damaged" in caplog.text
    assert store.values[key(1)] == seal(key(1), b"new")


def test_a_failing_store_costs_a_log_line_and_no_verdict(caplog: pytest.LogCaptureFixture) -> None:
    store = DictStore({key(1): seal(key(1), b"old")})

    async def test() -> None:
        cache = Cache(store)
        store.broken = StoreDown("the server is gone")
        for n in range(5):
            assert await cache.get_many([key(1), key(100 + n)]) == {}
            cache.put_many({key(10 + n): b"v"})
            assert await cache.get_many([key(10 + n)]) == {key(10 + n): b"v"}
        await asyncio.sleep(0.01)
        assert await cache.status() == {
            "status": "failing", "store": "dictionary", "reason": "the server is gone", "unsaved": 5,
        }  # fmt: skip
        store.broken = None
        assert await cache.get_many([key(1)]) == {key(1): b"old"}
        assert await cache.status() == {"status": "ok", "store": "dictionary", "unsaved": 5}
        await cache.close()

    with caplog.at_level(logging.WARNING, "rubricate.cache"):
        run(test())
    assert [record.getMessage() for record in caplog.records] == [
        "the cache cannot be reached, and verdicts are made without: the server is gone",
        "the cache can be reached again",
    ]


def test_a_store_that_refuses_writes_is_still_read(caplog: pytest.LogCaptureFixture) -> None:
    class Full(DictStore):
        async def put_many(self, values: Mapping[bytes, bytes]) -> None:
            raise StoreError("full")

    async def test() -> None:
        cache = Cache(Full({key(1): seal(key(1), b"old")}))
        for n in range(2, 5):
            cache.put_many({key(n): b"new"})
            await asyncio.sleep(0)
            assert await cache.get_many([key(1), key(n)]) == {key(1): b"old", key(n): b"new"}
        status = await cache.status()
        assert (status["status"], status["reason"], status["unsaved"]) == ("failing", "full", 3)
        await cache.close()

    with caplog.at_level(logging.WARNING, "rubricate.cache"):
        run(test())
    assert [record.getMessage()[:28] for record in caplog.records] == ["the cache cannot be written,"]


def test_a_value_put_during_a_read_is_newer_than_what_is_read() -> None:
    store = DictStore({key(1): seal(key(1), b"old")})

    async def test() -> None:
        cache = Cache(store)
        store.gate.clear()
        asked = asyncio.create_task(cache.get_many([key(1)]))
        await asyncio.sleep(0.02)
        cache.put_many({key(1): b"new"})
        store.gate.set()
        assert await asked == {key(1): b"new"}
        assert await cache.get_many([key(1)]) == {key(1): b"new"}
        await cache.close()

    run(test())
    assert store.values[key(1)] == seal(key(1), b"new")
