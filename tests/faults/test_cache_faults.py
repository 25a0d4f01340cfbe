"""A shared cache that is down, frozen, full or corrupt: it costs 0.2 s once, and never a verdict."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import ValidationError
from redis.exceptions import OutOfMemoryError
from starlette.testclient import TestClient

from redis_server import RedisServer, needs_redis, running_redis
from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.cache import Cache, Leases, RedisStore
from rubricate_service.secret import delimiter_key
from rubricate_service.settings import Settings
from serving import running_server

pytestmark = needs_redis

ONCE_S = 0.2
SLACK_S = 0.3  # for a machine that does other things as well

GROUP = {
    "prompt": "Say something.",
    "rubrics": [
        {"check": "punctuation:no_comma"},
        {"criterion": "It is kind."},
        {"criterion": "It is true."},
    ],
    "responses": ["good one", "good two", "bad, three"],
}
CALLS = 4  # two criteria on each of the two responses that hold


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    with running_redis(tmp_path) as server:
        yield server


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="2") as judge:
        yield judge


def key(n: int) -> bytes:
    return n.to_bytes(32, "big")


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


def cache_at(redis: RedisServer) -> Cache:
    store = RedisStore(redis.url)
    return Cache(store, Leases(store), lru_entries=1)  # so that all is asked of the store


async def value_of(cache: Cache, key: bytes) -> bytes | None:
    return (await cache.get_many([key])).get(key)


def service(judge: FakeJudge, redis: RedisServer) -> TestClient:
    return TestClient(create_app(Settings(judge=judge.url, cache=redis.url, check_workers=1)))


def scored(client: TestClient | httpx2.Client) -> dict[str, Any]:
    """The judge's counters of a request in which every verdict was made."""
    answer = client.post("/v1/score", json={"groups": [GROUP]})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    responses = body["groups"][0]["responses"]
    assert [[v["status"] for v in r["rubrics"]] for r in responses] == [
        ["scored"] * 3, ["scored"] * 3, ["scored", "skipped", "skipped"],
    ]  # fmt: skip
    assert [r["quality"] for r in responses] == [1.0, 1.0, None]
    stats: dict[str, Any] = body["stats"]["judge"]
    return stats


def readiness(client: TestClient) -> tuple[str, dict[str, Any]]:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    return answer.json()["status"], answer.json()["checks"]["cache"]


def wait_for(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_second_service_makes_no_calls(judge: FakeJudge, redis: RedisServer) -> None:
    with service(judge, redis) as first:
        assert scored(first)["calls"] == CALLS
        assert (scored(first)["calls"], scored(first)["cached"]) == (0, CALLS)
    with service(judge, redis) as second:
        assert scored(second)["calls"] == 0
        assert readiness(second) == ("ok", {"status": "ok", "store": redis.url})
    assert len(judge.calls) == CALLS


@pytest.mark.parametrize("has_met_its_judge", [False, True])
def test_fifty_requests_at_once_to_two_services_are_one_call_each_rubric(
    judge: FakeJudge, redis: RedisServer, has_met_its_judge: bool
) -> None:
    """The judge's `system_fingerprint`, learned with the first answer, is part of the key."""
    judge.latency_s = 0.3
    settings = Settings(judge=judge.url, cache=redis.url, check_workers=1)
    with ExitStack() as stack:
        urls = [stack.enter_context(running_server(create_app(settings))) for _ in range(2)]
        clients = [
            stack.enter_context(httpx2.Client(base_url=url, trust_env=False, timeout=30)) for url in urls
        ]
        if has_met_its_judge:
            other = GROUP | {"responses": ["another"]}
            assert clients[0].post("/v1/score", json={"groups": [other]}).status_code == 200
        met = len(judge.calls)
        with ThreadPoolExecutor(50) as pool:
            stats = list(pool.map(scored, clients * 25))
    assert len(judge.calls) - met == CALLS
    assert sum(s["calls"] for s in stats) == CALLS


def test_f13_a_redis_that_is_down_at_the_start_is_done_without_and_taken_up(
    judge: FakeJudge, redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    redis.kill()
    with caplog.at_level(logging.WARNING, "rubricate.cache"), service(judge, redis) as client:
        assert scored(client)["calls"] == CALLS
        status, line = readiness(client)
        assert (status, line["status"], line["unsaved"]) == ("degraded", "failing", CALLS + 1)
        assert f"{redis.url} does not answer" in line["reason"]
        redis.start()
        wait_for(lambda: readiness(client)[0] == "ok")
        assert scored(client)["cached"] == CALLS
    said = [record.getMessage() for record in caplog.records if record.name == "rubricate.cache"]
    assert [message.split(":")[0] for message in said] == [
        "the cache cannot be reached, and verdicts are made without",
        "the cache can be reached again",
    ]


Fault = Callable[[RedisServer], object]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(RedisServer.freeze, id="frozen"),
        pytest.param(RedisServer.kill, id="killed"),
        pytest.param(lambda redis: redis.command("CLIENT", "PAUSE", 60_000), id="paused"),
    ],
)
def test_f14_a_redis_that_goes_costs_a_fifth_of_a_second_once(redis: RedisServer, fault: Fault) -> None:
    async def test() -> None:
        cache = cache_at(redis)
        cache.put_many({key(n): b"v" for n in range(10)})
        await asyncio.sleep(0.1)
        assert len(await cache.get_many(map(key, range(10)))) == 10
        fault(redis)
        waits = []
        for n in range(100):
            for k in (n % 9, 100 + n):  # the ninth is in the process
                began = time.monotonic()
                until = asyncio.get_running_loop().time() + 10
                async with cache.turn(key(k), partial(value_of, cache, key(k)), until) as value:
                    assert value is None
                waits.append(time.monotonic() - began)
                cache.put_many({key(200 + n): b"v"})
            await asyncio.sleep(0.02)  # two seconds in all, in which it is tried again
        long = [wait for wait in waits if wait > 0.75 * ONCE_S]
        assert len(long) <= 1
        assert sum(long) < ONCE_S + SLACK_S
        assert (await cache.status())["status"] == "failing"
        began = time.monotonic()
        await cache.close()
        assert time.monotonic() - began < ONCE_S + SLACK_S

    run(test())


