"""The methods that turn one reward per response into advantages."""

from __future__ import annotations

import numpy as np

from .arrays import Flags, Floats, Values, number, whole_number
from .batch import Batch, gated_reward, need, read
from .result import Advantages, answer
from .statistics import negative_enhanced, spread, z_scores

NGRPO_CLIP = (0.16, 0.24)
"""NGRPO's epsilons: the ratio is clipped to [1 - 0.16, 1 + 0.24] (arXiv 2509.18851).

For the trainer's settings, since the loss is the trainer's: `clip_ratio_low` and `clip_ratio_high` in verl,
`epsilon` and `epsilon_high` in TRL. The lower one holds back the many negative advantages that NGRPO makes.
"""


def grpo(
    groups: Values,
    *,
    outcome: Values = None,
    quality: Values = None,
    eligible: Values = None,
    valid: Values = None,
    reward: Values = None,
) -> Advantages:
    """GRPO: A = z(reward).

    Source: GRPO (arXiv 2402.03300), with ddof 1 as in the common trainers.

    Args:
        groups: group id of each response, N hashables or integers.
        outcome: in [0, 1]; needed when `reward` is not given.
        quality: in [0, 1]; used when `reward` is not given.
        eligible: whether all hard rubrics hold; by default, whether the outcome is 1. Used when `reward`
            is not given, to tell a quality that gating left out from a failed judge.
        valid: whether the response counts at all; by default, whether its outcome is decided. A response
            with an undecided reward never counts.
        reward: any numbers; by default the `gated` one: 0 where the outcome is 0, else
            outcome x quality, and the outcome itself in a group where nobody has a quality.

    Raises:
        NeedsAllScores: the default reward needs a quality that gating left out (only possible with an
            outcome between 0 and 1).
        AdvantageError: an input is missing, unreadable, or of another length.
    """
    batch, rewards, members = _rewards("grpo", groups, outcome, quality, eligible, valid, reward)
    return answer(batch, z_scores(rewards, batch.group, members))


def dr_grpo(
    groups: Values,
    *,
    outcome: Values = None,
    quality: Values = None,
    eligible: Values = None,
    valid: Values = None,
    reward: Values = None,
) -> Advantages:
    """Dr. GRPO: A = reward - mean, without a std.

    Source: Dr. GRPO (arXiv 2503.20783). Arguments and errors as in `grpo`.
    """
    batch, rewards, members = _rewards("dr_grpo", groups, outcome, quality, eligible, valid, reward)
    advantages = np.zeros(len(rewards))
    advantages[members] = spread(rewards[members], batch.group[members]).deviation
    return answer(batch, advantages)


def rloo(
    groups: Values,
    *,
    outcome: Values = None,
    quality: Values = None,
    eligible: Values = None,
    valid: Values = None,
    reward: Values = None,
) -> Advantages:
    """RLOO: the reward minus the mean of the others, A = G / (G - 1) * (reward - mean); 0 when G = 1.

    Source: RLOO (arXiv 2402.14740). G counts the valid responses. Arguments and errors as in `grpo`.
    """
    batch, rewards, members = _rewards("rloo", groups, outcome, quality, eligible, valid, reward)
    part = spread(rewards[members], batch.group[members])
    advantages = np.zeros(len(rewards))
    advantages[members] = part.count / np.maximum(part.count - 1, 1) * part.deviation
    return answer(batch, advantages)


def ngrpo(
    groups: Values,
    *,
    outcome: Values = None,
    quality: Values = None,
    eligible: Values = None,
    valid: Values = None,
    reward: Values = None,
    r_max: float = 1.0,
    virtual: int = 1,
) -> Advantages:
    """NGRPO: rewards standardised with `virtual` extra members of reward `r_max` in the statistics.

    A = (reward - mean) / (std + EPS), without a guard. All at r_max: exactly 0. All wrong: negative, so
    that the group teaches. A group of one gets no virtual member: A = reward / (1 + EPS).

    The other half of NGRPO is in the trainer's loss, which clips the ratio at `NGRPO_CLIP`.

    Source: NGRPO (arXiv 2509.18851), as its authors' code has it.

    Args:
        groups: group id of each response, N hashables or integers.
        outcome: see `grpo`, likewise the next four.
        quality: see `grpo`.
        eligible: see `grpo`.
        valid: see `grpo`.
        reward: see `grpo`.
        r_max: the highest reward there can be; a lower one turns the virtual members into bad examples.
        virtual: number of virtual members, 0 or more.

    Raises:
        AdvantageError: as `grpo`.
    """
    top, extra = number(r_max, "r_max"), whole_number(virtual, "virtual")
    batch, rewards, members = _rewards("ngrpo", groups, outcome, quality, eligible, valid, reward)
    return answer(batch, negative_enhanced(rewards, batch.group, members, top, extra))


def _rewards(
    method: str,
    groups: Values,
    outcome: Values,
    quality: Values,
    eligible: Values,
    valid: Values,
    reward: Values,
) -> tuple[Batch, Floats, Flags]:
    """Read the inputs; gives the batch, its rewards, and which of them count."""
    if reward is None:
        need(f"{method} without `reward`", outcome=outcome)
    batch = read(groups, outcome=outcome, quality=quality, eligible=eligible, valid=valid, reward=reward)
    rewards = gated_reward(batch) if reward is None else batch.reward
    return batch, rewards, batch.valid & ~np.isnan(rewards)
