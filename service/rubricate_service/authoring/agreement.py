"""Agreement of two raters beyond chance, and how sure one can be of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Weights = Literal["none", "quadratic"]
Counts = NDArray[np.int64]

_RESAMPLES = 2000
_SEED = 20_240_607
_AT_A_TIME = 200
_DEFINED = 0.9
"""The share of resamples that must have a κ: where many have none, an interval of the rest misleads."""


class Interval(NamedTuple):
    """A 95 % interval."""

    low: float
    high: float


def confusion(first: Sequence[int], second: Sequence[int], size: int) -> Counts:
    """How often the raters said what: rows for the first, columns for the second, labels 0 to size - 1."""
    counts = np.zeros((size, size), dtype=np.int64)
    np.add.at(counts, (np.asarray(first, dtype=int), np.asarray(second, dtype=int)), 1)
    return counts


def kappa(counts: Counts, weights: Weights = "none") -> float | None:
    """Cohen's κ (1960), or its weighted form (1968) with weights (i - j)², at most 1.

    1 - Σ w·observed / Σ w·expected, where expected is the product of the margins and w the disagreement.

    Args:
        counts: A confusion matrix.
        weights: How much a disagreement counts: all alike, or by the square of its distance.

    Returns:
        None where chance alone would agree always: both raters have one and the same label.
    """
    (value,) = _kappas(counts[np.newaxis], weights)
    return None if np.isnan(value) else float(value)


def interval(clusters: Sequence[Counts], weights: Weights = "none") -> Interval | None:
    """The percentile bootstrap's 95 % interval of κ (Efron, 1979), the same each time it is asked for.

    Args:
        clusters: A confusion matrix for each set of rows that belong together, which are drawn as one.
        weights: As in `kappa`.

    Returns:
        None with fewer than two clusters, or where too many resamples have no κ.
    """
    if len(clusters) < 2:
        return None
    size = clusters[0].shape[0]
    flat = np.stack(clusters).reshape(len(clusters), size * size)
    rng = np.random.default_rng(_SEED)
    share = np.full(len(clusters), 1 / len(clusters))
    values: list[Any] = []
    for _ in range(0, _RESAMPLES, _AT_A_TIME):
        drawn = rng.multinomial(len(clusters), share, size=_AT_A_TIME) @ flat
        values.append(_kappas(drawn.reshape(_AT_A_TIME, size, size), weights))
    found = np.concatenate(values)
    found = found[~np.isnan(found)]
    if len(found) < _DEFINED * _RESAMPLES:
        return None
    low, high = np.quantile(found, [0.025, 0.975])
    return Interval(float(low), float(high))


def _kappas(counts: Counts, weights: Weights) -> NDArray[np.float64]:
    """κ of each of a stack of confusion matrices, NaN where it is undefined."""
    size = counts.shape[-1]
    distance = np.subtract.outer(np.arange(size), np.arange(size))
    cost = (distance != 0) * 1.0 if weights == "none" else distance.astype(float) ** 2
    total = counts.sum(axis=(1, 2))
    expected = counts.sum(axis=2)[:, :, np.newaxis] * counts.sum(axis=1)[:, np.newaxis, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        observed_cost = (cost * counts).sum(axis=(1, 2)) / total
        expected_cost = (cost * expected).sum(axis=(1, 2)) / total.astype(float) ** 2
        value: NDArray[np.float64] = 1 - observed_cost / expected_cost
    return np.where(expected_cost > 0, value, np.nan)
