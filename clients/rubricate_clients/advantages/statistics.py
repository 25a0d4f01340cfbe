"""Mean and spread of groups, in two passes over float64.

All arrays are flat, shape (M,): one entry per value, `group` telling which group it belongs to. A
group's sums are taken in ascending order of its values, so a permuted input gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Flags, Floats, Numbers

EPS = 1e-6
"""Added to every std, and, times max(1, |mean|), the std up to which values count as equal."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics of each value's group, shape (M,) each."""

    count: Numbers
    """Members of the group, virtual ones left out."""
    mean: Floats
    deviation: Floats
    """The value minus its group's mean; exactly 0 when all are equal."""
    std: Floats
    """Sample standard deviation (ddof 1); 0 for a single value."""


def spread(values: Floats, group: Numbers, virtual: int = 0, virtual_value: float = 0.0) -> Spread:
    """Take each group's statistics, as if it had `virtual` more members of `virtual_value`."""
    order = np.argsort(values, kind="stable")

    def total(x: Floats) -> Floats:
        return np.bincount(group[order], weights=x[order])[group].astype(np.float64, copy=False)

    members = np.bincount(group)
    top = np.full(len(members), -np.inf)
    np.maximum.at(top, group, values)
    count = members[group]
    origin = top[group]
    # Measured from the group's largest value, equal values are all 0: no rounding can part them.
    shifted, virtual_shifted = values - origin, virtual_value - origin
    mean = (total(shifted) + virtual * virtual_shifted) / (count + virtual)
    deviation = shifted - mean
    squares = total(deviation**2) + virtual * (virtual_shifted - mean) ** 2
    std = np.sqrt(squares / np.maximum(count + virtual - 1, 1))
    return Spread(count=count, mean=origin + mean, deviation=deviation, std=std)


def z_scores(values: Floats, group: Numbers, members: Flags, sigma_floor: float = 0.0) -> Floats:
    """Standardise values within their groups: (x - mean) / (max(std, sigma_floor) + EPS).

    Args:
        values: shape (N,); what is outside `members` may be NaN.
        group: group numbers, shape (N,).
        members: the values that count, shape (N,).
        sigma_floor: least std to divide by, 0 or more.

    Returns:
        Shape (N,). Exactly 0 outside `members`, where a group has fewer than two members, and where
        its std is at most EPS * max(1, |mean|): float noise on equal scores must not become a signal.
    """
    part = spread(values[members], group[members])
    equal = (part.count < 2) | (part.std <= EPS * np.maximum(1.0, np.abs(part.mean)))
    z = np.zeros(len(values))
    z[members] = np.where(equal, 0.0, part.deviation / (np.maximum(part.std, sigma_floor) + EPS))
    return z


def negative_enhanced(values: Floats, group: Numbers, members: Flags, r_max: float, virtual: int) -> Floats:
    """Standardise values within their groups, to which `virtual` members of value `r_max` are added.

    Without the guard of `z_scores`: NGRPO has none. A group of one gets no virtual member and keeps
    its value: mean 0 and std 1, as in the authors' code. Arguments and shapes as in `z_scores`.
    """
    part = spread(values[members], group[members], virtual, r_max)
    z = np.zeros(len(values))
    z[members] = np.where(part.count == 1, values[members] / (1.0 + EPS), part.deviation / (part.std + EPS))
    return z
