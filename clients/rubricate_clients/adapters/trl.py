"""TRL: RDAN as the reward of GRPOTrainer, or a GRPOTrainer of its own for groups that span processes.

    trainer = GRPOTrainer(model, reward_funcs=rdan_reward, args=GRPOConfig(scale_rewards="none", ...), ...)

RDAN's advantages sum to 0 over a group, so that a trainer that subtracts the group's mean and no more
trains on exactly them. With many processes, each has to hold whole groups for this
(`per_device_train_batch_size * steps_per_generation` a multiple of `num_generations`). Where that is not
so, and wherever TRL's own reward curves are to show the true scores:

    trainer = RDANGRPOTrainer(model, args=GRPOConfig(...), ...)

The data set has a column `rubrics` and may have a column `reference`. Hooks are those of TRL 1.16.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.adapters._rows import Sample, consecutive, rubrics_column
from rubricate_clients.adapters._scoring import Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.rollout_log import RolloutLog

RewardFunction = Callable[..., Awaitable[list[float | None]]]


async def rdan_reward(
    scoring: Scoring | None = None,
    /,
    *,
    prompts: Sequence[Any],
    completions: Sequence[Any],
    rubrics: Sequence[Any] | None = None,
    reference: Sequence[str | None] | None = None,
    trainer_state: Any = None,
    log_metric: Any = None,
    log_extra: Any = None,
    **columns: Any,
) -> list[float | None]:
    """A reward function: RDAN's advantage of each completion, all of them scored in one POST.

    The true scores are logged beside it, as the metrics of `RolloutLog` and the columns `outcome` and
    `quality` of the completions table; TRL's own reward curve is close to 0.

    Args:
        scoring: By default, one with settings from the environment.
        prompts: B prompts, text or messages; the completions of a prompt are rows next to each other.
        completions: B completions, likewise.
        rubrics: The data set's column.
        reference: The data set's column, where it has one.
        trainer_state: TRL's; its step goes to the service's logs.
        log_metric: TRL's, through which the trainer is asked for its `num_generations`.
        log_extra: TRL's.
        **columns: Further columns; not looked at.

    Returns:
        B advantages; None for what was not scored, which TRL leaves out of the group.

    Raises:
        InvalidRequest: The rows cannot be sent, or are no whole groups.
        ValueError: TRL would change the advantages, or the number of generations is not known.
        Unscored: Nothing of the batch was scored, and `unscored` is `raise`.
    """
    scoring = scoring or _SCORINGS.default()
    trainer = getattr(log_metric, "__self__", None)
    groups = consecutive(prompts, _num_generations(trainer, scoring.settings))
    references = reference if reference is not None else [None] * len(prompts)
    rows = zip(prompts, completions, rubrics_column(rubrics), groups, references, strict=True)
    samples = [Sample(*row) for row in rows]
    scores = await scoring.score(samples, step=getattr(trainer_state, "global_step", None))
    if log_metric is not None:
        for name, value in RolloutLog(scoring.settings.log_rubrics).of_scores(scores, groups).items():
            log_metric(name, value)
    if log_extra is not None:
        log_extra("outcome", [score.outcome for score in scores])
        log_extra("quality", [score.quality for score in scores])
    return [score.advantage if score.valid else None for score in scores]


def reward_with(**settings: Any) -> RewardFunction:
    """`rdan_reward` with settings given here instead of in the environment; see `AdapterSettings`."""
    return partial(rdan_reward, _SCORINGS.given(**settings))


_SCORINGS = Hooks(Scoring)


def _num_generations(trainer: Any, settings: AdapterSettings) -> int:
    """Completions per prompt, from the trainer where it can be had, else from the settings.

    Raises:
        ValueError: Neither knows it, or the trainer does more to a reward than subtract the group's mean.
    """
    scaled = getattr(trainer, "scale_rewards", "none")
    if scaled not in ("none", False):
        raise ValueError(
            f"scale_rewards is {scaled!r}, which would divide RDAN's advantages by their standard deviation; "
            'set scale_rewards="none" in GRPOConfig, or train with RDANGRPOTrainer'
        )
    if getattr(trainer, "multi_objective_aggregation", "") == "normalize_then_sum":
        raise ValueError(
            "multi_objective_aggregation is 'normalize_then_sum', which would normalise RDAN's advantages "
            "again; set it to 'sum_then_normalize' in GRPOConfig, or train with RDANGRPOTrainer"
        )
    known = num_generations_of(trainer) if hasattr(trainer, "num_generations") else settings.num_generations
    if known is None:
        raise ValueError(
            "this trainer does not tell its number of generations; give it as "
            "reward_with(num_generations=...) or RUBRICATE_NUM_GENERATIONS"
        )
    return known


def num_generations_of(trainer: Any) -> int:
    """Completions per prompt of the batch that the trainer is working on."""
    training = trainer.model.training
    return int(trainer.num_generations if training else trainer.num_generations_eval)


def __getattr__(name: str) -> Any:
    if name == "RDANGRPOTrainer":  # made of TRL's own class, so that it needs TRL
        from rubricate_clients.adapters._trl_trainer import RDANGRPOTrainer

        return RDANGRPOTrainer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
