from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace

import pytest
from scripted_engine import QUESTION, ScriptedEngine, Step, ask, failure_of, judge_of, run

from rubricate_service.judge import Answer, Completion, JudgeFailure, Usage
from rubricate_service.judge.judge import CacheMode

GARBAGE = Completion("I would say 2", model="model")
DOWN = JudgeFailure("unreachable", "down")
BUSY = JudgeFailure("overloaded", "busy", retry_after=0.05)


@pytest.mark.parametrize(
    ("script", "kind", "calls"),
    [
        pytest.param([DOWN, DOWN], None, 3, id="machinery fails twice"),
        pytest.param([DOWN] * 9, "unreachable", 3, id="machinery keeps failing"),
        pytest.param([GARBAGE], None, 2, id="unreadable once"),
        pytest.param([GARBAGE] * 9, "unreadable", 2, id="unreadable twice"),
        pytest.param([Completion("", "length")] * 9, "truncated", 2, id="truncated twice"),
        pytest.param(
            [GARBAGE, Completion("", "length"), GARBAGE], "truncated", 2, id="content is re-asked once in all"
        ),
        pytest.param([DOWN, GARBAGE, DOWN], None, 4, id="each class has its own allowance"),
        pytest.param([BUSY] * 12, None, 13, id="overload spends none"),
        pytest.param([JudgeFailure("too_long", "x")] * 9, "too_long", 1, id="too long"),
        pytest.param([JudgeFailure("refused", "x")] * 9, "refused", 1, id="refused call"),
        pytest.param([Completion("2", "content_filter")] * 9, "refused", 1, id="refused question"),
        pytest.param([JudgeFailure("unauthorized", "x")] * 9, "unauthorized", 1, id="unauthorized"),
        pytest.param([Completion("2", model="other")] * 9, "identity", 1, id="another model"),
    ],
)
def test_what_is_asked_again(
    script: list[Step], kind: str | None, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: 0.0)

    async def test() -> None:
        engine, usage = ScriptedEngine([*script]), Usage()
        judge = judge_of(engine)
        if kind is None:
            assert await ask(judge, usage=usage) == Answer(1.0)
        else:
            assert (await failure_of(ask(judge, usage=usage))).kind == kind
        assert len(engine.calls) == usage.calls == calls

    run(test())


@pytest.mark.parametrize("cache", ["use", "refresh", "off"])
def test_fifty_identical_questions_are_one_call(cache: CacheMode) -> None:
    async def test() -> None:
        engine, usage = ScriptedEngine(latency_s=0.02), Usage()
        judge = judge_of(engine)
        answers = await asyncio.gather(*(ask(judge, cache=cache, usage=usage) for _ in range(50)))
        assert answers == [Answer(1.0)] + [Answer(1.0, joined=True)] * 49
        assert usage == Usage(calls=1, joined=49)
        assert len(engine.calls) == 1

    run(test())


def test_identical_questions_that_are_cached_joined_nobody() -> None:
    async def test() -> None:
        engine, usage = ScriptedEngine(), Usage()
        judge = judge_of(engine)
        await ask(judge)
        answers = await asyncio.gather(*(ask(judge, usage=usage) for _ in range(5)))
        assert answers == [Answer(1.0, cached=True)] * 5
        assert usage == Usage(cached=5)

    run(test())


def test_without_the_cache_two_requests_share_nothing() -> None:
    async def test() -> None:
        engine = ScriptedEngine(latency_s=0.02)
        judge = judge_of(engine)
        await asyncio.gather(ask(judge, cache="off"), ask(judge, cache="off"))
        assert len(engine.calls) == 2

    run(test())


def test_those_who_share_a_failure_get_one_each() -> None:
    async def test() -> None:
        judge = judge_of(ScriptedEngine([JudgeFailure("refused", "no")], latency_s=0.02))
        one, other = await asyncio.gather(failure_of(ask(judge)), failure_of(ask(judge)))
        assert (one.kind, one.message) == (other.kind, other.message) == ("refused", "no")
        assert one is not other

    run(test())


