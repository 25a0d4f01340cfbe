"""Tenants share neither verdicts nor calls nor the prefix cache, unless they shall, and take turns."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web
from http_engine_helpers import MESSAGES, against, later
from scripted_engine import QUESTION, ScriptedEngine, ask, judge_of, run

from rubricate_clients.testing import FakeJudge
from rubricate_service.cache import Cache, LmdbStore
from rubricate_service.judge import Answer, Judge, Manner, Usage
from rubricate_service.judge.build import build_judge
from rubricate_service.judge.http import HttpModel
from rubricate_service.judge.members import Fixed
from rubricate_service.judge.replicas import Replicas
from rubricate_service.settings import Settings


@pytest.mark.parametrize(
    ("is_shared", "expected"),
    [
        (False, [Usage(calls=3, joined=1), Usage(cached=4)]),
        (True, [Usage(calls=1, joined=3), Usage(cached=4)]),
    ],
)
def test_a15_verdicts_and_calls_of_four_requests_by_three_tenants(
    is_shared: bool, expected: list[Usage]
) -> None:
    async def test() -> None:
        judge = judge_of(ScriptedEngine(latency_s=0.02), is_shared=is_shared)
        for counts in expected:
            usage = Usage()
            await asyncio.gather(*(ask(judge, usage=usage, tenant=tenant) for tenant in ("", "a", "b", "b")))
            assert usage == counts

    run(test())


def test_a15_a_file_keeps_tenants_apart(tmp_path: Path) -> None:
    async def test() -> None:
        for calls, cached in ((2, 0), (0, 2)):
            judge, usage = judge_of(ScriptedEngine(), LmdbStore(tmp_path / "v.db")), Usage()
            for tenant in "ab":
                await ask(judge, usage=usage, tenant=tenant)
            assert (usage.calls, usage.cached) == (calls, cached)
            await judge.close()

    run(test())


def salts(judge: Judge, engine: ScriptedEngine, *tenants: str) -> list[str]:
    async def test() -> None:
        for tenant in tenants:
            await ask(judge, cache="off", tenant=tenant)

    run(test())
    return [manner.salt for manner in engine.manners]


def test_a15_each_tenant_has_its_salt_which_the_secret_decides() -> None:
    engine = ScriptedEngine()
    none, a, b, again = salts(judge_of(engine), engine, "", "a", "b", "a")
    assert none == ""
    assert a == again != b
    assert len(a) == len(b) == 64
    others = ScriptedEngine()
    other = Judge(Replicas(Fixed({"one": others})), Cache(None), secret=b"another")
    assert salts(other, others, "a") not in ([a], [b])


def test_tenants_that_share_verdicts_share_the_prefix_cache() -> None:
    engine = ScriptedEngine()
    assert salts(judge_of(engine, is_shared=True), engine, "a", "b") == ["", ""]


@pytest.mark.parametrize("salt", ["", "s1"])
@pytest.mark.parametrize("owner", ["vllm", "someone", None])
def test_a15_only_vllm_is_sent_a_salt(owner: str | None, salt: str) -> None:
    bodies = []

    async def handler(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response({"data": [{"id": "a", "owned_by": owner}]})
        if request.path == "/v1/chat/completions":
            bodies.append(await request.json())
            return web.json_response({"choices": [{"message": {"content": "2"}}]})
        raise web.HTTPNotFound

    async def test(engine: HttpModel) -> None:
        await engine.identify(later())
        await engine.complete(MESSAGES, later(), Manner(salt=salt))

    run(against(handler, test))
    is_sent = salt and owner == "vllm"
    assert [body.get("cache_salt") for body in bodies] == [salt if is_sent else None]
    assert ("cache_salt" in bodies[0]) == bool(is_sent)


def test_a15_the_same_salt_finds_a_prefix_and_another_does_not(fake: FakeJudge, tmp_path: Path) -> None:
    judge = build_judge(Settings(judge=fake.url, cache=str(tmp_path / "v.db"), secret="s"))
    assert judge is not None

    async def test() -> None:
        for tenant in "aabb":
            usage = Usage()
            question = replace(QUESTION, criterion=f"Criterion {len(fake.calls)}.")
            await ask(judge, question, usage=usage, tenant=tenant)
            is_first = len(fake.calls) in (1, 3)
            assert (usage.cached_prompt_tokens == 0) == is_first
        await judge.close()

    run(test())


def test_a23_a_tenant_with_a_thousand_questions_starves_no_other(fake: FakeJudge, tmp_path: Path) -> None:
    fake.latency_s = 0.01
    settings = Settings(judge=fake.url, cache=str(tmp_path / "v.db"), judge_concurrency=4)
    judge = build_judge(settings)
    assert judge is not None

    def asked(tenant: str, count: int) -> list[asyncio.Task[Answer]]:
        # five to a request and one to a response
        usages = [Usage() for _ in range(count // 5)]
        return [
            asyncio.create_task(
                ask(judge, replace(QUESTION, response=f"{tenant} {n}"), usage=usages[n // 5], tenant=tenant)
            )
            for n in range(count)
        ]

    async def test() -> None:
        large = asked("large", 1000)
        while not fake.calls:
            await asyncio.sleep(0.01)
        small = asked("small", 20)
        await asyncio.gather(*small)
        for task in large:
            task.cancel()
        await asyncio.gather(*large, return_exceptions=True)
        await judge.close()

    run(test())
    places = [n for n, call in enumerate(fake.calls) if "small " in call.text]
    assert len(places) == 20
    # every other call is the small tenant's; those in flight together arrive in any order
    assert all(later - earlier <= 2 + 4 for earlier, later in pairwise(places))
    assert places[-1] - places[0] <= 2 * 20 + 4


def test_a23_requests_of_a_tenant_take_turns_within_its_share(fake: FakeJudge, tmp_path: Path) -> None:
    fake.latency_s = 0.005
    judge = build_judge(Settings(judge=fake.url, cache=str(tmp_path / "v.db"), judge_concurrency=1))
    assert judge is not None

    async def test() -> None:
        asked = []
        for tenant, request, count in (("a", "one", 30), ("a", "two", 5), ("b", "three", 5)):
            usage = Usage()
            for n in range(count):
                question = replace(QUESTION, response=f"<{request}> {n}")
                asked.append(asyncio.create_task(ask(judge, question, usage=usage, tenant=tenant)))
                await asyncio.sleep(0)
        await asyncio.gather(*asked)
        await judge.close()

    run(test())
    order = [name for call in fake.calls for name in ("one", "two", "three") if f"<{name}>" in call.text]
    assert len(order) == 40
    last = {name: len(order) - order[::-1].index(name) for name in ("two", "three")}
    assert last["three"] <= 2 * 5 + 3  # every other call
    assert last["two"] <= 2 * 5 + 5 + 5 + 4  # every other call of its tenant's
