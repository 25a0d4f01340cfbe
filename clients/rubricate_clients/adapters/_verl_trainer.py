"""What verl's V1 trainers need beside the estimator: they hand it nothing but `uid`, reward and mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from rubricate_clients.adapters._channels import rdan_of
from rubricate_clients.adapters._settings import RDANParameters
from rubricate_clients.adapters._verl_columns import logged_rubrics, score_of
from rubricate_clients.rollout_log import RolloutLog

HANDED: ContextVar[list[float] | None] = ContextVar("rdan_handed", default=None)
"""Advantages of the rows at hand: a V1 trainer's way to the estimator."""


class RDANTrainer:
    """Before one of verl's V1 trainers among the bases of a class, it lets `gdpo` be RDAN there."""

    def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:
        """Fetch what `rdan_reward` found out, log it, and let the trainer do the rest.

        Raises:
            ValueError: The rows were not rewarded by `rdan_reward`.
        """
        if self.config.algorithm.adv_estimator != "gdpo":  # type: ignore[attr-defined]
            return super()._compute_advantage(batch, metrics)  # type: ignore[misc]
        import transfer_queue

        fetched = transfer_queue.kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=["extra_fields"]
        )
        extra_fields = fetched.pop("extra_fields").tolist()
        rows = [extra.get("reward_extra_info", {}) for extra in extra_fields]
        padding = [tag.get("is_padding", False) for tag in batch.tags]
        advantages, figures = _by_session(batch.keys, rows, padding)
        metrics.update(figures)
        handed = HANDED.set(advantages)
        try:
            return super()._compute_advantage(batch, metrics)  # type: ignore[misc]
        finally:
            HANDED.reset(handed)


def _by_session(
    keys: Sequence[str], rows: Sequence[Mapping[str, float]], padding: Sequence[bool]
) -> tuple[list[float], dict[str, float]]:
    """RDAN of rows under V1's keys `<uid>_<session>_<index>`, and the figures of `RolloutLog` on them.

    A session is one sample of its prompt, with a row for each of its turns, which all carry the same numbers.
    Rows of padding repeat those of another prompt: they get 0.0 and move no other.
    """
    sessions = [key.rpartition("_")[0] for key in keys]
    samples = {s: row for s, row, padded in zip(sessions, rows, padding, strict=True) if not padded}
    uids = [session.rpartition("_")[0] for session in samples]
    scores = [score_of(row) for row in samples.values()]
    found = rdan_of(uids, [score.numbers() for score in scores], RDANParameters.read())
    scores = [
        replace(score, a_out=a_out, a_proc=a_proc, advantage=advantage)
        for score, a_out, a_proc, advantage in zip(
            scores, found.a_out, found.a_proc, found.advantages, strict=True
        )
    ]
    named = {id: None for row in samples.values() for id in logged_rubrics(row)}
    advantage_of = dict(zip(samples, found.advantages, strict=True))
    figures = RolloutLog(named).of_scores(scores, uids)
    return [advantage_of.get(session, 0.0) for session in sessions], figures
