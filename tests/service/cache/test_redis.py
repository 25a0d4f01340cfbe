from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from redis_server import RedisServer, needs_redis, running_redis
from rubricate_service.cache import Cache, Leases, RedisStore, StoreDown
from rubricate_service.cache.redis import redis_name


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis(server: RedisServer) -> RedisServer:
    server.command("FLUSHALL")
    server.command("CONFIG", "RESETSTAT")
    return server


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 20))


@asynccontextmanager
async def store_at(url: str, ttl_s: int = 100) -> AsyncIterator[RedisStore]:
    store = RedisStore(url, ttl_s=ttl_s)
    try:
        yield store
    finally:
        await store.close()


def keys(count: int) -> list[bytes]:
    return [n.to_bytes(32, "big") for n in range(count)]


@needs_redis
def test_values_come_back_and_the_last_one_wins(redis: RedisServer) -> None:
    async def test() -> None:
        async with store_at(redis.url) as store:
            await store.put_many({b"a": b"1", b"b": b"2"})
            await store.put_many({b"b": b"3", b"\x00": b""})
            found = await store.get_many([b"a", b"b", b"c", b"\x00"])
            assert found == {b"a": b"1", b"b": b"3", b"\x00": b""}
            assert await store.get_many([]) == {}
        async with store_at(redis.url) as other:
            assert await other.get_many([b"b"]) == {b"b": b"3"}

    run(test())


@needs_redis
def test_what_is_asked_in_one_turn_is_one_round_trip(redis: RedisServer) -> None:
    async def test() -> None:
        cache = Cache(RedisStore(redis.url))
        for key in keys(500):
            cache.put_many({key: key[-2:]})
        await cache.close()
        cache = Cache(RedisStore(redis.url))
        found = await asyncio.gather(*(cache.get_many([key]) for key in keys(1_000)))
        assert found == [{key: key[-2:]} if n < 500 else {} for n, key in enumerate(keys(1_000))]
        await cache.close()
        assert redis.calls("mget") == 1

    run(test())


@needs_redis
def test_a_batch_of_any_size_arrives(redis: RedisServer) -> None:
    async def test() -> None:
        async with store_at(redis.url) as store:
            values = {key: key[-3:] for key in keys(30_000)}
            await store.put_many(values)
            assert await store.get_many(list(values)) == values
            assert (await store.stats()).entries == await store.purge() == 30_000

    run(test())


@needs_redis
def test_values_expire(redis: RedisServer) -> None:
    async def test() -> None:
        async with store_at(redis.url, ttl_s=1) as store:
            await store.put_many({b"k": b"v"})
            assert await store.get_many([b"k"]) == {b"k": b"v"}
            await asyncio.sleep(1.1)
            assert await store.get_many([b"k"]) == {}

    run(test())


@needs_redis
def test_stats_and_purge_leave_alone_what_is_not_ours(redis: RedisServer) -> None:
    async def test() -> None:
        redis.command("SET", "theirs", "1")
        redis.command("CONFIG", "SET", "maxmemory", "64mb")
        async with store_at(redis.url) as store:
            await store.put_many(dict.fromkeys(keys(10), b"v"))
            stats = await store.stats()
            assert (stats.entries, stats.most_bytes) == (10, 64 << 20)
            assert 0 < stats.bytes < 64 << 20
            assert await store.purge() == 10
            assert (await store.stats()).entries == await store.purge() == 0
        assert redis.command("GET", "theirs") == b"1"

    run(test())


@needs_redis
def test_leases_run_out_unless_renewed(redis: RedisServer) -> None:
    async def test() -> None:
        async with store_at(redis.url) as one, store_at(redis.url) as other:
            assert await one.claim([b"a", b"b", b"c"], 0.2) == {b"a": True, b"b": True, b"c": True}
            assert await other.claim([b"a", b"d"], 0.2) == {b"a": False, b"d": True}
            await one.release([b"b"])
            for _ in range(3):
                await asyncio.sleep(0.1)
                await one.renew([b"a"], 0.2)
            assert await other.claim([b"a", b"b", b"c"], 0.2) == {b"a": False, b"b": True, b"c": True}

    run(test())


@needs_redis
def test_a_value_that_another_process_makes_is_waited_for(redis: RedisServer) -> None:
    async def test() -> None:
        caches = [Cache(store, Leases(store)) for store in (RedisStore(redis.url) for _ in range(4))]
        made = 0

        async def ask(cache: Cache, key: bytes) -> bytes:
            nonlocal made

            async def look() -> bytes | None:
                return (await cache.get_many([key])).get(key)

            async with cache.turn(key, look, asyncio.get_running_loop().time() + 10) as value:
                if value is None:
                    made += 1
                    value = str(made).encode()
                    await asyncio.sleep(0.1)
                    cache.put_many({key: value})
                return value

        answers = await asyncio.gather(*(ask(cache, key) for key in keys(50) for cache in caches))
        assert made == 50
        assert all(len(set(answers[start : start + 4])) == 1 for start in range(0, 200, 4))
        for cache in caches:
            await cache.close()
        assert redis.command("KEYS", "rubricate:lease:*") == []

    run(test())


@needs_redis
@pytest.mark.parametrize("before", [0.0, 0.001, 0.06, 0.12, 0.17])
def test_a_stalled_event_loop_is_not_taken_for_a_slow_server(redis: RedisServer, before: float) -> None:
    async def test() -> None:
        async with store_at(redis.url) as store:
            await store.put_many({b"k": b"v"})
            read = asyncio.create_task(store.get_many([b"k"]))
            await asyncio.sleep(before)
            time.sleep(0.4)
            assert await read == {b"k": b"v"}

    run(test())


@needs_redis
def test_a_busy_event_loop_is_not_taken_for_a_slow_server(redis: RedisServer) -> None:
    async def keep_busy() -> None:
        while True:
            time.sleep(0.06)
            await asyncio.sleep(0)

    async def test() -> None:
        busy = asyncio.create_task(keep_busy())
        async with store_at(redis.url) as store:
            assert await store.get_many([b"k"]) == {}  # connects first
        busy.cancel()

    run(test())


@needs_redis
def test_a_password_is_used_and_never_shown(tmp_path: Path) -> None:
    async def test() -> None:
        with running_redis(tmp_path, "--requirepass", "open sesame") as server:
            host = f"127.0.0.1:{server.port}"
            async with store_at(f"redis://:open%20sesame@{host}/0") as store:
                await store.put_many({b"k": b"v"})
                assert await store.get_many([b"k"]) == {b"k": b"v"}
            async with store_at(f"redis://someone:s3cret@{host}/0") as store:
                with pytest.raises(StoreDown, match=host) as caught:
                    await store.get_many([b"k"])
                assert "s3cret" not in str(caught.value) + store.name

    run(test())


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("redis://cache", "redis://cache:6379"),
        ("redis://user:pass@cache:7000/3", "redis://cache:7000/3"),
        ("rediss://:p%40ss@[::1]/0?ssl_ca_certs=x", "rediss://[::1]:6379/0"),
    ],
)
def test_names_hold_no_secret(url: str, name: str) -> None:
    assert redis_name(url) == name
