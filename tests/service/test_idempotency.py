"""One answer for one key: kept, shared while under way, and never given to another request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from redis_server import needs_redis, running_redis
from rubricate_service.app import create_app
from rubricate_service.cache.redis import RedisStore
from rubricate_service.errors import Conflict, Overloaded
from rubricate_service.http.idempotency import Idempotency, SharedAnswers
from rubricate_service.http.settings import IdempotencySettings
from rubricate_service.settings import Settings

RUBRICS = [{"check": "punctuation:no_comma"}]
BODY = {"groups": [{"prompt": "p", "rubrics": RUBRICS, "responses": ["a"]}]}
OTHER = {"groups": [{"prompt": "q", "rubrics": RUBRICS, "responses": ["a"]}]}
KEY = b"k" * 32


class Work:
    """Makes an answer when told to, and counts how often it was asked to and cancelled."""

    def __init__(self, body: bytes = b"answer", failure: Exception | None = None) -> None:
        self.began = self.cancelled = 0
        self.go = asyncio.Event()
        self.body, self.failure = body, failure

    async def __call__(self) -> bytes:
        self.began += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.failure is not None:
            raise self.failure
        return self.body


def idempotency(shared: SharedAnswers | None = None, **settings: Any) -> Idempotency:
    return Idempotency(IdempotencySettings(**settings), shared)


def test_requests_that_meet_share_one_work_and_later_ones_its_answer() -> None:
    async def script() -> None:
        answers, work = idempotency(), Work()
        tasks = [asyncio.create_task(answers.once(KEY, b"r", work)) for _ in range(50)]
        await asyncio.sleep(0.01)
        work.go.set()
        assert await asyncio.gather(*tasks) == [(b"answer", False)] * 50
        assert await answers.once(KEY, b"r", work) == (b"answer", True)
        assert work.began == 1

    asyncio.run(script())


def test_another_request_under_the_key_is_a_conflict_while_and_after_the_first() -> None:
    async def script() -> None:
        answers, work = idempotency(), Work()
        first = asyncio.create_task(answers.once(KEY, b"r", work))
        await asyncio.sleep(0.01)
        with pytest.raises(Conflict):
            await answers.once(KEY, b"s", work)
        work.go.set()
        assert (await first).body == b"answer"
        with pytest.raises(Conflict):
            await answers.once(KEY, b"s", work)
        assert (await answers.once(b"l" * 32, b"s", work)).is_replayed is False

    asyncio.run(script())


def test_a_client_that_leaves_does_not_take_the_answer_from_those_who_wait_with_it() -> None:
    async def script() -> None:
        answers, work = idempotency(), Work()
        first, second = [asyncio.create_task(answers.once(KEY, b"r", work)) for _ in range(2)]
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.sleep(0.01)
        work.go.set()
        assert (await second).body == b"answer"
        assert (work.began, work.cancelled) == (1, 0)

    asyncio.run(script())


def test_the_work_ends_when_the_last_client_has_left_and_a_later_one_begins_anew() -> None:
    async def script() -> None:
        answers, work = idempotency(), Work()
        tasks = [asyncio.create_task(answers.once(KEY, b"r", work)) for _ in range(3)]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        later = asyncio.create_task(answers.once(KEY, b"r", work))
        await asyncio.sleep(0.01)
        assert work.cancelled == 1
        work.go.set()
        assert await later == (b"answer", False)
        assert work.began == 2

    asyncio.run(script())


def test_a_refusal_is_told_to_all_who_wait_and_is_not_kept() -> None:
    async def script() -> None:
        answers, work = idempotency(), Work(failure=Overloaded("full", 1))
        tasks = [asyncio.create_task(answers.once(KEY, b"r", work)) for _ in range(3)]
        await asyncio.sleep(0.01)
        work.go.set()
        for task in tasks:
            with pytest.raises(Overloaded):
                await task
        work.failure = None
        assert await answers.once(KEY, b"r", work) == (b"answer", False)

    asyncio.run(script())


def test_memory_is_bounded_and_the_oldest_answers_go_first() -> None:
    async def script() -> None:
        answers, work = idempotency(memory_bytes=1000), Work(b"x" * 200)
        work.go.set()
        for n in range(6):
            await answers.once(b"%032d" % n, b"r", work)
        kept = [(await answers.once(b"%032d" % n, b"r", work)).is_replayed for n in (5, 0)]
        assert kept == [True, False]
        large = Work(b"x" * 251)
        large.go.set()
        for _ in range(2):
            assert (await answers.once(b"l" * 32, b"r", large)).is_replayed is False

    asyncio.run(script())


def test_an_answer_is_forgotten_in_time() -> None:
    async def script() -> None:
        answers, work = idempotency(ttl_s=1), Work()
        work.go.set()
        await answers.once(KEY, b"r", work)
        assert (await answers.once(KEY, b"r", work)).is_replayed
        await asyncio.sleep(1.1)
        assert not (await answers.once(KEY, b"r", work)).is_replayed

    asyncio.run(script())


@needs_redis
def test_processes_that_share_a_redis_share_the_answer_and_the_work(tmp_path: Path) -> None:
    async def script(url: str) -> None:
        one, two = [idempotency(SharedAnswers(RedisStore(url))) for _ in range(2)]
        work = Work()
        first = asyncio.create_task(one.once(KEY, b"r", work))
        await asyncio.sleep(0.2)
        second = asyncio.create_task(two.once(KEY, b"r", work))
        other = asyncio.create_task(two.once(b"l" * 32, b"r", work))
        await asyncio.sleep(0.3)
        assert work.began == 2  # one for each key
        work.go.set()
        assert await first == (b"answer", False)
        assert await second == (b"answer", True)
        assert await other == (b"answer", False)
        with pytest.raises(Conflict):
            await one.once(b"l" * 32, b"s", work)
        assert work.began == 2
        await asyncio.gather(one.aclose(), two.aclose())

    with running_redis(tmp_path) as redis:
        asyncio.run(script(redis.url))


@needs_redis
def test_another_process_takes_over_when_the_first_fails(tmp_path: Path) -> None:
    async def script(url: str) -> None:
        one, two = [idempotency(SharedAnswers(RedisStore(url))) for _ in range(2)]
        failing, good = Work(failure=Overloaded("full", 1)), Work()
        good.go.set()
        first = asyncio.create_task(one.once(KEY, b"r", failing))
        await asyncio.sleep(0.2)
        second = asyncio.create_task(two.once(KEY, b"r", good))
        await asyncio.sleep(0.2)
        assert not second.done()
        failing.go.set()
        with pytest.raises(Overloaded):
            await first
        assert await asyncio.wait_for(second, 10) == (b"answer", False)
        await asyncio.gather(one.aclose(), two.aclose())

    with running_redis(tmp_path) as redis:
        asyncio.run(script(redis.url))


@needs_redis
def test_a_redis_that_is_gone_or_lies_costs_no_answer(tmp_path: Path) -> None:
    async def script() -> None:
        with running_redis(tmp_path) as redis:
            one = idempotency(SharedAnswers(RedisStore(redis.url)))
            work = Work()
            work.go.set()
            await one.once(KEY, b"r", work)
            redis.command("SET", b"rubricate:value:" + KEY, b"junk")
            two = idempotency(SharedAnswers(RedisStore(redis.url)))
            assert await two.once(KEY, b"r", work) == (b"answer", False)
        three = idempotency(SharedAnswers(RedisStore(redis.url)))
        assert await asyncio.wait_for(three.once(KEY, b"r", work), 10) == (b"answer", False)
        assert await three.once(KEY, b"r", work) == (b"answer", True)
        await asyncio.gather(one.aclose(), two.aclose(), three.aclose())

    asyncio.run(script())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    cache = str(tmp_path_factory.mktemp("idempotency") / "v.db")
    with TestClient(create_app(Settings(cache=cache, check_workers=1))) as client:
        yield client


def post(service: TestClient, body: Any, key: str, **headers: str) -> Any:
    return service.post("/v1/score", json=body, headers={"Idempotency-Key": key, **headers})


def test_a_retry_gets_the_very_bytes_of_the_first_answer(service: TestClient) -> None:
    first, second = post(service, BODY, "retry"), post(service, BODY, "retry")
    assert (first.status_code, second.status_code) == (200, 200)
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert first.content == second.content  # the seconds in its stats included
    assert post(service, BODY, "another").content != first.content


def test_a_key_of_another_request_is_409(service: TestClient) -> None:
    post(service, BODY, "taken")
    answer = post(service, OTHER, "taken")
    assert (answer.status_code, answer.json()["error"]["type"]) == (409, "conflict")


def test_a_key_of_another_query_is_409(service: TestClient) -> None:
    """The answer to `?key=outcome` was replayed for a request without that query."""
    sent = {"prompt": "p", "response": "a", "label": {"rubrics": RUBRICS, "size": 1}}

    def ask(query: str) -> Any:
        return service.post(f"/compat/slime{query}", json=sent, headers={"Idempotency-Key": "query"})

    first, again = ask("?key=outcome"), ask("?key=outcome")
    assert (first.json(), again.json(), again.headers["Idempotent-Replayed"]) == (1.0, 1.0, "true")
    for query in ("", "?key=reward", "?key=outcome&run=b"):
        assert (ask(query).status_code, ask(query).json()["error"]["type"]) == (409, "conflict")


def test_a_faulty_request_leaves_its_key_free(service: TestClient) -> None:
    assert post(service, {"groups": []}, "free").status_code == 422
    assert post(service, BODY, "free").status_code == 200


@pytest.mark.parametrize("key", ["", "k" * 256, "tab\tkey", "k\u00e9y", "\x7f"])
def test_what_is_no_key_is_422(service: TestClient, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode("latin-1")}
    answer = service.post("/v1/score", json=BODY, headers=headers)
    assert (answer.status_code, answer.json()["error"]["type"]) == (422, "invalid_request")
    assert "Idempotency-Key" in answer.json()["error"]["message"]


def test_the_longest_key_is_taken(service: TestClient) -> None:
    assert post(service, BODY, "~" * 255).status_code == 200


def test_a_stream_is_neither_kept_nor_replayed(service: TestClient) -> None:
    for _ in range(2):
        answer = post(service, BODY, "stream", Accept="application/x-ndjson")
        assert answer.status_code == 200
        assert "Idempotent-Replayed" not in answer.headers
