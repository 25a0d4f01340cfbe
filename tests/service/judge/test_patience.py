from __future__ import annotations

import pytest

from rubricate_service.judge import JudgeFailure
from rubricate_service.judge.budget import RetryBudget
from rubricate_service.judge.patience import Patience


@pytest.mark.parametrize(
    ("failures", "longest"),
    [
        (["unreachable"] * 3, [0.1, 0.2, None]),
        (["unreadable", "truncated"], [0.0, None]),
        (["overloaded"] * 7, [0.0] * 7),
        (
            ["overloaded", "unreachable", "unreadable", "unreachable", "unreachable"],
            [0.0, 0.1, 0.0, 0.2, None],
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
    patience = Patience(RetryBudget())
    assert [patience.pause(JudgeFailure(kind, "")) for kind in failures] == longest  # type: ignore[arg-type]


def test_pauses_are_spread_from_zero() -> None:
    patiences = [Patience(RetryBudget()) for _ in range(200)]
    pauses = [patience.pause(JudgeFailure("unreachable", "")) for patience in patiences]
    assert all(p is not None and 0.0 <= p <= 0.1 for p in pauses)
    assert len(set(pauses)) > 100


def test_an_overloaded_engine_decides_when_it_knows() -> None:
    patience = Patience(RetryBudget())
    assert patience.pause(JudgeFailure("overloaded", "", retry_after=30.0)) == 30.0


@pytest.mark.parametrize(("kind", "left"), [("unreachable", 0), ("unreadable", 0), ("overloaded", 1)])
def test_without_a_budget_nothing_is_repeated_but_what_was_turned_away(kind: str, left: int) -> None:
    budget = RetryBudget(lambda: 0.0)
    while budget.withdraw():
        pass
    assert (Patience(budget).pause(JudgeFailure(kind, "")) is not None) == bool(left)  # type: ignore[arg-type]
