"""NeMo Gym's `/aggregate_metrics`: figures over many answers of `/verify`. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any

from pydantic import BaseModel

_TASK, _ROLLOUT = "_ng_task_index", "_ng_rollout_index"
_INDICES = frozenset({_TASK, _ROLLOUT})

Row = Mapping[str, Any]
Figures = dict[str, float]


class AggregateMetrics(BaseModel):
    """Figures under flat names such as `mean/reward`: by task, over all, and those worth showing first."""

    group_level_metrics: list[dict[str, Any]] = []
    agent_metrics: dict[str, Any] = {}
    key_metrics: dict[str, Any] = {}


def aggregate(rows: Sequence[Row]) -> AggregateMetrics:
    """The figures that NeMo Gym's own servers give (its `RewardProfiler`; histograms are left out there too).

    Args:
        rows: Answers of `/verify` with `_ng_task_index` and `_ng_rollout_index` (0 where they are missing).
            Their numbers count, those of `response.usage` included; a flag counts as 0 or 1.
    """
    if not rows:
        return AggregateMetrics()
    tasks: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        tasks[row.get(_TASK, 0)].append(row)
    overall = _figures([*map(_numbers, rows)])
    return AggregateMetrics(
        group_level_metrics=[_of_task(index, tasks[index]) for index in sorted(tasks)],
        agent_metrics=overall,
        key_metrics={name: value for name, value in overall.items() if name.startswith("mean/")},
    )


def _of_task(index: int, rows: Sequence[Row]) -> dict[str, Any]:
    rollouts = [
        {
            "rollout_id": f"{index}:{row.get(_ROLLOUT, 0)}",
            _TASK: index,
            _ROLLOUT: row.get(_ROLLOUT, 0),
            **_numbers(row),
        }
        for row in rows
    ]
    return {
        _TASK: index,
        **_figures([*map(_numbers, rows)]),
        "sample": {"agent_ref": {"name": "agent"}},  # all that is left of a row there
        "num_rollouts": len(rows),
        "expected_num_rollouts": len(rows),
        "missing_num_rollouts": 0,
        "reward_profile_completion_pct": 100.0,
        "rollout_infos": sorted(rollouts, key=lambda rollout: rollout[_ROLLOUT]),
    }


def _numbers(row: Row) -> Figures:
    usage = (row.get("response") or {}).get("usage") or {}
    return {
        name: float(value)
        for name, value in {**row, **usage}.items()
        if name not in _INDICES and isinstance(value, bool | int | float)
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
