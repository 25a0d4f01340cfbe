"""Figures for a trainer's logger: right, finite, and under the same keys whatever happened."""

from __future__ import annotations

import json
import math
from statistics import stdev
from typing import Any, get_args

import pytest

from rubricate_clients.adapters import Score
from rubricate_clients.rollout_log import RolloutLog, rubric_ids
from rubricate_clients.wire import FailureKind, ScoreAnswer


def response(id: str, tone: Any, **fields: Any) -> dict[str, Any]:
    """A scored response; `tone` is a score, a skip reason or an error kind."""
    verdict: dict[str, Any] = {"id": "tone", "score": None}
    if isinstance(tone, float):
        verdict |= {"score": tone, "status": "scored"}
    elif tone == "not_eligible":
        verdict |= {"status": "skipped", "reason": tone}
    else:
        verdict |= {"status": "failed", "error": {"kind": tone, "message": "planned"}}
    decided = fields.get("valid", True)
    words = {"id": "words", "score": 1.0 if fields["eligible"] else 0.0, "status": "scored"}
    numbers = {"outcome": 1.0 if fields["eligible"] else 0.0, "quality": None, "valid": True, "reward": None}
    return {"id": id, "rubrics": [words, verdict] if decided else [verdict], **numbers, **fields}


ANSWER: dict[str, Any] = {
    "groups": [
        {
            "id": "a",
            "responses": [
                response(
                    "0", 1.0, eligible=True, quality=1.0, reward=1.0, a_out=0.5, a_proc=0.7, advantage=1.2
                ),
                response(
                    "1", 0.5, eligible=True, quality=0.5, reward=0.5, a_out=0.5, a_proc=-0.7, advantage=-0.2
                ),
                response(
                    "2", "not_eligible", eligible=False, reward=0.0, a_out=-1.0, a_proc=0.0, advantage=-1.0
                ),
            ],
        },
        {
            "id": "b",
            "responses": [
                response("0", "timeout", eligible=True, a_out=0.0, a_proc=0.0, advantage=0.0),
                response(
                    "1",
                    "no_judge",
                    eligible=False,
                    valid=False,
                    outcome=None,
                    a_out=0.0,
                    a_proc=0.0,
                    advantage=0.0,
                ),
            ],
        },
    ],
    "stats": {},
    "provenance": {},
}


def figures_of(answer: dict[str, Any], *rubrics: str) -> dict[str, float]:
    return RolloutLog(rubrics).of_answer(ScoreAnswer.model_validate(answer))


def test_figures() -> None:
    found = {
        name.removeprefix("rubricate/"): value
        for name, value in figures_of(ANSWER, "tone", "words", "never").items()
    }
    failed = {name: value for name, value in found.items() if name.startswith("failed/")}
    assert {name.removeprefix("failed/") for name in failed} == set(get_args(FailureKind))
    assert {name for name, value in failed.items() if value} == {"failed/timeout", "failed/no_judge"}
    assert {name: value for name, value in found.items() if name not in failed} == pytest.approx(
        {
            "outcome": 3 / 4,
            "quality": 0.75,
            "quality_decided": 2 / 5,
            "reward": 0.5,
            "hard_pass_rate": 3 / 4,
            "eligible_rate": 3 / 5,
            "undecided_rate": 1 / 5,
            "zero_advantage_groups": 1 / 2,
            "outcome_std": stdev([1, 1, 0]),
            "process_std": stdev([1, 0.5]),
            "outcome_advantage_std": stdev([0.5, 0.5, -1, 0]),
            "process_advantage_std": stdev([0.7, -0.7, 0, 0]),
            "rubric/tone": 0.75,
            "rubric_decided/tone": 2 / 5,
            "rubric/words": 3 / 4,
            "rubric_decided/words": 1.0,
            "rubric/never": 0.0,
            "rubric_decided/never": 0.0,
        }
    )


def test_keys_are_the_same_and_numbers_finite_whatever_happened() -> None:
    log = RolloutLog(["tone", "words"])
    usual = log.of_answer(ScoreAnswer.model_validate(ANSWER))
    lost = log.of_scores([Score(why="down")] * 3, [0, 0, 1])
    empty = log.of_scores([], [])
    assert list(usual) == list(lost) == list(empty)
    assert all(math.isfinite(value) for figures in (usual, lost, empty) for value in figures.values())
    assert lost["rubricate/undecided_rate"] == 1.0
    json.dumps(usual, allow_nan=False)


def test_scores_without_advantages_are_told() -> None:
    with pytest.raises(ValueError, match=r"no advantages.*\"method\": \"rdan\""):
        RolloutLog().of_scores([Score(outcome=1.0, valid=True)], [0])


def test_ids_of_a_data_set() -> None:
    column: list[Any] = [
        [{"id": "tone", "criterion": "Kind."}, {"check": "text:regex", "kwargs": {"pattern": "a"}}],
        '[{"id": "words", "check": "text:word_count"}, {"id": "tone", "criterion": "Warm."}]',
        [{"id": None, "criterion": "Short."}],
    ]
    assert rubric_ids(column) == ["tone", "1", "words", "0"]
