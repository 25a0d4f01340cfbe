from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_service.judge.concurrency import Limit


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def answer(limit: Limit, rounds: int) -> None:
    """Full rounds of calls, all answered."""
    for _ in range(rounds):
        for _ in range(limit.calls):
            limit.succeeded(limit.calls)


@pytest.mark.parametrize(
    ("most", "rounds", "calls"), [(64, 0, 16), (8, 0, 8), (64, 1, 32), (64, 2, 64), (64, 9, 64), (1, 3, 1)]
)
def test_it_doubles_until_the_most_is_reached(most: int, rounds: int, calls: int) -> None:
    limit = Limit(most, Clock())
    answer(limit, rounds)
    assert limit.calls == calls


def test_after_a_cut_a_round_is_worth_one_call() -> None:
    clock = Clock()
    limit = Limit(64, clock)
    answer(limit, 2)
    limit.overloaded(clock.now)
    assert limit.calls == 32
    for calls in (32, 33, 34):  # 1/n and not quite 1 in sum
        answer(limit, 1)
        assert limit.calls == calls


def test_calls_that_were_sent_before_a_cut_do_not_cut_again() -> None:
    clock = Clock()
    limit = Limit(64, clock)
    answer(limit, 2)
    sent = clock.now
    clock.now += 1.0
    for _ in range(64):
        limit.overloaded(sent)
    assert limit.calls == 32
    limit.overloaded(clock.now)
    assert limit.calls == 16


def test_a_limit_that_is_not_used_does_not_grow() -> None:
    limit = Limit(64, Clock())
    for _ in range(100):
        limit.succeeded(3)
    assert limit.calls == 16


@pytest.mark.parametrize("seconds", [0.0, 0.3, 30.0])
def test_retry_after_is_waited_for(seconds: float) -> None:
    clock = Clock()
    limit = Limit(64, clock)
    limit.overloaded(clock.now, seconds)
    assert limit.resumes_at == clock.now + seconds
    limit.overloaded(clock.now, 0.1)
    assert limit.resumes_at == clock.now + max(seconds, 0.1)
    clock.now = limit.resumes_at
    assert not limit.is_held


def test_without_retry_after_pauses_double_until_a_call_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    clock = Clock()
    limit = Limit(64, clock)
    pauses = []
    for _ in range(8):
        limit.overloaded(clock.now)
        pauses.append(round(limit.resumes_at - clock.now, 3))
        clock.now = limit.resumes_at
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    limit.succeeded(1)
    limit.overloaded(clock.now)
    assert limit.resumes_at - clock.now == pytest.approx(0.1)


@given(
    st.integers(1, 300),
    st.lists(st.tuples(st.sampled_from(["ok", "overloaded", "cut"]), st.floats(0, 10), st.integers(1, 300))),
)
def test_it_stays_between_one_and_the_most(most: int, events: list[tuple[str, float, int]]) -> None:
    clock = Clock()
    limit = Limit(most, clock)
    for event, seconds, in_flight in events:
        began = clock.now
        clock.now += seconds
        if event == "ok":
            limit.succeeded(in_flight)
        elif event == "overloaded":
            limit.overloaded(began, seconds)
        else:
            limit.cut(began)
        assert 1 <= limit.calls <= most
