from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_engine import QUESTION, ScriptedEngine, ask, failure_of, judge_of, run

from rubricate_service.cache import SqliteStore
from rubricate_service.judge import Answer, Completion, Identity, JudgeFailure, Usage
from rubricate_service.judge.judge import CacheMode

GARBAGE = Completion("I would say 2", model="model")
DOWN = JudgeFailure("unreachable", "down")
BUSY = JudgeFailure("overloaded", "busy", retry_after=0.05)


def test_an_answer_and_what_it_cost() -> None:
    async def test() -> None:
        completion = Completion("1", "stop", None, "model", None, False, 100, 80, 1)
        judge, usage = judge_of(ScriptedEngine([completion])), Usage()
        assert await ask(judge, usage=usage) == Answer(0.5)
        assert usage == Usage(calls=1, prompt_tokens=100, cached_prompt_tokens=80, completion_tokens=1)
        assert await ask(judge, usage=usage) == Answer(0.5, cached=True)
        assert usage == Usage(1, 1, 0, 100, 80, 1)

    run(test())


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
    script: list[Completion | JudgeFailure], kind: str | None, calls: int, monkeypatch: pytest.MonkeyPatch
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


def test_nothing_failed_is_cached() -> None:
    async def test() -> None:
        engine = ScriptedEngine([JudgeFailure("refused", "x")])
        judge = judge_of(engine)
        await failure_of(ask(judge))
        assert await ask(judge) == Answer(1.0)

    run(test())


@pytest.mark.parametrize(
    ("first", "second", "calls", "cached"),
    [
        ("use", "use", 1, True),
        ("use", "refresh", 2, False),
        ("use", "off", 2, False),
        ("refresh", "use", 1, True),
        ("off", "use", 2, False),
        ("off", "off", 2, False),
    ],
)
def test_cache_modes(first: CacheMode, second: CacheMode, calls: int, cached: bool) -> None:
    async def test() -> None:
        engine = ScriptedEngine([Completion("0"), Completion("0" if cached else "2")])
        judge = judge_of(engine)
        await ask(judge, cache=first)
        answer = await ask(judge, cache=second)
        assert answer == (Answer(0.0, cached=True) if cached else Answer(1.0))
        assert len(engine.calls) == calls

    run(test())


def test_a_refreshed_verdict_replaces_the_old_one() -> None:
    async def test() -> None:
        judge = judge_of(ScriptedEngine([Completion("0"), Completion("1")]))
        assert [(await ask(judge, cache=mode)).label for mode in ("use", "refresh", "use")] == [0.0, 0.5, 0.5]

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
    async def hang(deadline: float) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError

    async def test() -> None:
        engine = ScriptedEngine([hang])
        began = asyncio.get_running_loop().time()
        failure = await failure_of(ask(judge_of(engine), seconds=0.1))
        assert failure.kind == "timeout"
        assert asyncio.get_running_loop().time() - began < 0.5
        await asyncio.sleep(0)
        assert (engine.cancelled, engine.in_flight) == (1, 0)

    run(test())


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([BUSY] * 100, id="turned away again and again"),
        pytest.param(
            [JudgeFailure("overloaded", "busy", retry_after=60.0)], id="told to come after the deadline"
        ),
    ],
)
def test_an_overloaded_judge_is_waited_for_until_the_deadline(
    script: list[Completion | JudgeFailure],
) -> None:
    async def test() -> None:
        began = asyncio.get_running_loop().time()
        failure = await failure_of(ask(judge_of(ScriptedEngine([*script])), seconds=0.5))
        assert failure.kind == "overloaded"
        assert asyncio.get_running_loop().time() - began < 0.7

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


def test_an_engine_that_is_down_at_the_start_is_asked_again() -> None:
    async def test() -> None:
        engine = ScriptedEngine(identity=DOWN)
        judge = judge_of(engine)
        await judge.start()
        assert judge.provenance()["model"] is None
        assert await judge.status() == {"status": "failing", "reason": "unreachable: down"}
        assert (await failure_of(ask(judge))).kind == "unreachable"
        engine.identity = Identity("model", "sha256:1")
        assert await ask(judge) == Answer(1.0)
        assert judge.provenance()["model"] == "model"
        assert await judge.status() == {"status": "ok", "model": "model"}

    run(test())


