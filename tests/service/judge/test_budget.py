from __future__ import annotations

import pytest

from rubricate_service.judge.budget import FLOOR, MOST, QUESTIONS, RetryBudget


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def drain(budget: RetryBudget) -> int:
    taken = 0
    while budget.withdraw():
        taken += 1
    return taken


@pytest.mark.parametrize(
    ("questions", "retries"),
    [(0, FLOOR), (QUESTIONS - 1, FLOOR), (QUESTIONS, FLOOR + 1), (600, FLOOR + 100), (10_000, MOST)],
)
def test_retries_that_questions_leave(questions: int, retries: int) -> None:
    budget = RetryBudget(Clock())
    for _ in range(questions):
        budget.deposit()
    assert drain(budget) == retries


def test_when_everything_fails_a_sixth_is_repeated() -> None:
    budget, retries = RetryBudget(Clock()), 0
    for _ in range(1200):
        budget.deposit()
        retries += budget.withdraw() + budget.withdraw()
    assert retries == 200 + FLOOR


@pytest.mark.parametrize(("seconds", "retries"), [(0.5, 0), (3.2, 3), (1e6, FLOOR)])
def test_a_few_come_back_with_time(seconds: float, retries: int) -> None:
    clock = Clock()
    budget = RetryBudget(clock)
    assert drain(budget) == FLOOR
    clock.now += seconds
    assert drain(budget) == retries
