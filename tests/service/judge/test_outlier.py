from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rubricate_service.judge.outlier import FAILURES, LONGEST_S, SHORTEST_S, Outliers


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def outliers_of(number: int, clock: Clock | None = None) -> Outliers:
    outliers = Outliers(clock or Clock())
    for n in range(number):
        outliers.join(str(n))
    return outliers


@pytest.mark.parametrize(
    ("calls", "is_suspect"),
    [
        ("....", False),
        ("....x", False),
        ("xxxx", False),
        ("xxxxx", True),
        ("..........xxxxx", True),
        ("x.x.x.x.x", True),
        ("x..x..x..x..x..x", False),
        ("xxxx..........x", False),
    ],
)
def test_who_is_suspect(calls: str, is_suspect: bool) -> None:
    outliers = outliers_of(3)
    last = False
    for call in calls:
        last = False
        if call == ".":
            outliers.succeeded("0")
        else:
            last = outliers.failed("0")
    assert last is is_suspect


@pytest.mark.parametrize(
    ("replicas", "by_failures", "by_looking"),
    [(1, 0, 0), (2, 1, 1), (3, 1, 2), (5, 1, 4), (6, 2, 5), (9, 3, 8)],
)
def test_how_many_may_be_left_out(replicas: int, by_failures: int, by_looking: int) -> None:
    for confirmed, expected in ((False, by_failures), (True, by_looking)):
        outliers = outliers_of(replicas)
        out = [outliers.eject(str(n), confirmed=confirmed) is not None for n in range(replicas)]
        assert sum(out) == expected


def test_out_for_twice_as_long_each_time_and_forgiven_after_a_while() -> None:
    clock = Clock()
    outliers = outliers_of(2, clock)
    seconds = []
    for _ in range(6):
        out = outliers.eject("0")
        assert out is not None
        seconds.append(out)
        clock.now += out
        outliers.admit("0")
        outliers.succeeded("0")
    assert seconds == [5.0, 10.0, 20.0, 40.0, 60.0, 60.0]
    clock.now += LONGEST_S + 1
    assert outliers.eject("0") == SHORTEST_S


@pytest.mark.parametrize(("call", "state"), [("succeeded", "ok"), ("failed", "probing")])
def test_the_first_call_of_one_that_was_admitted_decides(call: str, state: str) -> None:
    outliers = outliers_of(2)
    outliers.eject("0")
    assert outliers.state("0") == "ejected"
    assert outliers.failed("0") is False  # was under way before
    outliers.admit("0")
    assert outliers.state("0") == "probing"
    assert getattr(outliers, call)("0") in (None, True)
    assert outliers.state("0") == state


def test_one_that_joins_untrusted_is_admitted_first_unless_it_is_alone() -> None:
    outliers = Outliers(Clock())
    outliers.join("0", trusted=False)
    outliers.join("1", trusted=False)
    assert (outliers.state("0"), outliers.state("1")) == ("ok", "ejected")


def test_when_the_last_good_one_leaves_the_next_is_back() -> None:
    clock = Clock()
    outliers = outliers_of(3, clock)
    outliers.eject("0", confirmed=True)
    clock.now += 1
    outliers.eject("1", confirmed=True)
    outliers.leave("2")
    assert (outliers.state("0"), outliers.state("1")) == ("ok", "ejected")


class AnyHistory(RuleBasedStateMachine):
    """Whatever happens to a set of replicas, one of them takes calls, and no state is entered unearned."""

    names = st.integers(0, 6).map(str)

    @initialize()
    def begin(self) -> None:
        self.clock = Clock()
        self.outliers = Outliers(self.clock)
        self.there: set[str] = set()

    @rule(name=names, trusted=st.booleans())
    def join(self, name: str, trusted: bool) -> None:
        if name not in self.there:
            self.outliers.join(name, trusted=trusted)
            self.there.add(name)

    @precondition(lambda self: self.there)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.there)))
        self.outliers.leave(name)
        self.there.remove(name)

    @precondition(lambda self: self.there)
    @rule(data=st.data(), failures=st.integers(0, 2 * FAILURES))
    def calls(self, data: st.DataObject, failures: int) -> None:
        name = data.draw(st.sampled_from(sorted(self.there)))
        before = self.outliers.state(name)
        suspect = [self.outliers.failed(name) for _ in range(failures)]
        assert self.outliers.state(name) == before
        if before == "ejected":
            assert not any(suspect)
        if before == "ok":
            assert all(suspect[FAILURES - 1 :])
        self.outliers.succeeded(name)
        assert self.outliers.state(name) == ("ejected" if before == "ejected" else "ok")

    @precondition(lambda self: self.there)
    @rule(data=st.data(), confirmed=st.booleans())
    def eject(self, data: st.DataObject, confirmed: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.there)))
        before, out = self.outliers.state(name), self.out()
        seconds = self.outliers.eject(name, confirmed=confirmed)
        if seconds is None:
            assert self.outliers.state(name) == "ok"
            assert out == len(self.there) - 1 or (not confirmed and out >= max(1, len(self.there) // 3))
        else:
            assert self.outliers.state(name) == "ejected"
            assert SHORTEST_S <= seconds <= LONGEST_S
            assert confirmed or before == "ejected" or self.out() <= max(1, len(self.there) // 3)

    @precondition(lambda self: self.there)
    @rule(data=st.data())
    def admit(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.there)))
        before = self.outliers.state(name)
        self.outliers.admit(name)
        assert self.outliers.state(name) == ("probing" if before == "ejected" else before)

    @rule(seconds=st.floats(0, 200))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def one_takes_calls(self) -> None:
        assert not self.there or self.out() < len(self.there)

    def out(self) -> int:
        return sum(self.outliers.state(name) == "ejected" for name in self.there)


AnyHistory.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestAnyHistory = AnyHistory.TestCase
