"""Agreement beyond chance, against figures worked out by hand and an independent computation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rubricate_service.authoring.agreement import Counts, confusion, interval, kappa


@pytest.mark.parametrize(
    ("rows", "plain", "weighted"),
    [
        # 35 of 50 agree; by chance .5*.6 + .5*.4 = .5 do
        ([[20, 5], [10, 15]], (0.7 - 0.5) / 0.5, 0.4),
        ([[5, 0], [0, 5]], 1.0, 1.0),
        ([[0, 5], [5, 0]], -1.0, -1.0),
        ([[6, 2], [3, 1]], 0.0, 0.0),
        # costs: observed (2*1 + 1*4)/10 of the largest 4, expected from margins (4,3,3) and (4,3,3)
        ([[3, 1, 0], [0, 2, 1], [1, 0, 2]], (0.7 - 0.34) / 0.66, 1 - 0.6 / 1.38),
        ([[4, 0], [0, 0]], None, None),
    ],
)
def test_kappa_is_cohens(rows: list[list[int]], plain: float | None, weighted: float | None) -> None:
    counts = np.array(rows)
    assert kappa(counts) == pytest.approx(plain)
    assert kappa(counts, "quadratic") == pytest.approx(weighted)


def test_weighted_kappa_is_computed_from_pairs_alike() -> None:
    """Σ of squared distances over what pairs of independent draws from the margins would have."""
    rng = np.random.default_rng(1)
    people, judge = rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    observed = np.mean((people - judge) ** 2)
    expected = np.mean([(a - b) ** 2 for a, b in itertools.product(people, judge)])
    counts = confusion(people.tolist(), judge.tolist(), 3)
    assert counts.sum() == 60
    assert kappa(counts, "quadratic") == pytest.approx(1 - observed / expected)


def test_the_interval_covers_kappa_and_narrows_with_more_rows() -> None:
    rng = np.random.default_rng(2)

    def rows(n: int) -> list[Counts]:
        people = rng.integers(0, 2, n)
        judge = np.where(rng.random(n) < 0.85, people, 1 - people)
        return [confusion([a], [b], 2) for a, b in zip(people, judge, strict=True)]

    few, many = interval(rows(40)), interval(rows(1000))
    assert few is not None
    assert many is not None
    assert few.low < 0.7 < few.high
    assert many.low < 0.7 < many.high
    assert many.high - many.low < (few.high - few.low) / 3


def test_the_interval_is_the_same_each_time() -> None:
    rows = [confusion([a], [b], 2) for a, b in [(0, 0), (1, 1), (1, 0), (0, 0), (1, 1), (0, 1)] * 5]
    assert interval(rows) == interval(rows)


def test_rows_that_belong_together_make_the_interval_wider() -> None:
    """Twenty prompts with ten equal rows each are twenty observations, not two hundred."""
    rng = np.random.default_rng(3)
    people = rng.integers(0, 2, 20)
    judge = np.where(rng.random(20) < 0.8, people, 1 - people)
    pairs = list(zip(people, judge, strict=True))
    apart = interval([confusion([a], [b], 2) for a, b in pairs for _ in range(10)])
    together = interval([10 * confusion([a], [b], 2) for a, b in pairs])
    assert apart is not None
    assert together is not None
    assert together.high - together.low > 2 * (apart.high - apart.low)


@pytest.mark.parametrize("rows", [[confusion([0], [0], 2)], [confusion([0], [0], 2)] * 10])
def test_there_is_no_interval_where_there_is_no_kappa(rows: list[Counts]) -> None:
    assert interval(rows) is None
