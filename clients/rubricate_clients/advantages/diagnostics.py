"""A few figures on a batch, for a trainer's log."""

from __future__ import annotations

import numpy as np

from .arrays import Flags, Floats, Numbers, Values, floats
from .batch import Batch, need, read
from .errors import AdvantageError
from .statistics import spread


def diagnostics(
    groups: Values,
    advantages: Values,
    *,
    outcome: Values,
    quality: Values = None,
    eligible: Values = None,
    valid: Values = None,
    a_out: Values = None,
    a_proc: Values = None,
) -> dict[str, float]:
    """Summarise N responses and their advantages.

    The keys are always the same and the figures finite. A share of nothing is 0: read
    `hard_pass_rate` beside `undecided_rate`.

    Args:
        groups: group id of each response, N hashables or integers.
        advantages: the advantages computed for them.
        outcome: as given to the method, likewise the next three.
        quality: in [0, 1], undecided as None or NaN.
        eligible: by default, whether the outcome is 1.
        valid: by default, whether the outcome is decided.
        a_out: the outcome channel of the advantages, where the method has channels.
        a_proc: the quality channel, likewise.

    Returns:
        `hard_pass_rate`, the share of valid responses that are eligible; `eligible_rate` and
        `undecided_rate`, the shares of all responses that are eligible and that are not valid;
        `zero_advantage_groups`, the share of groups that teach nothing, all their advantages being 0;
        `outcome_std` and `process_std`, the sample std of outcome within valid and of quality within
        RDAN's C, averaged over the groups that have two such responses. With the channels also
        `outcome_advantage_std` and `process_advantage_std`, the sample std of each over all valid
        responses: how much of the signal comes from either.

    Raises:
        AdvantageError: an input is missing, unreadable, or of another length.
    """
    need("diagnostics", advantages=advantages, outcome=outcome)
    batch = read(groups, outcome=outcome, quality=quality, eligible=eligible, valid=valid)
    values = _per_response(advantages, "advantages", batch)
    eligible_and_valid = batch.eligible & batch.valid
    teaches = np.bincount(batch.group, weights=values != 0) > 0
    figures = {
        "hard_pass_rate": _share(eligible_and_valid[batch.valid]),
        "eligible_rate": _share(eligible_and_valid),
        "undecided_rate": _share(~batch.valid),
        "zero_advantage_groups": _share(~teaches),
        "outcome_std": _mean_std(batch.outcome, batch.group, batch.valid),
        "process_std": _mean_std(batch.quality, batch.group, batch.candidates),
    }
    for channel, name, key in (
        (a_out, "a_out", "outcome_advantage_std"),
        (a_proc, "a_proc", "process_advantage_std"),
    ):
        if channel is not None:
            one_group = np.zeros_like(batch.group)
            figures[key] = _mean_std(_per_response(channel, name, batch), one_group, batch.valid)
    return figures


def _per_response(values: Values, name: str, batch: Batch) -> Floats:
    found = floats(values, name)
    if len(found) != len(batch.group):
        raise AdvantageError(f"`{name}` has {len(found)} values for {len(batch.group)} responses")
    return found


def _share(of: Flags) -> float:
    return float(of.mean()) if len(of) else 0.0


def _mean_std(values: Floats, group: Numbers, members: Flags) -> float:
    """Mean over groups of two or more members of their std; 0 when there is no such group."""
    part = spread(values[members], group[members])
    several = part.count >= 2
    if not several.any():
        return 0.0
    # Every member carries its group's std, so a member weighs 1 / count.
    return float(np.average(part.std[several], weights=1.0 / part.count[several]))
