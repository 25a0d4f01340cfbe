"""The inputs of one call, read, checked and completed with the contract's defaults."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from .arrays import Flags, Floats, Numbers, Values, flags, floats, group_numbers
from .errors import AdvantageError, NeedsAllScores


@dataclass(frozen=True, slots=True)
class Batch:
    """N responses of one or more groups; every array has shape (N,)."""

    group: Numbers
    ids: list[Hashable]
    """Group id of each group number."""
    form: Values
    """The input whose type the answer takes."""
    outcome: Floats
    quality: Floats
    reward: Floats
    """NaN where undecided, and everywhere when an input was not given; likewise the two above."""
    eligible: Flags
    valid: Flags
    """Whether the outcome counts; an undecided outcome never does."""

    @property
    def candidates(self) -> Flags:
        """RDAN's C: valid, eligible, and with a decided quality."""
        return self.valid & self.eligible & ~np.isnan(self.quality)

    @property
    def has_soft(self) -> Flags:
        """Whether anyone in the response's group has a quality, so that there are soft rubrics."""
        decided = np.bincount(self.group, weights=~np.isnan(self.quality))
        return decided[self.group] > 0

    def refuse_gated(self, needed: Flags, what: str) -> None:
        """Refuse to go on where a quality that `what` needs was left out by gating.

        The mark of gating is a valid response that is not eligible and has no quality while others of
        its group have one. A judge that failed on such a response leaves the same mark: which of the two
        it was is not in the numbers, so neither is guessed.

        Raises:
            NeedsAllScores: names the first such response.
        """
        gated = needed & self.has_soft & self.valid & ~self.eligible & np.isnan(self.quality)
        for i in np.flatnonzero(gated)[:1]:
            raise NeedsAllScores(
                f"`quality[{i}]` (group {self.ids[self.group[i]]!r}) is undecided on a response that is not "
                f"eligible, while others of its group have a quality; {what} needs every score. Score with "
                "`judging: all`; where a judge failed even so, pass `valid` as false for that response"
            )


def need(caller: str, **inputs: Values) -> None:
    """Raise `AdvantageError` for an input that is None although `caller` cannot do without."""
    for name, values in inputs.items():
        if values is None:
            raise AdvantageError(f"{caller} needs `{name}`, and it is not given")


def read(
    groups: Values,
    *,
    outcome: Values = None,
    quality: Values = None,
    eligible: Values = None,
    valid: Values = None,
    reward: Values = None,
) -> Batch:
    """Read one call's inputs; all but `groups` may be None (not given).

    `valid` defaults to "outcome is decided" (true when no outcome is given), `eligible` to "outcome is
    1", which is right for outcomes that nobody shaped.

    Raises:
        AdvantageError: an input cannot be read, or its length differs from that of `groups`.
    """
    group, ids = group_numbers(groups)

    def size_of_groups(array: Floats | Flags, name: str) -> None:
        if len(array) != len(group):
            raise AdvantageError(
                f"`{name}` has {len(array)} values and `groups` {len(group)}; both have one per response"
            )

    def channel(values: Values, name: str) -> Floats:
        array = np.full(len(group), np.nan) if values is None else floats(values, name)
        size_of_groups(array, name)
        return array

    def mask(values: Values, name: str, default: Flags) -> Flags:
        array = default if values is None else flags(values, name)
        size_of_groups(array, name)
        return array

    outcomes = channel(outcome, "outcome")
    decided = ~np.isnan(outcomes) if outcome is not None else np.ones(len(group), np.bool_)
    return Batch(
        group=group,
        ids=ids,
        form=next((values for values in (outcome, reward, quality) if values is not None), []),
        outcome=outcomes,
        quality=channel(quality, "quality"),
        reward=channel(reward, "reward"),
        eligible=mask(eligible, "eligible", outcomes >= 1),
        valid=decided & mask(valid, "valid", decided),
    )


def gated_reward(batch: Batch) -> Floats:
    """The `gated` reward, shape (N,): outcome x quality, whatever the quality where the outcome is 0.

    A group in which nobody has a quality is taken to have no soft rubrics: its reward is the outcome.
    NaN where undecided.

    Raises:
        NeedsAllScores: a partial outcome of a response that is not eligible lacks its quality.
    """
    soft = batch.has_soft
    batch.refuse_gated(batch.outcome != 0, "the gated reward of a partial outcome")
    graded = np.where(soft, batch.outcome * batch.quality, batch.outcome)
    return np.where(batch.outcome == 0, 0.0, graded)