def test_one_who_joins_with_more_time_gets_the_answer() -> None:
    async def hang_then_time_out(deadline: float) -> Completion:
        await asyncio.sleep(deadline - asyncio.get_running_loop().time())
        raise JudgeFailure("timeout", "late")

    async def test() -> None:
        engine = ScriptedEngine([hang_then_time_out])
        judge = judge_of(engine)
        hasty = asyncio.create_task(failure_of(ask(judge, seconds=0.1)))
        await asyncio.sleep(0.05)
        patient = await ask(judge, seconds=5.0)
        assert (await hasty).kind == "timeout"
        assert patient == Answer(1.0, joined=True)
        assert len(engine.calls) == 2

    run(test())


def test_the_deadline_ends_every_wait() -> None:
    async def test() -> None:
        engine = ScriptedEngine([hang])
        began = asyncio.get_running_loop().time()
        failure = await failure_of(ask(judge_of(engine), seconds=0.1))
        assert failure.kind == "timeout"
        assert asyncio.get_running_loop().time() - began < 0.5
        await asyncio.sleep(0)
        assert (engine.cancelled, engine.in_flight) == (1, 0)

    run(test())


async def hang(deadline: float) -> Completion:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    ("script", "seconds"),
    [
        pytest.param([BUSY] * 100, 0.5, id="turned away again and again"),
        pytest.param([BUSY, hang], 0.5, id="turned away, then left hanging"),
        pytest.param([JudgeFailure("overloaded", "busy", retry_after=60.0)], 0.1, id="too late a time given"),
    ],
)
def test_an_overloaded_judge_is_waited_for_until_the_deadline(script: list[Step], seconds: float) -> None:
    async def test() -> None:
        began = asyncio.get_running_loop().time()
        failure = await failure_of(ask(judge_of(ScriptedEngine([*script])), seconds=0.5))
        assert failure.kind == "overloaded"
        assert "busy" in failure.message
        assert asyncio.get_running_loop().time() - began < seconds + 0.2

    run(test())


def test_retry_after_is_honoured() -> None:
    async def test() -> None:
        engine = ScriptedEngine([JudgeFailure("overloaded", "busy", retry_after=0.3)])
        began = asyncio.get_running_loop().time()
        assert await ask(judge_of(engine)) == Answer(1.0)
        assert asyncio.get_running_loop().time() - began >= 0.3

    run(test())


def test_a_judge_that_is_down_fails_within_a_second() -> None:
    async def test() -> None:
        began = asyncio.get_running_loop().time()
        failure = await failure_of(ask(judge_of(ScriptedEngine([DOWN] * 9)), seconds=60))
        assert (failure.kind, failure.message) == ("unreachable", "down")
        assert asyncio.get_running_loop().time() - began < 1.0

    run(test())


def test_no_more_questions_than_allowed_are_with_the_engine() -> None:
    async def test() -> None:
        engine = ScriptedEngine(latency_s=0.005)
        judge = judge_of(engine, concurrency=4)
        questions = [replace(QUESTION, criterion=str(n)) for n in range(40)]
        await asyncio.gather(*(ask(judge, q) for q in questions))
        assert engine.most_in_flight == 4

    run(test())


def test_a_question_that_never_got_its_turn_says_so() -> None:
    async def test() -> None:
        judge = judge_of(ScriptedEngine(latency_s=5.0), concurrency=1)
        first = asyncio.create_task(failure_of(ask(judge, seconds=0.2)))
        await asyncio.sleep(0)
        second = await failure_of(ask(judge, replace(QUESTION, criterion="x"), seconds=0.1))
        assert second.kind == "timeout"
        assert "ahead" in second.message
        assert "ahead" not in (await first).message

    run(test())


def test_slots_come_back_from_questions_that_were_given_up() -> None:
    async def test() -> None:
        judge = judge_of(ScriptedEngine(latency_s=0.5), concurrency=2)
        given_up = [ask(judge, replace(QUESTION, criterion=str(n)), seconds=0.05) for n in range(6)]
        assert {f.kind for f in await asyncio.gather(*map(failure_of, given_up))} == {"timeout"}
        assert await ask(judge) == Answer(1.0)

    run(test())


def test_closing_tells_those_who_wait() -> None:
    async def test() -> None:
        judge = judge_of(ScriptedEngine(latency_s=5.0))
        waiting: Awaitable[JudgeFailure] = asyncio.create_task(failure_of(ask(judge)))
        await asyncio.sleep(0.01)
        await judge.close()
        assert (await waiting).kind == "canceled"

    run(test())
