"""What verl's V1 trainers need beside the estimator: they hand it nothing but `uid`, reward and mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from statistics import fmean
from typing import Any

from rubricate_clients.adapters._channels import rdan_of
from rubricate_clients.adapters._scoring import Score
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.advantages import Advantages, diagnostics

PREFIX = "rdan_"
"""Before the name of each number, since verl keeps them beside columns of its own."""

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
        rows = [numbers_of(extra.get("reward_extra_info", {})) for extra in extra_fields]
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
    """RDAN of rows under V1's keys `<uid>_<session>_<index>`, and figures on their samples to log.

    A session is one sample of its prompt, with a row for each of its turns, which all carry the same numbers.
    Rows of padding repeat those of another prompt: they get 0.0 and move no other.
    """
    sessions = [key.rpartition("_")[0] for key in keys]
    samples = {s: row for s, row, padded in zip(sessions, rows, padding, strict=True) if not padded}
    uids = [session.rpartition("_")[0] for session in samples]
    found = rdan_of(uids, list(samples.values()), own_settings())
    advantage_of = dict(zip(samples, found.advantages, strict=True))
    figures = _figures(uids, list(samples.values()), found)
    return [advantage_of.get(session, 0.0) for session in sessions], figures


def _figures(uids: Sequence[str], rows: Sequence[Mapping[str, float]], found: Advantages) -> dict[str, float]:
    """The figures of `RolloutLog` that the carried numbers tell, under its names."""
    outcome = [row["outcome"] if row["valid"] else None for row in rows]
    quality = [row["quality"] if row["quality_valid"] else None for row in rows]
    figures = {
        "outcome": fmean([value for value in outcome if value is not None] or [0.0]),
        "quality": fmean([value for value in quality if value is not None] or [0.0]),
        "quality_decided": fmean([row["quality_valid"] for row in rows] or [0.0]),
        **diagnostics(
            uids,
            found.advantages,
            outcome=outcome,
            quality=quality,
            eligible=[bool(row["eligible"]) for row in rows],
            a_out=found.a_out,
            a_proc=found.a_proc,
        ),
    }
    return {f"rubricate/{name}": value for name, value in figures.items()}


def numbers_of(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The names of `Score.numbers`, each with what verl has kept under it."""
    names = list(Score().numbers())
    missing = [PREFIX + name for name in names if PREFIX + name not in columns]
    if missing:
        raise ValueError(
            f"the batch lacks {', '.join(missing)}: set reward.custom_reward_function to `rdan_reward` of "
            "pkg://rubricate_clients.adapters.verl"
        )
    return {name: columns[PREFIX + name] for name in names}


@cache
def own_settings() -> AdapterSettings:
    """Those of the environment: an estimator is given no others."""
    return AdapterSettings.read()
