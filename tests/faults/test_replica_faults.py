"""Replicas that break, die, come and go under load: every question is answered, and few are asked twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.cache import Cache
from rubricate_service.judge import Judge, JudgeFailure, Question, Usage
from rubricate_service.judge.build import build_judge
from rubricate_service.judge.connection import Address
from rubricate_service.judge.http import HttpModel
from rubricate_service.judge.members import Listed
from rubricate_service.judge.pace import SHORTEST_S
from rubricate_service.judge.replicas import Replicas
from rubricate_service.settings import Settings

CRITERIA = 4


@pytest.fixture
def fakes() -> Iterator[list[FakeJudge]]:
    with ExitStack() as stack:
        yield [stack.enter_context(FakeJudge(answer="2", latency_s=0.02)) for _ in range(3)]


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 90)

    asyncio.run(bounded())


def judge_of(fakes: Sequence[FakeJudge], folder: Path) -> Judge:
    urls = ",".join(fake.url for fake in fakes)
    judge = build_judge(Settings(judge=urls, cache=str(folder / "v.db"), judge_concurrency=32))
    assert judge is not None
    return judge


async def ask(judge: Judge, response: str, criterion: int, usage: Usage, seconds: float = 30.0) -> str:
    """The kind of failure, or ``scored``."""
    question = Question((("user", "Say something."),), response, f"Criterion {criterion} is met.")
    try:
        deadline = asyncio.get_running_loop().time() + seconds
        answer = await judge.ask(question, deadline=deadline, usage=usage)
    except JudgeFailure as failure:
        return failure.kind
    assert answer.label == 1.0
    return "scored"


async def ask_all(
    judge: Judge, responses: range, usage: Usage | None = None, seconds: float = 30.0
) -> Counter[str]:
    shared = usage or Usage()
    asked = [ask(judge, f"Response {r}.", c, shared, seconds) for r in responses for c in range(CRITERIA)]
    return Counter(await asyncio.gather(*asked))


def responses_at(fake: FakeJudge) -> set[str]:
    return {line for call in fake.calls for line in call.text.splitlines() if line.startswith("Response ")}


def assert_spread(fakes: Sequence[FakeJudge], responses: int) -> None:
    """All criteria of a response at one replica, and no replica far from its even share of the calls."""
    seen = [responses_at(fake) for fake in fakes]
    assert sum(map(len, seen)) == len(set.union(*seen)) == responses
    even = responses * CRITERIA / len(fakes)
    assert all(0.75 * even <= len(fake.calls) <= 1.25 * even for fake in fakes), [len(f.calls) for f in fakes]


def test_load_is_spread_evenly_and_a_response_stays_together(fakes: list[FakeJudge], tmp_path: Path) -> None:
    async def test() -> None:
        judge = judge_of(fakes, tmp_path)
        usage = Usage()
        assert await ask_all(judge, range(200), usage) == {"scored": 800}
        assert usage.calls == 800
        assert usage.cached_prompt_tokens > 0.6 * usage.prompt_tokens
        assert_spread(fakes, 200)
        await judge.close()

    run(test)


@pytest.mark.parametrize(
    "fault",
    [
        Fault.status(500),
        Fault.status(503),
        Fault.status(429, retry_after=5.0),
        Fault.reset(),
        Fault.garbage("html"),
        Fault.wrong_model("impostor"),
        Fault.slow(30.0),
    ],
    ids=lambda fault: f"F11-{fault.name}",
)
def test_one_bad_replica_of_three(fakes: list[FakeJudge], fault: Fault, tmp_path: Path) -> None:
    fakes[1].fail_when(fault, lambda call: True)

    async def test() -> None:
        judge = judge_of(fakes, tmp_path)
        usage = Usage()
        kinds = await ask_all(judge, range(200), usage)
        assert kinds["scored"] >= 0.99 * 800, kinds
        assert usage.calls <= 1.2 * 800
        await judge.close()

    run(test)


# of fewer responses a replica may get one alone, whose four calls do not make it suspect yet
@pytest.mark.parametrize("responses", [16, 100])
def test_f11_a_hanging_replica_of_three_is_noticed_within_seconds(
    fakes: list[FakeJudge], responses: int, tmp_path: Path
) -> None:
    fakes[1].fail_when(Fault.hang(), lambda call: True)

    async def test() -> None:
        judge = judge_of(fakes, tmp_path)
        usage, began = Usage(), asyncio.get_running_loop().time()
        kinds = await ask_all(judge, range(responses), usage, seconds=10.0)
        took = asyncio.get_running_loop().time() - began
        questions = responses * CRITERIA
        assert kinds["scored"] >= 0.99 * questions, kinds
        assert took < SHORTEST_S + 2.0  # half of the deadline, 5 s, is what nobody's pace is known for
        assert usage.calls <= questions + 16  # what was with it when it hung
        states = {r["replica"]: r["state"] for r in (await judge.status())["replicas"]}
        assert states[fakes[1].url] == "ejected"
        # known now, it costs nothing more
        began = asyncio.get_running_loop().time()
        assert set(await ask_all(judge, range(1000, 1000 + responses), seconds=10.0)) == {"scored"}
        assert asyncio.get_running_loop().time() - began < SHORTEST_S
        await judge.close()

    run(test)


def test_f11_slow_replicas_are_waited_for(
    fakes: list[FakeJudge], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rubricate_service.judge.pace.SHORTEST_S", 0.2)
    for fake in fakes:
        fake.latency_s = 1.0

    async def test() -> None:
        judge = judge_of(fakes, tmp_path)
        usage = Usage()
        assert await ask_all(judge, range(12), usage, seconds=30.0) == {"scored": 48}
        assert usage.calls == 48
        assert {r["state"] for r in (await judge.status())["replicas"]} == {"ok"}
        await judge.close()

    run(test)


def test_f10_a_replica_that_dies_under_load_and_comes_back(fakes: list[FakeJudge], tmp_path: Path) -> None:
    async def test() -> None:
        judge = judge_of(fakes, tmp_path)
        asked = asyncio.create_task(ask_all(judge, range(300)))
        while len(fakes[1].calls) < 100:
            await asyncio.sleep(0.005)
        await asyncio.to_thread(fakes[1].stop)
        assert await asked == {"scored": 1200}
        states = {r["replica"]: r["state"] for r in (await judge.status())["replicas"]}
        assert states == {fakes[0].url: "ok", fakes[1].url: "ejected", fakes[2].url: "ok"}
        await asyncio.to_thread(fakes[1].start)
        before = len(fakes[1].calls)
        async with asyncio.timeout(20):
            start = 300
            while len(fakes[1].calls) < before + 20:
                assert set(await ask_all(judge, range(start, start + 10))) == {"scored"}
                start += 10
        await judge.close()

    run(test)


def test_f7_while_replicas_are_replaced_each_question_is_asked_once(
    fakes: list[FakeJudge], tmp_path: Path
) -> None:
    async def test() -> None:
        judge = judge_of(fakes, tmp_path)
        assert await ask_all(judge, range(100)) == {"scored": 400}
        for number, fake in enumerate(fakes, 1):  # one after the other is replaced by a newer one
            fake.fingerprint = "fp-newer"
            start, usage = 1000 * number, Usage()
            assert await ask_all(judge, range(start, start + 50), usage) == {"scored": 200}
            for _ in range(2):
                assert await ask_all(judge, range(start, start + 50), usage) == {"scored": 200}
            assert (usage.calls, usage.cached) == (200, 400)
        # nobody serves the old version any more
        usage = Usage()
        assert await ask_all(judge, range(4000, 4100), usage) == {"scored": 400}
        assert await ask_all(judge, range(100), usage) == {"scored": 400}
        assert (usage.calls, usage.cached) == (800, 0)
        await judge.close()

    run(test)


def test_f12_when_all_fail_for_ten_seconds_less_than_a_fifth_is_asked_again(
    fakes: list[FakeJudge], tmp_path: Path
) -> None:
    for fake in fakes:
        fake.fail_when(Fault.status(500), lambda call: True)

    async def test() -> None:
        judge = judge_of(fakes, tmp_path)
        usage, kinds, offered = Usage(), Counter[str](), 0
        loop = asyncio.get_running_loop()
        until = loop.time() + 10.0
        while loop.time() < until:
            kinds += await ask_all(judge, range(offered, offered + 10), usage)
            offered += 10
        assert set(kinds) == {"unreachable"}
        assert offered > 100
        assert usage.calls == sum(len(fake.calls) for fake in fakes)
        assert usage.calls <= 1.2 * offered * CRITERIA
        for fake in fakes:
            fake.heal()
        async with asyncio.timeout(30):  # those that were left out come back by themselves
            while (await ask_all(judge, range(offered, offered + 10)))["scored"] < 10 * CRITERIA:
                offered += 10
        await judge.close()

    run(test)


def test_scaling_from_one_to_two_to_one_under_load_loses_nothing(fakes: list[FakeJudge]) -> None:
    one, two, _ = fakes
    addresses: list[Address] = []

    def address(fake: FakeJudge) -> Address:
        return "127.0.0.1", int(fake.url.rpartition(":")[2])

    async def resolve(host: str, port: int) -> Sequence[Address]:
        assert (host, port) == ("judge.test", 8000)
        return list(addresses)

    async def test() -> None:
        members = Listed(["dns+http://judge.test:8000"], lambda url, at: HttpModel(url, address=at), resolve)
        members.every_s = 0.05
        addresses.append(address(one))
        judge = Judge(Replicas(members, 32), Cache(None), secret=b"test")
        asked = asyncio.create_task(ask_all(judge, range(600)))
        while len(one.calls) < 200:
            await asyncio.sleep(0.005)
        addresses.append(address(two))
        while len(two.calls) < 400:
            await asyncio.sleep(0.005)
        together = responses_at(two)
        addresses.remove(address(one))
        while len((await judge.status())["replicas"]) > 1:
            await asyncio.sleep(0.005)
        await asyncio.to_thread(one.stop)
        before = len(two.calls)
        assert await asked == {"scored": 2400}
        assert len(two.calls) > before
        assert not responses_at(one) & together  # no response was split when the second came
        assert {call.headers["host"] for call in two.calls} == {"judge.test:8000"}
        await judge.close()

    run(test)


def test_f17_a_client_that_leaves_takes_what_waits_with_it(fakes: list[FakeJudge], tmp_path: Path) -> None:
    for fake in fakes:
        fake.latency_s = 30.0

    async def test() -> None:
        judge = judge_of(fakes, tmp_path)
        asked = asyncio.create_task(ask_all(judge, range(100)))
        async with asyncio.timeout(20):
            while sum(fake.in_flight for fake in fakes) < 48:
                await asyncio.sleep(0.01)
        asked.cancel()
        async with asyncio.timeout(0.5):
            while any(fake.in_flight for fake in fakes):
                await asyncio.sleep(0.01)
        replicas = (await judge.status())["replicas"]
        assert [(r["in_flight"], r["waiting"]) for r in replicas] == [(0, 0)] * 3
        await judge.close()

    run(test)


def test_readiness_shows_each_replica_without_its_password(fakes: list[FakeJudge], tmp_path: Path) -> None:
    urls = [fake.url.replace("//", "//anna:secret@") for fake in fakes[:2]]
    fakes[1].stop()
    settings = Settings(judge=", ".join(urls), cache=str(tmp_path / "v.db"), check_workers=1)
    with TestClient(create_app(settings)) as client:
        answer = client.get("/readyz")
        judge: dict[str, Any] = answer.json()["checks"]["judge"]
    assert judge["status"] == "ok"
    assert "secret" not in answer.text
    assert judge["replicas"] == [
        {"replica": fakes[0].url, "state": "ok", "limit": 16, "in_flight": 0, "waiting": 0},
        {"replica": fakes[1].url, "state": "ejected", "limit": 16, "in_flight": 0, "waiting": 0},
    ]
