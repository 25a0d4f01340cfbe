from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_engine import QUESTION, ScriptedEngine, ask, failure_of, judge_of, run

from rubricate_service.cache import Cache, LmdbStore
from rubricate_service.judge import Answer, Completion, Identity, Judge, JudgeFailure, Usage
from rubricate_service.judge.members import Fixed
from rubricate_service.judge.replicas import Replicas
from rubricate_service.judge.served import LABELS
from rubricate_service.judge.signatures import RECENT

DOWN = JudgeFailure("unreachable", "down")


def test_an_engine_that_is_down_at_the_start_is_asked_again() -> None:
    async def test() -> None:
        engine = ScriptedEngine(identity=DOWN)
        judge = judge_of(engine)
        await judge.start()
        assert judge.provenance()["model"] is None
        status = await judge.status()
        assert (status["status"], status["reason"]) == ("failing", "unreachable: down")
        assert (await failure_of(ask(judge))).kind == "unreachable"
        engine.identity = Identity("model", "sha256:1")
        assert await ask(judge) == Answer(1.0)
        assert judge.provenance()["model"] == "model"
        status = await judge.status()
        assert (status["status"], status["model"]) == ("ok", "model")
        (replica,) = status["replicas"]
        assert replica == {"replica": "one", "state": "ok", "limit": 16, "in_flight": 0, "waiting": 0}

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


def signed(label: str, fingerprint: str) -> Completion:
    return Completion(label, system_fingerprint=fingerprint)


def test_a_changed_system_fingerprint_rolls_the_cache(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path / "verdicts.db")

    async def test() -> None:
        engine = ScriptedEngine([signed("0", "a"), *[signed("1", "b")] * 999])
        judge = judge_of(engine, store)
        assert await ask(judge) == Answer(0.0)
        before = judge.provenance()["fingerprint"]
        assert await ask(judge) == Answer(0.0, cached=True)
        for n in range(RECENT):  # so many answers make sure that the old version is gone
            assert (await ask(judge)).cached
            await ask(judge, replace(QUESTION, criterion=str(n)))
        assert judge.provenance()["fingerprint"] != before
        assert await ask(judge) == Answer(0.5)
        assert await ask(judge) == Answer(0.5, cached=True)
        await judge.close()

    run(test())

    async def after_a_restart() -> None:
        judge = judge_of(ScriptedEngine([signed("0", "b")]), store)
        assert await ask(judge, replace(QUESTION, criterion="7")) == Answer(0.5, cached=True)
        await judge.close()

    run(after_a_restart())


def judge_over(*engines: ScriptedEngine) -> Judge:
    named = {str(n): engine for n, engine in enumerate(engines)}
    return Judge(Replicas(Fixed(named)), Cache(None), secret=b"test")


def always(label: str, fingerprint: str) -> ScriptedEngine:
    return ScriptedEngine([signed(label, fingerprint)] * 999)


def test_while_replicas_are_replaced_neither_ones_verdicts_are_asked_for_again() -> None:
    async def test() -> None:
        judge, usage = judge_over(always("0", "a"), always("2", "b")), Usage()
        asked = [replace(QUESTION, response=str(n)) for n in range(100)]
        first = [await ask(judge, question, usage=usage) for question in asked]
        assert {answer.label for answer in first} == {0.0, 1.0}
        for _ in range(2):
            again = [await ask(judge, question, usage=usage) for question in asked]
            assert again == [replace(answer, cached=True) for answer in first]
        assert usage.calls == 100

    run(test())


def test_a_refreshed_verdict_is_the_one_whichever_replica_gave_it() -> None:
    async def test() -> None:
        engines = always("0", "b"), always("2", "a")
        judge = judge_over(*engines)
        for n in range(20):  # makes both known
            await ask(judge, replace(QUESTION, response=str(n)))
        assert all(engine.calls for engine in engines)
        for label in ("0", "1", "2"):
            for engine in engines:
                engine.script = [signed(label, engine.script[0].system_fingerprint or "")] * 999  # type: ignore[union-attr]
            refreshed = await ask(judge, cache="refresh")
            assert refreshed.label == LABELS[label]
            assert await ask(judge) == replace(refreshed, cached=True)

    run(test())


def test_two_verdicts_of_one_question_do_not_take_turns() -> None:
    """Both replicas have judged it: the newer verdict stays until there is a newer one."""

    async def test() -> None:
        engine = ScriptedEngine(
            [signed("0", "b"), signed("2", "a"), *[signed("1", "b"), signed("1", "a")] * 50]
        )
        judge = judge_of(engine)
        assert (await ask(judge, cache="refresh")).label == 0.0
        assert (await ask(judge, cache="refresh")).label == 1.0
        for n in range(10):
            await ask(judge, replace(QUESTION, response=str(n)))
            assert await ask(judge) == Answer(1.0, cached=True)

    run(test())
