"""Outcome, quality, eligibility and reward, from verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from rubricate_clients.wire import Rubric
from rubricate_service.aggregate import Numbers, hard_outcome, numbers
from rubricate_service.verdict import Verdict, failed, scored, skipped

HOLDS = scored(1.0, True)
BREAKS = scored(0.0, False)
HALF = scored(0.5, False)
FAILED = failed("timeout", "late", "groups[0].rubrics[0]")
SKIPPED = skipped("not_eligible")


def rubric(kind: str, **fields: Any) -> Rubric:
    if kind == "check":
        return Rubric(check="punctuation:no_comma", **fields)
    return Rubric(criterion="It is kind.", **fields)


# hard verdicts -> outcome, all known to hold
OUTCOMES: list[tuple[list[Verdict | None], float | None, bool]] = [
    ([], 1.0, True),
    ([HOLDS, HOLDS], 1.0, True),
    ([HOLDS, BREAKS], 0.0, False),
    ([FAILED, BREAKS], 0.0, False),
    ([SKIPPED, BREAKS], 0.0, False),
    ([None, BREAKS], 0.0, False),
    ([HOLDS, FAILED], None, False),
    ([HOLDS, SKIPPED], None, False),
    ([HOLDS, None], None, False),
]


@pytest.mark.parametrize(("verdicts", "outcome", "eligible"), OUTCOMES)
def test_outcome_is_decided_as_soon_as_one_hard_rubric_breaks(
    verdicts: list[Verdict | None], outcome: float | None, eligible: bool
) -> None:
    rubrics = [rubric("check") for _ in verdicts]
    assert hard_outcome(rubrics, verdicts, "all") == (outcome, eligible)


@pytest.mark.parametrize(
    ("verdicts", "weights", "outcome"),
    [
        ([HOLDS, BREAKS], [1, 1], 0.5),
        ([HOLDS, BREAKS], [3, 1], 0.75),
        ([HOLDS, FAILED], [1, 1], None),
        ([BREAKS, FAILED], [1, 1], None),
        ([HOLDS, HOLDS], [1, 2], 1.0),
        ([BREAKS], [1], 0.0),
        ([HOLDS, BREAKS], [1e308, 1e308], 0.5),
    ],
)
def test_fraction_is_the_weight_share_that_holds(
    verdicts: list[Verdict], weights: list[float], outcome: float | None
) -> None:
    rubrics = [rubric("check", weight=float(w)) for w in weights]
    assert hard_outcome(rubrics, verdicts, "fraction")[0] == outcome


HARD, SOFT = rubric("check"), rubric("criterion")
HEAVY, HUGE = rubric("criterion", weight=3.0), rubric("criterion", weight=1e308)
# rubrics, verdicts, reward kind -> quality, reward
REWARDS: list[tuple[list[Rubric], list[Verdict], Any, float | None, float | None]] = [
    ([HARD, SOFT], [HOLDS, HALF], "gated", 0.5, 0.5),
    ([HARD, SOFT], [BREAKS, HALF], "gated", 0.5, 0.0),
    ([HARD, SOFT], [BREAKS, SKIPPED], "gated", None, 0.0),
    ([HARD, SOFT], [HOLDS, FAILED], "gated", None, None),
    ([HARD, SOFT], [FAILED, HALF], "gated", 0.5, None),
    ([HARD], [HOLDS], "gated", None, 1.0),
    ([SOFT, HEAVY], [HOLDS, BREAKS], "gated", 0.25, 0.25),
    ([SOFT, HUGE, HUGE], [HOLDS, HOLDS, BREAKS], "gated", 0.5, 0.5),
    ([HARD, SOFT], [HOLDS, FAILED], "outcome", None, 1.0),
    ([HARD, SOFT], [HOLDS, HOLDS], "aon", 1.0, 1.0),
    ([HARD, SOFT], [HOLDS, HALF], "aon", 0.5, 0.0),
    ([HARD, SOFT], [HOLDS, SKIPPED], "aon", None, None),
    ([HARD, SOFT], [BREAKS, SKIPPED], "aon", None, 0.0),
    ([HARD, HEAVY], [BREAKS, HOLDS], "csr", 1.0, 0.75),
    ([HARD, HEAVY], [BREAKS, SKIPPED], "csr", None, None),
]


@pytest.mark.parametrize(("rubrics", "verdicts", "kind", "quality", "reward"), REWARDS)
def test_quality_and_reward(
    rubrics: list[Rubric], verdicts: list[Verdict], kind: Any, quality: float | None, reward: float | None
) -> None:
    result = numbers(rubrics, verdicts, "all", kind)
    assert (result.quality, result.reward) == (quality, reward)


@pytest.mark.parametrize(
    ("points", "scores", "reward"),
    [
        ([5, 5], [1.0, 0.0], 0.5),
        ([1e308, 1e308], [1.0, 1.0], 1.0),
        ([5, -3], [1.0, 1.0], 1.0),  # the pitfall's score is inverted: 1 means absent
        ([5, -3], [1.0, 0.0], 0.4),
        ([5, -8], [1.0, 0.0], 0.0),  # never below 0
        ([5, -2], [0.5, 0.5], 0.3),
        ([-2], [1.0], None),  # nothing to earn
        ([5, None], [1.0, 0.0], 1.0),  # a rubric without points is worth none
    ],
)
def test_points_are_what_is_met_over_what_could_be_earned(
    points: list[float | None], scores: list[float], reward: float | None
) -> None:
    rubrics = [rubric("criterion", points=None if p is None else float(p)) for p in points]
    verdicts = [scored(score, score == 1.0) for score in scores]
    result = numbers(rubrics, verdicts, "all", "points").reward
    assert result == (None if reward is None else pytest.approx(reward))


def test_a_soft_rubric_that_is_undecided_leaves_the_response_eligible() -> None:
    assert numbers([HARD, SOFT], [HOLDS, FAILED], "all", "gated") == Numbers(1.0, None, True, True, None)