def garble(redis: RedisServer) -> None:
    for name in redis.command("KEYS", "rubricate:value:*"):
        redis.command("SET", name, os.urandom(41))


def fill_up(redis: RedisServer) -> None:
    fill(redis, "noeviction")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(RedisServer.kill, id="F14-killed"),
        pytest.param(RedisServer.freeze, id="F14-frozen"),
        pytest.param(fill_up, id="F15-full"),
        pytest.param(garble, id="F16-garbage"),
    ],
)
def test_what_befalls_redis_in_the_middle_of_a_batch_costs_no_verdict(
    judge: FakeJudge, redis: RedisServer, fault: Fault
) -> None:
    judge.latency_s = 0.05
    group = GROUP | {"responses": [f"number {n}" for n in range(100)]}
    with service(judge, redis) as client, ThreadPoolExecutor(1) as pool:
        scored(client)
        batch = pool.submit(client.post, "/v1/score", json={"groups": [group]})
        wait_for(lambda: len(judge.calls) >= 50)
        fault(redis)
        body = batch.result(30).json()
    counts = body["stats"]["judge"]
    assert (counts["scored"], counts["failed"], counts["calls"]) == (200, 0, 200)
    assert all(r["quality"] == 1.0 for r in body["groups"][0]["responses"])
    assert len(judge.calls) == CALLS + 200


def test_f14_a_batch_while_redis_is_frozen_takes_hardly_longer_and_what_was_there_is_there_again(
    judge: FakeJudge, redis: RedisServer
) -> None:
    with service(judge, redis) as client:
        scored(client)
        times = []
        for fault in (None, RedisServer.freeze):
            if fault is not None:
                fault(redis)
            group = GROUP | {"responses": [f"{fault} {n}" for n in range(50)]}
            began = time.monotonic()
            body = client.post("/v1/score", json={"groups": [group]}).json()
            times.append(time.monotonic() - began)
            assert body["stats"]["judge"]["scored"] == 100
        assert times[1] < times[0] + ONCE_S + 2 * SLACK_S
        assert readiness(client)[1]["status"] == "failing"
        redis.thaw()
        wait_for(lambda: readiness(client)[0] == "ok")
    with service(judge, redis) as other:
        assert scored(other)["cached"] == CALLS


def test_f14_no_answer_from_before_a_freeze_is_given_to_a_later_question(redis: RedisServer) -> None:
    async def test() -> None:
        store = RedisStore(redis.url)
        await store.put_many({key(n): key(n) for n in range(100)})
        redis.freeze()
        for n in range(3):
            with pytest.raises(Exception, match="does not answer"):
                await store.get_many([key(n)])
        redis.thaw()
        for _ in range(100):
            await asyncio.sleep(0.05)
            try:
                found = [await store.get_many([key(n)]) for n in range(100)]
            except Exception:  # it is tried again once a second
                continue
            assert found == [{key(n): key(n)} for n in range(100)]
            break
        else:
            pytest.fail("it never came back")
        await store.close()

    run(test())


