from __future__ import annotations

import contextlib
import logging
import re
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_engine import QUESTION, ScriptedEngine, ask, failure_of, judge_of, run

from rubricate_service.cache import LmdbStore
from rubricate_service.judge import Answer, Completion, Identity, JudgeFailure, Usage
from rubricate_service.judge.judge import CacheMode

GARBAGE = Completion("I would say 2", model="model")
DOWN = JudgeFailure("unreachable", "down")


def test_an_answer_and_what_it_cost() -> None:
    async def test() -> None:
        completion = Completion("1", "stop", None, "model", None, False, 100, 80, 1)
        judge, usage = judge_of(ScriptedEngine([completion])), Usage()
        assert await ask(judge, usage=usage) == Answer(0.5)
        assert usage == Usage(calls=1, prompt_tokens=100, cached_prompt_tokens=80, completion_tokens=1)
        assert await ask(judge, usage=usage) == Answer(0.5, cached=True)
        assert usage == Usage(1, 1, 0, 100, 80, 1)

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
        judge = judge_of(engine, LmdbStore(tmp_path / "verdicts.db"))
        try:
            return await ask(judge)
        finally:
            await judge.close()

    assert run(asked(ScriptedEngine([Completion("1", system_fingerprint="a")]))) == Answer(0.5)
    assert run(asked(ScriptedEngine())) == Answer(0.5, cached=True)
    assert run(asked(ScriptedEngine(identity=Identity("model", "sha256:2")))) == Answer(1.0)


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
