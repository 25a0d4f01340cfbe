"""From verdicts to numbers, per response (contract section 3). Pure; None is undecided and stays so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rubricate_clients.wire import RewardName, Rubric
from rubricate_service.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Numbers:
    """A response in numbers: `outcome` and `quality` in [0, 1], `reward` as its kind says."""

    outcome: float | None
    quality: float | None
    valid: bool
    eligible: bool
    reward: float | None


def hard_outcome(
    rubrics: Sequence[Rubric], verdicts: Sequence[Verdict | None], kind: Literal["all", "fraction"]
) -> tuple[float | None, bool]:
    """Outcome, and whether every hard rubric is known to hold.

    `all`: 0 as soon as one hard rubric does not hold, whatever else is undecided; None when none fails
    and one is undecided; else 1. `fraction`: the weight share of those that hold, None when one is
    undecided. A response without hard rubrics has outcome 1. A missing verdict is undecided.
    """
    hard = [(r.weight, v.holds if v else None) for r, v in zip(rubrics, verdicts, strict=True) if r.is_hard]
    all_hold = all(holds is True for _, holds in hard)
    if all_hold:
        return 1.0, True
    if kind == "fraction":
        shares = [(weight, None if holds is None else float(holds)) for weight, holds in hard]
        return _weighted_mean(shares), False
    failed = any(holds is False for _, holds in hard)
    return (0.0 if failed else None), False


def _weighted_mean(pairs: list[tuple[float, float | None]]) -> float | None:
    """Σ w·score / Σ w; None when there is nothing, or something is undecided."""
    # weights are any positive numbers: by the largest one divided, they sum up without overflow
    largest = max((weight for weight, _ in pairs), default=1.0)
    total, weights = 0.0, 0.0
    for weight, score in pairs:
        if score is None:
            return None
        total += weight / largest * score
        weights += weight / largest
    return total / weights if weights else None


def _points(rubrics: Sequence[Rubric], verdicts: Sequence[Verdict]) -> float | None:
    """max(0, Σ points of what is met / Σ positive points) over the rubrics that have points.

    What a rubric of negative points describes is met when it is present, so its inverted score is
    turned back. None when one of them is undecided or none has positive points.
    """
    largest = max((abs(rubric.points) for rubric in rubrics if rubric.points is not None), default=1.0)
    met, positive = 0.0, 0.0
    for rubric, verdict in zip(rubrics, verdicts, strict=True):
        if rubric.points is None:
            continue
        if verdict.score is None:
            return None
        points = rubric.points / largest
        met += points * (verdict.score if points > 0 else 1 - verdict.score)
        positive += max(0.0, points)
    return max(0.0, met / positive) if positive else None


def _all_or_nothing(verdicts: Sequence[Verdict]) -> float | None:
    """1 when every rubric scores 1, 0 as soon as one is decided below, None otherwise."""
    scores = [verdict.score for verdict in verdicts]
    if any(score is not None and score < 1 for score in scores):
        return 0.0
    return None if None in scores else 1.0


def numbers(
    rubrics: Sequence[Rubric],
    verdicts: Sequence[Verdict],
    outcome_kind: Literal["all", "fraction"],
    reward_kind: RewardName,
) -> Numbers:
    """All numbers of one response, from its rubrics and their verdicts in the same order."""
    outcome, eligible = hard_outcome(rubrics, verdicts, outcome_kind)
    pairs = list(zip(rubrics, verdicts, strict=True))
    soft = [(r.weight, v.score) for r, v in pairs if not r.is_hard]
    quality = _weighted_mean(soft)
    reward: float | None
    if reward_kind == "outcome":
        reward = outcome
    elif reward_kind == "aon":
        reward = _all_or_nothing(verdicts)
    elif reward_kind == "csr":
        reward = _weighted_mean([(r.weight, v.score) for r, v in pairs])
    elif reward_kind == "points":
        reward = _points(rubrics, verdicts)
    elif outcome is None or outcome == 0 or not soft:
        reward = outcome
    else:
        reward = None if quality is None else outcome * quality
    return Numbers(outcome, quality, outcome is not None, outcome is not None and eligible, reward)
