"""What readiness is told of a judge that says who it is and decides nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from scripted_engine import QUESTION, ask, failure_of, judge_of, run

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.judge.http import HttpModel
from rubricate_service.judge.streak import ENOUGH, RECENT_S, Streak


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.status(500), "unreachable"),
        (Fault.status(401), "unauthorized"),
        (Fault.hang(), "timeout"),
        (Fault.text("Surely 2."), "unreadable"),
        (Fault.truncated(), "truncated"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_judge_that_gives_no_verdicts_is_failing_until_it_gives_one(
    fake: FakeJudge, fault: Fault, kind: str
) -> None:
    async def test() -> None:
        judge = judge_of(HttpModel(fake.url))
        assert (await ask(judge)).label == 1.0
        assert (await judge.status())["status"] == "ok"
        fake.fail_when(fault, lambda call: True)
        questions = [replace(QUESTION, criterion=f"Criterion {n}.") for n in range(ENOUGH)]
        await asyncio.gather(*(failure_of(ask(judge, question, seconds=2.5)) for question in questions))
        assert (await ask(judge)).cached  # which says nothing about the judge
        status = await judge.status()
        assert (status["status"], status["reason"]) == (
            "failing",
            f"the last {ENOUGH} questions got no verdict: {ENOUGH} {kind}",
        )
        fake.heal()
        await ask(judge, questions[0])
        assert (await judge.status())["status"] == "ok"
        await judge.close()

    run(test())


def test_a_streak_ends_with_a_verdict_and_is_forgotten_in_time() -> None:
    now = 0.0
    streak = Streak(lambda: now)
    for _ in range(ENOUGH - 1):
        streak.failed("unreachable")
    streak.failed("too_long")  # it is the question that is
    assert streak.told() is None
    streak.failed("timeout")
    assert streak.told() == f"the last {ENOUGH} questions got no verdict: {ENOUGH - 1} unreachable, 1 timeout"
    with streak.asking():
        now = RECENT_S + 1
        assert streak.told() is not None  # it is being asked
    assert streak.told() is not None
    now = 2 * RECENT_S + 2
    assert streak.told() is None
    with streak.asking():
        assert streak.told() is not None
    streak.decided()
    assert streak.told() is None