def test_start_and_status_do_not_wait_for_an_engine_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rubricate_service.judge.judge._START_S", 0.1)
    monkeypatch.setattr("rubricate_service.judge.judge._STATUS_S", 0.1)

    class Hanging(ScriptedEngine):
        async def identify(self, deadline: float) -> Identity:
            await asyncio.Event().wait()
            raise AssertionError

    async def test() -> None:
        judge = judge_of(Hanging())
        began = asyncio.get_running_loop().time()
        await judge.start()
        assert (await judge.status())["status"] == "failing"
        assert (await failure_of(ask(judge, seconds=0.1))).kind == "timeout"
        assert asyncio.get_running_loop().time() - began < 1.0

    run(test())


def test_an_engine_that_became_another_is_not_ready() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        judge = judge_of(engine)
        await judge.start()
        engine.identity = Identity("other", "sha256:2")
        status = await judge.status()
        assert status["status"] == "failing"
        assert "'other'" in status["reason"]

    run(test())


def test_provenance_names_the_template_and_the_mode() -> None:
    async def test() -> None:
        judge = judge_of(ScriptedEngine())
        await judge.start()
        provenance = judge.provenance()
        assert re.fullmatch("sha256:[0-9a-f]{64}", provenance.pop("template"))
        assert provenance == {
            "name": "default", "model": "model", "fingerprint": "sha256:1", "mode": "per_rubric",
        }  # fmt: skip

    run(test())


def test_the_engine_gets_the_prompt_that_is_shown() -> None:
    async def test() -> None:
        engine = ScriptedEngine()
        judge = judge_of(engine)
        await ask(judge)
        assert engine.calls == [judge.messages(QUESTION)]

    run(test())


def test_verdicts_outlive_the_process(tmp_path: Path) -> None:
    async def asked(engine: ScriptedEngine) -> Answer:
        judge = judge_of(engine, SqliteStore(tmp_path / "verdicts.sqlite"))
        try:
            return await ask(judge)
        finally:
            await judge.close()

    assert run(asked(ScriptedEngine([Completion("1", system_fingerprint="a")]))) == Answer(0.5)
    assert run(asked(ScriptedEngine())) == Answer(0.5, cached=True)
    assert run(asked(ScriptedEngine(identity=Identity("model", "sha256:2")))) == Answer(1.0)


def test_a_changed_system_fingerprint_rolls_the_cache(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "verdicts.sqlite")

    async def test() -> None:
        engine = ScriptedEngine(
            [Completion("0", system_fingerprint="a"), Completion("1", system_fingerprint="b")]
        )
        judge = judge_of(engine, store)
        assert await ask(judge) == Answer(0.0)
        before = judge.provenance()["fingerprint"]
        assert await ask(judge) == Answer(0.0, cached=True)
        await ask(judge, replace(QUESTION, criterion="another"))
        assert judge.provenance()["fingerprint"] != before
        assert await ask(judge) == Answer(1.0)
        await judge.close()

    run(test())

    async def after_a_restart() -> None:
        judge = judge_of(ScriptedEngine([Completion("0", system_fingerprint="b")]), store)
        assert await ask(judge, replace(QUESTION, criterion="another")) == Answer(0.5, cached=True)
        await judge.close()

    run(after_a_restart())


def test_a_judge_that_shuts_us_out_is_reported_once_and_loudly(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        shut = JudgeFailure("unauthorized", "check its API key")
        judge = judge_of(ScriptedEngine([shut, shut, Completion("2"), shut]))
        for criterion in "abcd":
            with contextlib.suppress(JudgeFailure):
                await ask(judge, replace(QUESTION, criterion=criterion))

    with caplog.at_level(logging.ERROR, "rubricate.judge"):
        run(test())
    assert len(caplog.records) == 2  # once more after it had worked
    assert "check its API key" in caplog.text


def test_closing_tells_those_who_wait() -> None:
    async def test() -> None:
        judge = judge_of(ScriptedEngine(latency_s=5.0))
        waiting: Awaitable[JudgeFailure] = asyncio.create_task(failure_of(ask(judge)))
        await asyncio.sleep(0.01)
        await judge.close()
        assert (await waiting).kind == "canceled"

    run(test())


def test_no_text_of_a_question_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    secret = "XYZZY-PLUGH"

    async def test() -> None:
        question = replace(
            QUESTION, response=secret, criterion=secret, reference=secret, prompt=(("user", secret),)
        )
        engine = ScriptedEngine(
            [GARBAGE, DOWN, Completion("2", system_fingerprint="a"), Completion(secret), Completion(secret)]
        )
        judge = judge_of(engine)
        await judge.start()
        await ask(judge, question)
        assert secret not in (await failure_of(ask(judge, question, cache="refresh"))).message

    with caplog.at_level(logging.DEBUG):
        run(test())
    assert secret not in caplog.text
