"""When the client tries again, on a clock of the test."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rubricate_clients import ServiceUnavailable
from rubricate_clients._call import Call, Reply, retry_after_s

BUSY = Reply(503, None, b"busy")
NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def waits(draw: float, timeout_s: float, attempt_s: float = 0.0, reply: Reply = BUSY) -> list[float]:
    """Waits of a call to a service that stays busy, until the client gives up."""
    clock, told = Clock(), list[float]()
    call = Call("POST", "http://service/v1/score", {}, b"", timeout_s, clock=clock, draw=lambda: draw)
    while True:
        clock.now += attempt_s
        try:
            told.append(call.after(reply))
        except ServiceUnavailable:
            assert clock.now <= 100.0 + timeout_s
            return told
        clock.now += told[-1]


def test_waits_double_up_to_a_cap_and_fill_the_deadline() -> None:
    doubled = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0, 10.0]
    assert waits(draw=1.0, timeout_s=60.0) == [*doubled, 60.0 - sum(doubled) - 1.0]


def test_jitter_is_full() -> None:
    assert waits(draw=0.5, timeout_s=5.0)[:-1] == [0.125, 0.25, 0.5, 1.0, 2.0]
    assert set(waits(draw=0.0, timeout_s=4.0, attempt_s=0.5)) == {0.0}


def test_no_attempt_is_made_that_has_no_time() -> None:
    assert waits(draw=1.0, timeout_s=0.2, attempt_s=0.19) == []


@pytest.mark.parametrize(("timeout_s", "useful_s"), [(120.0, 1.0), (10.0, 1.0), (2.0, 0.2), (0.4, 0.04)])
@pytest.mark.parametrize("draw", [0.3, 1.0])
def test_one_long_wait_does_not_end_a_call_that_has_time_left(
    timeout_s: float, useful_s: float, draw: float
) -> None:
    assert sum(waits(draw, timeout_s)) == pytest.approx(timeout_s - useful_s)


def test_a_pause_that_the_service_asks_for_is_never_cut() -> None:
    assert waits(draw=1.0, timeout_s=10.0, reply=Reply(429, "6", b"")) == [6.25]
    assert waits(draw=1.0, timeout_s=6.5, reply=Reply(429, "6", b"")) == []
    call = Call("POST", "http://service", {}, b"", 6.5)
    with pytest.raises(ServiceUnavailable, match=r"asks for a pause of 6\.0 s, and 6\.5 of 6\.5 s are left"):
        call.after(Reply(429, "6", b""))


def test_many_attempts_do_not_overflow() -> None:
    assert len(waits(draw=0.01, timeout_s=300.0)) > 2000


def test_jitter_comes_on_top_of_retry_after() -> None:
    call = Call("POST", "http://service", {}, b"", 60.0, draw=lambda: 0.5)
    assert call.after(Reply(429, "7", b"")) == 7.125


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0.0),
        ("0", 0.0),
        ("7", 7.0),
        ("1.5", 1.5),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tue, 14 Nov 2023 23:13:50 +0100", 30.0),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0.0),
        ("-3", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        ("nan", 0.0),
        ("1e9", 0.0),
        ("٣", 0.0),
    ],
)
def test_retry_after(value: str | None, seconds: float) -> None:
    assert retry_after_s(value, NOW) == seconds
