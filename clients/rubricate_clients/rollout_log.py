"""Figures on a batch of scores for a trainer's logger: the same keys at every step, finite numbers only.

    figures = RolloutLog(rubric_ids(dataset["rubrics"]))
    for batch in batches:
        answer = client.score(batch, {"advantages": {"method": "rdan"}})
        wandb.log(figures.of_answer(answer), step=step)

W&B, TensorBoard and the like make a curve of each key. Nothing of them is imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from statistics import fmean
from typing import Any, get_args

from rubricate_clients.adapters import Score
from rubricate_clients.adapters._rows import rubrics_of
from rubricate_clients.advantages import diagnostics
from rubricate_clients.wire import FailureKind, ScoreAnswer


def rubric_ids(column: Iterable[Any]) -> list[str]:
    """Ids of all rubrics of a data set, in order of appearance.

    Args:
        column: For each prompt its rubrics, as a list or as JSON. A rubric without an id has its
            position as one, as on the wire.

    Raises:
        InvalidRequest: A row holds no rubrics.
    """
    ids: dict[str, None] = {}  # an ordered set
    for row, rubrics in enumerate(column):
        for position, rubric in enumerate(rubrics_of(rubrics, f"row {row}: `rubrics`")):
            ids[str(rubric.get("id", position))] = None
    return list(ids)


class RolloutLog:
    """Figures of the batches of one run.

    `rubricate/` and then, with shares in [0, 1] and 0.0 for a mean of nothing:

    - `outcome`, `quality`, `reward`: means over the responses where they are decided; `quality_decided`
      says of how many that is.
    - what `rubricate_clients.advantages.diagnostics` tells: `hard_pass_rate`, `eligible_rate`,
      `undecided_rate`, `zero_advantage_groups`, `outcome_std`, `process_std`,
      `outcome_advantage_std`, `process_advantage_std`.
    - `rubric/ID` and `rubric_decided/ID` for each rubric named: its mean over the responses where it is
      decided, and of those that have this rubric the share where it is. The judge leaves out what could
      not move an advantage, so a low share is no fault by itself.
    - `failed/KIND` for each error kind: the number of verdicts that failed so.

    Args:
        rubrics: Ids of the rubrics to be told apart. They are fixed here, since a logger wants the same
            keys at every step: `rubric_ids` finds those of a data set.
    """

    def __init__(self, rubrics: Iterable[str] = ()) -> None:
        self._rubrics = list(dict.fromkeys(rubrics))

    def of_answer(self, answer: ScoreAnswer) -> dict[str, float]:
        """Figures of an answer of the service.

        Raises:
            ValueError: As `of_scores`.
        """
        placed = [(Score.of(response), group.id) for group in answer.groups for response in group.responses]
        return self.of_scores([score for score, _ in placed], [group for _, group in placed])

    def of_scores(self, scores: Sequence[Score], groups: Sequence[Hashable]) -> dict[str, float]:
        """Figures of what an adapter's hook was given.

        Args:
            scores: One for each response.
            groups: Key of each response's group, in the same order.

        Raises:
            ValueError: There are no advantages in it.
        """
        if any(score.valid and score.advantage is None for score in scores):
            raise ValueError(
                "the scores have no advantages, so nothing can be said of those; "
                'ask for them with {"advantages": {"method": "rdan"}} in the options'
            )
        failures = Counter(kind for score in scores for kind in score.failed)
        figures = {
            "outcome": _mean(score.outcome for score in scores),
            "quality": _mean(score.quality for score in scores),
            "reward": _mean(score.reward for score in scores),
            "quality_decided": _mean(score.quality is not None for score in scores),
            **diagnostics(
                groups,
                [score.advantage or 0.0 for score in scores],
                outcome=[score.outcome for score in scores],
                quality=[score.quality for score in scores],
                eligible=[score.eligible for score in scores],
                valid=[score.valid for score in scores],
                a_out=[score.a_out or 0.0 for score in scores],
                a_proc=[score.a_proc or 0.0 for score in scores],
            ),
        }
        for id in self._rubrics:
            found = [score.rubrics[id] for score in scores if id in score.rubrics]
            figures[f"rubric/{id}"] = _mean(found)
            figures[f"rubric_decided/{id}"] = _mean(value is not None for value in found)
        figures |= {f"failed/{kind}": float(failures[kind]) for kind in get_args(FailureKind)}
        return {f"rubricate/{name}": value for name, value in figures.items()}


def _mean(values: Iterable[float | None]) -> float:
    """Mean of those that are decided; 0.0 of none."""
    decided = [value for value in values if value is not None]
    return fmean(decided) if decided else 0.0
