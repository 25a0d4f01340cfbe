"""Many replicas as one judge: those that fail, hang or are busy, and who is asked next."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from scripted_engine import QUESTION, ScriptedEngine, ask, failure_of, run
from scripted_replicas import DOWN, always, ask_all, judge_over, questions, responses_of, states

from rubricate_service.judge import (
    Answer,
    Completion,
    Identity,
    JudgeFailure,
    Usage,
)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(DOWN, id="machinery fails"),
        pytest.param(JudgeFailure("unreadable", "html"), id="no chat completion"),
        pytest.param(JudgeFailure("overloaded", "busy"), id="turned away"),
        pytest.param(JudgeFailure("overloaded", "busy", retry_after=60.0), id="turned away for a minute"),
        pytest.param(JudgeFailure("identity", "no such model"), id="serves another model"),
        pytest.param(Completion("0", model="other"), id="answers as another model"),
    ],
)
def test_one_bad_replica_of_three_loses_nothing(bad: Completion | JudgeFailure) -> None:
    async def test() -> None:
        engine, usage = always(bad, latency_s=0.002), Usage()
        judge = judge_over(ScriptedEngine(latency_s=0.002), engine, ScriptedEngine(latency_s=0.002))
        assert Counter(await ask_all(judge, questions(150), usage)) == {"ok": 600}
        assert usage.calls <= 600 + 40
        await judge.close()

    run(test())


def test_a_replica_that_fails_is_left_out_and_taken_back_when_it_is_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rubricate_service.judge.outlier.SHORTEST_S", 0.05)

    async def test() -> None:
        bad = always(DOWN)
        judge = judge_over(ScriptedEngine(), bad)
        await judge.start()
        bad.identity = DOWN
        assert set(await ask_all(judge, questions(40))) == {"ok"}
        assert await states(judge) == {"0": "ok", "1": "ejected"}
        seen = len(bad.calls)
        await asyncio.sleep(0.2)
        assert await states(judge) == {"0": "ok", "1": "ejected"}
        assert len(bad.calls) == seen
        bad.identity, bad.script = Identity("model", "sha256:1"), []
        async with asyncio.timeout(5):
            while (await states(judge))["1"] != "probing":
                await asyncio.sleep(0.02)
        assert set(await ask_all(judge, questions(80)[160:])) == {"ok"}
        assert (await states(judge))["1"] == "ok"
        assert len(bad.calls) > seen
        await judge.close()

    run(test())


def test_one_that_is_being_probed_gets_one_call_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rubricate_service.judge.outlier.SHORTEST_S", 0.02)

    async def test() -> None:
        bad = always(DOWN)
        judge = judge_over(ScriptedEngine(latency_s=0.001), bad)
        await ask_all(judge, questions(40))
        bad.script, bad.latency_s, bad.most_in_flight, seen = [], 0.3, 0, len(bad.calls)
        async with asyncio.timeout(5):
            while (await states(judge))["1"] != "probing":
                await asyncio.sleep(0.01)
        assert set(await ask_all(judge, questions(80)[160:])) == {"ok"}
        assert len(bad.calls) == seen + 1
        assert bad.most_in_flight == 1
        await judge.close()

    run(test())


def test_all_that_are_left_are_asked_when_all_fail() -> None:
    async def test() -> None:
        engines = [always(DOWN) for _ in range(3)]
        judge, usage = judge_over(*engines), Usage()
        assert set(await ask_all(judge, questions(100), usage)) == {"unreachable"}
        assert usage.calls <= 1.2 * 400 + 10
        assert list((await states(judge)).values()).count("ejected") < 3
        await judge.close()

    run(test())


def test_two_of_three_that_are_gone_lose_nothing_once_that_is_known() -> None:
    async def test() -> None:
        engines = [ScriptedEngine(), ScriptedEngine(), ScriptedEngine()]
        judge = judge_over(*engines)
        await ask_all(judge, questions(100))
        for engine in engines[1:]:
            engine.script, engine.identity = [DOWN] * 1000, DOWN
        kinds = await ask_all(judge, questions(200)[400:])
        assert set(kinds) == {"ok"}
        assert await states(judge) == {"0": "ok", "1": "ejected", "2": "ejected"}
        await judge.close()

    run(test())


def test_those_that_are_down_at_the_start_are_not_asked() -> None:
    async def test() -> None:
        down = ScriptedEngine(identity=DOWN)
        judge = judge_over(down, ScriptedEngine(), ScriptedEngine(identity=Identity("other", "sha256:2")))
        await judge.start()
        assert judge.provenance()["model"] == "model"
        assert await states(judge) == {"0": "ejected", "1": "ok", "2": "ejected"}
        assert set(await ask_all(judge, questions(20))) == {"ok"}
        assert not down.calls
        await judge.close()

    run(test())


def test_a_key_that_is_refused_is_not_tried_elsewhere() -> None:
    async def test() -> None:
        shut = JudgeFailure("unauthorized", "no")
        engines = [always(shut), always(shut)]
        judge = judge_over(*engines)
        assert (await failure_of(ask(judge))).kind == "unauthorized"
        assert sum(len(engine.calls) for engine in engines) == 1
        await judge.close()

    run(test())


def test_all_criteria_of_a_response_go_to_one_replica_and_the_load_is_even() -> None:
    async def test() -> None:
        engines = [ScriptedEngine(latency_s=0.002) for _ in range(3)]
        judge = judge_over(*engines)
        assert set(await ask_all(judge, questions(120))) == {"ok"}
        seen = [responses_of(engine) for engine in engines]
        assert sum(map(len, seen)) == len(set.union(*seen)) == 120
        assert all(0.75 * 160 <= len(engine.calls) <= 1.25 * 160 for engine in engines)
        await judge.close()

    run(test())


def test_a_replica_that_hangs_leaves_time_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rubricate_service.judge.replicas._FAIR_CHANCE_S", 0.1)

    async def hang(deadline: float) -> Completion:
        await asyncio.sleep(deadline - asyncio.get_running_loop().time())
        raise JudgeFailure("timeout", "late")

    async def test() -> None:
        engines = [ScriptedEngine([hang] * 99), ScriptedEngine()]
        judge = judge_over(*engines)
        kinds = await asyncio.gather(*(ask(judge, q, seconds=1.0) for q in questions(8, 1)))
        assert set(kinds) == {Answer(1.0)}
        assert engines[0].calls
        await judge.close()

    run(test())


def test_a_small_request_is_served_beside_a_large_one() -> None:
    async def test() -> None:
        engine = ScriptedEngine(latency_s=0.005)
        judge = judge_over(engine, most=4)
        large = asyncio.create_task(ask_all(judge, questions(100)))
        await asyncio.sleep(0.02)
        before = len(engine.calls)
        small = [replace(QUESTION, response="Small.", criterion=str(n)) for n in range(10)]
        await ask_all(judge, small)
        assert len(engine.calls) <= before + 2 * 10 + 8
        assert set(await large) == {"ok"}
        await judge.close()

    run(test())


def test_those_who_leave_the_queue_leave_nothing_behind() -> None:
    async def test() -> None:
        engine = ScriptedEngine(latency_s=30.0)
        judge = judge_over(engine, most=2)
        asked = [asyncio.create_task(ask(judge, q)) for q in questions(25)]
        await asyncio.sleep(0.05)
        for task in asked:
            task.cancel()
        await asyncio.sleep(0.05)
        (replica,) = (await judge.status())["replicas"]
        assert (engine.in_flight, replica["in_flight"], replica["waiting"]) == (0, 0, 0)
        engine.latency_s = 0.0
        assert await ask(judge) == Answer(1.0)
        await judge.close()

    run(test())


@pytest.mark.parametrize("bad", [DOWN, JudgeFailure("overloaded", "busy", 0.0)], ids=["down", "busy"])
def test_a_question_is_put_to_all_replicas_before_it_comes_to_one_again(bad: JudgeFailure) -> None:
    async def test() -> None:
        for question in questions(12):  # each begins at another one
            judge = judge_over(always(bad), always(bad), ScriptedEngine())
            assert (await ask(judge, question, seconds=5.0)).label == 1.0
            await judge.close()

    run(test())


@pytest.mark.parametrize(
    ("retry_after", "others", "seconds", "check"),
    [
        pytest.param(0.3, 0, 2.0, lambda took: 0.3 <= took < 0.6, id="alone: it is waited for"),
        pytest.param(60.0, 1, 2.0, lambda took: took < 0.2, id="another is asked at once"),
    ],
)
def test_retry_after_with_and_without_others(
    retry_after: float, others: int, seconds: float, check: Callable[[float], bool]
) -> None:
    async def test() -> None:
        busy = JudgeFailure("overloaded", "busy", retry_after)
        engines = [ScriptedEngine([busy]) for _ in range(1 + others)]
        engines[-1].script = engines[-1].script if not others else []
        judge = judge_over(*engines)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for question in questions(6, 1):
            assert await ask(judge, question, seconds=seconds) == Answer(1.0)
        assert check(loop.time() - began)
        assert engines[0].script == []
        await judge.close()

    run(test())
