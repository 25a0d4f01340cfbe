"""What verl carries beside the reward of a response: a score as numbers, and back again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from rubricate_clients.adapters._scoring import Score
from rubricate_clients.wire import FailureKind

PREFIX = "rdan_"
"""Before the name of each number, since verl keeps them beside columns of its own."""

_RUBRIC = "rubric/"


def columns_of(score: Score, log_rubrics: Sequence[str]) -> dict[str, float]:
    """The numbers of one response: the same names for each, and all finite.

    They are those of `Score.numbers`; `reward`; `signal`, the outcome plus the quality of an eligible
    response; `rubric/ID` for each rubric to be logged; and `failed/KIND`, the number of verdicts that
    failed so. What is undecided is 0.0, beside a 0.0 in `reward_valid` or `rubric_valid/ID`; a response
    without this rubric has a 0.0 in `rubric_asked/ID`.
    """
    numbers = score.numbers()
    numbers["signal"] = numbers["outcome"] + numbers["eligible"] * numbers["quality"]
    numbers["reward"] = score.reward or 0.0
    numbers["reward_valid"] = float(score.reward is not None)
    for id in log_rubrics:
        value = score.rubrics.get(id)
        numbers[_RUBRIC + id] = value or 0.0
        numbers[f"rubric_valid/{id}"] = float(value is not None)
        numbers[f"rubric_asked/{id}"] = float(id in score.rubrics)
    for kind in get_args(FailureKind):
        numbers[f"failed/{kind}"] = float(score.failed.count(kind))
    return {PREFIX + name: value for name, value in numbers.items()}


def numbers_of(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The names of `Score.numbers`, each with what verl has kept under it.

    Raises:
        ValueError: The rows were not rewarded by `rdan_reward`.
    """
    return _read(columns, Score().numbers())


def score_of(columns: Mapping[str, Any]) -> Score:
    """The score of which `columns_of` made these numbers, but for `why` and rubrics that are not logged.

    Raises:
        ValueError: The row was not rewarded by `rdan_reward`.
    """
    ids = logged_rubrics(columns)
    found = _read(columns, [name.removeprefix(PREFIX) for name in columns_of(Score(), ids)])

    def decided(name: str, flag: str) -> float | None:
        return float(found[name]) if found[flag] else None

    return Score(
        outcome=decided("outcome", "valid"),
        quality=decided("quality", "quality_valid"),
        eligible=bool(found["eligible"]),
        valid=bool(found["valid"]),
        reward=decided("reward", "reward_valid"),
        rubrics={
            id: decided(_RUBRIC + id, f"rubric_valid/{id}") for id in ids if found[f"rubric_asked/{id}"]
        },
        failed=tuple(kind for kind in get_args(FailureKind) for _ in range(int(found[f"failed/{kind}"]))),
    )


def logged_rubrics(columns: Iterable[str]) -> list[str]:
    """Ids of the rubrics that `log_rubrics` named where the rewards were made."""
    start = PREFIX + _RUBRIC
    return [name.removeprefix(start) for name in columns if name.startswith(start)]


def _read(columns: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    missing = [PREFIX + name for name in names if PREFIX + name not in columns]
    if missing:
        raise ValueError(
            f"the batch lacks {', '.join(missing)}: set reward.custom_reward_function to `rdan_reward` of "
            "pkg://rubricate_clients.adapters.verl"
        )
    return {name: columns[PREFIX + name] for name in names}
