from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_engine import QUESTION, ScriptedEngine, ask, failure_of, judge_of, run

from rubricate_service.cache import LmdbStore
from rubricate_service.judge import Answer, Completion, Identity, JudgeFailure

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


def test_a_changed_system_fingerprint_rolls_the_cache(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path / "verdicts.db")

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
