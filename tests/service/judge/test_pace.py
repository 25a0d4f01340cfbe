"""A replica that falls silent is noticed by the pace of the others, and a slow one is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from scripted_engine import run

from rubricate_service.judge.pace import ENOUGH, FACTOR, RECENT, SHORTEST_S, Pace

Answers = Sequence[tuple[str, float, float]]
"""From whom, in how many seconds, and when."""


def pace_of(answers: Answers) -> Pace:
    pace = Pace()
    for replica, seconds, at in answers:
        pace.answered(replica, at - seconds, at)
    return pace


BEGAN, LATER = 1024.0, 1026.0


@pytest.mark.parametrize(
    ("answers", "patience"),
    [
        pytest.param([], None, id="nothing is known"),
        pytest.param([("b", 0.125, LATER)] * (ENOUGH - 1), None, id="too little is known"),
        pytest.param([("a", 0.125, LATER)] * RECENT, None, id="nothing is known of others"),
        pytest.param([("b", 0.125, BEGAN - 1)] * RECENT, None, id="others answered before"),
        pytest.param([("b", 0.125, LATER)] * ENOUGH, SHORTEST_S, id="others are fast"),
        pytest.param([("b", 3.0, LATER)] * ENOUGH, 3.0 * FACTOR, id="others are slow"),
        pytest.param(
            [("a", 60.0, LATER)] * 50 + [("b", 1.0, LATER)] * 50, 1.0 * FACTOR, id="its own pace is no excuse"
        ),
        pytest.param(
            [("b", 1.0, LATER)] * 199 + [("b", 99.0, LATER)], 1.0 * FACTOR, id="one straggler in two hundred"
        ),
        pytest.param(
            [("b", 1.0, LATER)] * 190 + [("b", 9.0, LATER)] * 10, 9.0 * FACTOR, id="stragglers, one in twenty"
        ),
        pytest.param(
            [("b", 0.125, BEGAN - 1)] * 100 + [("b", 4.0, LATER)] * ENOUGH, 4.0 * FACTOR, id="others got slow"
        ),
    ],
)
def test_how_long_a_replica_may_say_nothing(answers: Answers, patience: float | None) -> None:
    assert pace_of(answers).patience_s("a", BEGAN) == patience


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rubricate_service.judge.pace.SHORTEST_S", 0.1)


async def listen(
    pace: Pace, seconds: float, *, may_end: bool = True, others_take_s: float | None = 0.01
) -> bool:
    """Whether a call was given up, which lasts so long while others answer every 10 ms."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    try:
        async with pace.listening("a", lambda: may_end):
            while loop.time() < until:
                await asyncio.sleep(0.01)
                if others_take_s is not None:
                    pace.answered("b", loop.time() - others_take_s, loop.time())
    except TimeoutError:
        return True
    return False


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("call", "is_given_up"),
    [
        pytest.param({"seconds": 10.0}, True, id="silent while others answer"),
        pytest.param({"seconds": 0.05}, False, id="answers in time"),
        pytest.param({"seconds": 0.4, "others_take_s": None}, False, id="nobody else is asked"),
        pytest.param({"seconds": 0.4, "others_take_s": 0.3}, False, id="others are as slow"),
        pytest.param({"seconds": 0.4, "may_end": False}, False, id="the budget is spent"),
    ],
)
def test_which_calls_are_given_up(call: dict[str, Any], is_given_up: bool) -> None:
    assert run(listen(Pace(), **call)) is is_given_up


@pytest.mark.usefixtures("short")
def test_when_all_slow_down_at_once_none_is_given_up() -> None:
    async def test() -> None:
        pace = Pace()
        for _ in range(RECENT):
            pace.answered("b", asyncio.get_running_loop().time() - 0.001, asyncio.get_running_loop().time())
        assert not await listen(pace, 0.4, others_take_s=0.4)

    run(test())


@pytest.mark.usefixtures("short")
def test_whoever_leaves_leaves_no_timer() -> None:
    async def test() -> None:
        assert not await listen(Pace(), 0.05)
        await asyncio.sleep(0.3)  # nobody is cancelled afterwards

    run(test())
