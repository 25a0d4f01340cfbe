"""NeMo Gym's `/aggregate_metrics`: figures over many answers of `/verify`. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, median, stdev
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_TASK, _ROLLOUT = "_ng_task_index", "_ng_rollout_index"
_LARGEST = 1e150  # the square of such a number, and the sum of many, are finite

Figures = dict[str, float]


def _countable(value: Any) -> Any:
    if isinstance(value, int | float) and not abs(value) <= _LARGEST:
        raise ValueError(f"a number must lie between -{_LARGEST:g} and {_LARGEST:g}")
    return value


_Field = Annotated[Any, AfterValidator(_countable)]
_Index = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class VerifiedResponse(BaseModel):
    """The model's response of a row, of which the usage is looked at."""

    model_config = ConfigDict(extra="ignore", strict=True)

    usage: dict[str, _Field] | None = None


class VerifiedRow(BaseModel):
    """An answer of `/verify`, without its heavy fields."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, _Field]

    task: _Index | None = Field(None, alias=_TASK)
    rollout: _Index | None = Field(None, alias=_ROLLOUT)
    response: VerifiedResponse | None = None

    def numbers(self) -> Figures:
        """Its numbers and those of the usage, by name; a flag is 0 or 1."""
        usage = (self.response and self.response.usage) or {}
        return {
            name: float(value)
            for name, value in {**self.__pydantic_extra__, **usage}.items()
            if isinstance(value, int | float)
        }


class AggregateMetrics(BaseModel):
    """Figures under flat names such as `mean/reward`: by task, over all, and those worth showing first."""

    group_level_metrics: list[dict[str, Any]] = []
    agent_metrics: dict[str, Any] = {}
    key_metrics: dict[str, Any] = {}


def aggregate(rows: Sequence[VerifiedRow]) -> AggregateMetrics:
    """The figures that NeMo Gym's own servers give (its `RewardProfiler`; histograms are left out there too).

    Args:
        rows: Answers of `/verify`; an index that is missing is 0.
    """
    if not rows:
        return AggregateMetrics()
    tasks: defaultdict[int, list[VerifiedRow]] = defaultdict(list)
    for row in rows:
        tasks[row.task or 0].append(row)
    overall = _figures([row.numbers() for row in rows])
    return AggregateMetrics(
        group_level_metrics=[_of_task(index, tasks[index]) for index in sorted(tasks)],
        agent_metrics=overall,
        key_metrics={name: value for name, value in overall.items() if name.startswith("mean/")},
    )


def _of_task(index: int, rows: Sequence[VerifiedRow]) -> dict[str, Any]:
    rollouts = [
        {
            "rollout_id": f"{index}:{row.rollout or 0}",
            _TASK: index,
            _ROLLOUT: row.rollout or 0,
            **row.numbers(),
        }
        for row in rows
    ]
    return {
        _TASK: index,
        **_figures([row.numbers() for row in rows]),
        "sample": {"agent_ref": {"name": "agent"}},  # all that is left of a row there
        "num_rollouts": len(rows),
        "expected_num_rollouts": len(rows),
        "missing_num_rollouts": 0,
        "reward_profile_completion_pct": 100.0,
        "rollout_infos": sorted(rollouts, key=lambda rollout: rollout[_ROLLOUT]),
    }


def _figures(rows: Sequence[Figures]) -> Figures:
    columns: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        for name, value in row.items():
            columns[name].append(value)
    figures: Figures = {}
    for name, values in columns.items():
        figures |= {
            f"mean/{name}": fmean(values),
            f"max/{name}": max(values),
            f"min/{name}": min(values),
            f"median/{name}": median(values),
        }
        if len(values) > 1 or len(rows) == 1:  # of one value among many rows there is none
            figures[f"std/{name}"] = stdev(values) if len(values) > 1 else 0.0
    return figures
