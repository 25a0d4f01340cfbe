from __future__ import annotations

import pytest

from rubricate_service.judge import JudgeFailure
from rubricate_service.judge.patience import Patience


@pytest.mark.parametrize(
    ("failures", "longest"),
    [
        (["unreachable"] * 3, [0.1, 0.2, None]),
        (["unreadable", "truncated"], [0.0, None]),
        (["overloaded"] * 7, [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0]),
        (
            ["overloaded", "unreachable", "unreadable", "unreachable", "unreachable"],
            [0.25, 0.1, 0.0, 0.2, None],
        ),
        (["timeout"], [None]),
        (["identity"], [None]),
        (["too_long"], [None]),
        (["refused"], [None]),
        (["unauthorized"], [None]),
    ],
)
def test_pauses(failures: list[str], longest: list[float | None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    patience = Patience()
    assert [patience.pause(JudgeFailure(kind, "")) for kind in failures] == longest  # type: ignore[arg-type]


def test_pauses_are_spread_from_zero() -> None:
    pauses = [Patience().pause(JudgeFailure("overloaded", "")) for _ in range(200)]
    assert all(p is not None and 0.0 <= p <= 0.25 for p in pauses)
    assert len(set(pauses)) > 100


def test_an_overloaded_engine_decides_when_it_knows() -> None:
    pause = Patience().pause(JudgeFailure("overloaded", "", retry_after=30.0))
    assert pause is not None
    assert pause >= 30.0