def fill(redis: RedisServer, policy: str) -> None:
    """Put other people's data until the server has no room left, or drops some of them."""
    redis.command("CONFIG", "SET", "maxmemory", "2mb", "maxmemory-policy", policy)
    with suppress(OutOfMemoryError):
        for size in (10_000, 100):
            for n in range(400):
                redis.command("SET", f"x{size}:{n}", b"x" * size)


def test_f15_a_full_redis_is_read_and_no_longer_written(judge: FakeJudge, redis: RedisServer) -> None:
    with service(judge, redis) as client:
        scored(client)
    fill(redis, "noeviction")
    redis.command("CONFIG", "SET", "maxmemory", "1mb")  # buffers that clients give back shall make no room
    with service(judge, redis) as client:
        assert scored(client)["cached"] == CALLS
        fresh = GROUP | {"responses": ["fresh one", "fresh two"]}
        body = client.post("/v1/score", json={"groups": [fresh]}).json()
        assert body["stats"]["judge"]["scored"] == 4
        wait_for(lambda: readiness(client)[0] == "degraded")
        line = readiness(client)[1]
        assert "maxmemory" in line["reason"]
        assert line["unsaved"] == 4
        assert "fresh" not in line["reason"]
    with service(judge, redis) as client:
        assert scored(client)["cached"] == CALLS


def test_f15_a_redis_that_evicts_goes_on_taking_verdicts(judge: FakeJudge, redis: RedisServer) -> None:
    fill(redis, "allkeys-lru")
    for calls in (CALLS, 0):
        with service(judge, redis) as client:
            assert scored(client)["calls"] == calls
            assert readiness(client)[0] == "ok"


@pytest.mark.parametrize("junk", [b"", bytes(range(200, 233)), b"\x01" * 33, b"x" * 100_000])
def test_f16_random_bytes_under_a_key_are_no_verdict_and_are_replaced(
    judge: FakeJudge, redis: RedisServer, junk: bytes
) -> None:
    with service(judge, redis) as client:
        scored(client)
    names = redis.command("KEYS", "rubricate:value:*")
    assert len(names) == CALLS + 1  # one remembers the judge's system_fingerprint
    for name in names:
        redis.command("SET", name, junk)
    for calls in (CALLS, 0):
        with service(judge, redis) as client:
            assert scored(client)["calls"] == calls


@pytest.mark.parametrize("lives", [False, True])
def test_a_replica_that_dies_or_hangs_with_the_turn_is_waited_for_in_bounds(
    judge: FakeJudge, redis: RedisServer, lives: bool
) -> None:
    async def test() -> None:
        holder, cache = RedisStore(redis.url), cache_at(redis)
        assert await holder.claim([key(1)], 60.0 if lives else 0.5) == {key(1): True}
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with cache.turn(key(1), partial(value_of, cache, key(1)), began + 1.5) as value:
            waited = loop.time() - began
            assert value is None
        assert (1.2 if lives else 0.4) < waited < (1.5 if lives else 1.2) + SLACK_S
        await cache.close()
        await holder.close()

    run(test())


def test_a_secret_that_is_empty_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRICATE_SECRET", "")
    with pytest.raises(ValidationError, match="secret"):
        Settings()


def test_replicas_share_the_secret_of_the_delimiters(redis: RedisServer) -> None:
    settings = Settings(cache=redis.url)
    assert delimiter_key(settings) == delimiter_key(settings)
    assert len(delimiter_key(settings)) == 32
    assert delimiter_key(Settings(cache=redis.url, secret="given")) == b"given"
    redis.kill()
    assert delimiter_key(settings) != delimiter_key(settings)


def test_a18_a_password_reaches_neither_log_nor_readiness(
    judge: FakeJudge, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running_redis(tmp_path, "--requirepass", "another") as redis:
        url = redis.url.replace("redis://", "redis://:XYZZY-PLUGH@")
        settings = Settings(judge=judge.url, cache=url, check_workers=1)
        with caplog.at_level(logging.DEBUG), TestClient(create_app(settings)) as client:
            scored(client)
            status, line = readiness(client)
    assert (status, line["status"], line["store"]) == ("degraded", "failing", redis.url)
    assert "XYZZY-PLUGH" not in caplog.text + str(line) + repr(settings)
