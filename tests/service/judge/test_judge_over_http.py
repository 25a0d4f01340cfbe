from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from http_engine_helpers import later
from scripted_engine import QUESTION, ask, failure_of, judge_of, run

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.judge import Answer, Usage
from rubricate_service.judge.http import HttpModel


# the same, and those of the answer's content, as a judge reports them after its retries
@pytest.mark.parametrize(
    ("fault", "kind", "calls"),
    [
        (Fault.status(500), "unreachable", 3),
        (Fault.reset(), "unreachable", 3),
        (Fault.hang(), "timeout", 1),
        (Fault.drip(5, 0.1), "timeout", 1),
        (Fault.garbage("html"), "unreadable", 2),
        (Fault.text("Surely 2."), "unreadable", 2),
        (Fault.truncated(), "truncated", 2),
        (Fault.refusal(), "refused", 1),
        (Fault.too_long(), "too_long", 1),
        (Fault.wrong_model("impostor"), "identity", 1),
        (Fault.status(401), "unauthorized", 1),
        (Fault.status(400), "refused", 1),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_judge_reports_each_fault_after_its_retries(
    fake: FakeJudge, fault: Fault, kind: str, calls: int
) -> None:
    fake.fail_when(fault, lambda call: True)

    async def test() -> None:
        judge, usage = judge_of(HttpModel(fake.url)), Usage()
        assert (await failure_of(ask(judge, seconds=1.0, usage=usage))).kind == kind
        assert usage.calls == len(fake.calls) == calls
        fake.heal()
        assert (await ask(judge)).label == 1.0
        await judge.close()

    run(test())


def test_a_burst_of_rejections_is_waited_out(fake: FakeJudge) -> None:
    fake.fail_share(Fault.status(429, retry_after=0.05), 0.5)

    async def test() -> None:
        judge = judge_of(HttpModel(fake.url))
        questions = [replace(QUESTION, criterion=f"Criterion {n}.") for n in range(40)]
        answers = await asyncio.gather(*(ask(judge, q, seconds=10.0) for q in questions))
        assert {answer.label for answer in answers} == {1.0}
        await judge.close()

    run(test())


def test_rubrics_of_a_response_share_their_prefix_at_the_engine(fake: FakeJudge) -> None:
    async def test() -> None:
        judge, usage = judge_of(HttpModel(fake.url)), Usage()
        for n in range(4):
            await ask(
                judge,
                replace(QUESTION, response="A tall tower. " * 50, criterion=f"Criterion {n}."),
                usage=usage,
            )
        assert usage.cached_prompt_tokens > 0.6 * usage.prompt_tokens
        await judge.close()

    run(test())


def test_a_judge_that_is_refused_its_connection_fails_within_a_second() -> None:
    async def test() -> None:
        judge = judge_of(HttpModel("http://127.0.0.1:9"))
        began = later(0)
        await judge.start()
        failed = await failure_of(ask(judge, seconds=60))
        assert failed.kind == "unreachable"
        assert "127.0.0.1:9" in failed.message
        assert later(0) - began < 1.0
        await judge.close()

    run(test())


@pytest.mark.parametrize("retry_after", [0, "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_a_busy_judge_that_gives_no_time_is_not_asked_without_pause(
    fake: FakeJudge, retry_after: float | str
) -> None:
    fake.fail_when(Fault.status(429, retry_after=retry_after), lambda call: True)

    async def test() -> None:
        judge = judge_of(HttpModel(fake.url))
        await failure_of(ask(judge, seconds=2.0))
        assert len(fake.calls) < 100  # thousands
        await judge.close()

    run(test())


def test_a_judge_that_comes_up_later_and_goes_away_again() -> None:
    fake = FakeJudge("1")
    fake.start()
    fake.stop()

    async def test() -> None:
        judge = judge_of(HttpModel(fake.url))
        await judge.start()
        assert (await judge.status())["status"] == "failing"
        assert (await failure_of(ask(judge))).kind == "unreachable"
        await asyncio.to_thread(fake.start)
        assert (await judge.status())["status"] == "ok"
        assert (await ask(judge)).label == 0.5
        await asyncio.to_thread(fake.stop)
        assert (await ask(judge)).cached
        assert (await failure_of(ask(judge, replace(QUESTION, criterion="x")))).kind == "unreachable"
        assert (await judge.status())["status"] == "failing"
        await judge.close()

    try:
        run(test())
    finally:
        fake.stop()


def test_one_judge_behind_two_hundred_questions(fake: FakeJudge) -> None:
    async def test() -> None:
        judge = judge_of(HttpModel(fake.url), concurrency=16)
        questions = [replace(QUESTION, criterion=f"Criterion {n}.") for n in range(200)]
        answers = await asyncio.gather(*(ask(judge, q, seconds=30.0) for q in questions))
        assert {type(a) for a in answers} == {Answer}
        assert max(call.in_flight for call in fake.calls) <= 16
        await judge.close()

    fake.latency_s = 0.002
    run(test())
