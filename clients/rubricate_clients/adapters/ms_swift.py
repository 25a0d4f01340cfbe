"""ms-swift: RDAN as a reward, and the true scores beside it as rewards of weight 0.

A plugin of two lines, given by `--external_plugins plugin.py`:

    from rubricate_clients.adapters.ms_swift import register
    register()

and then

    --reward_funcs rdan_reward rdan_outcome rdan_quality --reward_weights 1 0 0 --scale_rewards none

RDAN's advantages sum to 0 over a group, so that a trainer that subtracts the group's mean and no more
trains on exactly them. Each process has to hold whole groups for this
(`per_device_train_batch_size * steps_per_generation` a multiple of `num_generations`).
The data set has a column `rubrics` and may have a column `reference`. Hooks are those of ms-swift 4.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from rubricate_clients.adapters._rows import Sample, consecutive, rubrics_column
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings


class RDANReward:
    """An asynchronous reward: RDAN's advantage of each completion, all of them scored in one POST.

    Args:
        args: ms-swift's arguments.
        **settings: Fields of `AdapterSettings`; the rest is read from the environment.

    Raises:
        ValueError: The arguments would change the advantages, or a setting is not right.
    """

    def __init__(self, args: Any = None, **settings: Any) -> None:
        self.args = args
        self._scoring = _scoring(AdapterSettings.read(**settings))
        known = getattr(args, "num_generations", self._scoring.settings.num_generations)
        if known is None:
            raise ValueError(
                "the number of generations is not known; give it as `num_generations` or "
                "RUBRICATE_NUM_GENERATIONS"
            )
        self._num_generations: int = known
        for name, kept in (("scale_rewards", ("none",)), ("advantage_estimator", _SUBTRACTS_THE_MEAN)):
            if (value := getattr(args, name, None)) not in (*kept, None):
                raise ValueError(
                    f"with --{name} {value} ms-swift would change RDAN's advantages; "
                    f"use --{name} {' or '.join(kept)}"
                )

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """The reward of each completion.

        Args:
            completions: B completions; those of a prompt are next to each other.
            **columns: ms-swift's and the data set's columns, B values each.

        Returns:
            B numbers; None where there is none, of which ms-swift makes an advantage of 0.

        Raises:
            InvalidRequest: The rows cannot be sent, or are no whole groups.
            Unscored: Nothing of the batch was scored, and `unscored` is `raise`.
        """
        return [self.of(score) for score in await self._scores(completions, columns)]

    def of(self, score: Score) -> float | None:
        """The number of a score that is this reward."""
        return score.advantage if score.valid else None

    async def _scores(self, completions: Sequence[Any], columns: dict[str, Any]) -> list[Score]:
        rubrics = rubrics_column(columns.get("rubrics"))
        prompts = [messages[:-1] for messages in columns["messages"]]  # the last one is the completion itself
        groups = consecutive(prompts, self._num_generations)
        references = columns.get("reference") or [None] * len(completions)
        rows = zip(prompts, completions, rubrics, groups, references, strict=True)
        samples = [Sample(*row) for row in rows]
        step = getattr(columns.get("trainer_state"), "global_step", None)
        return await self._scoring.score(samples, step=step)


class RDANOutcome(RDANReward):
    """The outcome of each completion, to be logged: a reward of weight 0 that shares the POST."""

    def of(self, score: Score) -> float | None:
        """The number of a score that is this reward."""
        return score.outcome


class RDANQuality(RDANReward):
    """The quality of each completion, likewise."""

    def of(self, score: Score) -> float | None:
        """The number of a score that is this reward."""
        return score.quality


_SUBTRACTS_THE_MEAN = ("grpo", "reinforce_plus_plus")
_REWARDS = {"rdan_reward": RDANReward, "rdan_outcome": RDANOutcome, "rdan_quality": RDANQuality}

rdan_reward = RDANReward
"""The reward under the name that `register` gives it."""


def reward_with(**settings: Any) -> partial[RDANReward]:
    """`rdan_reward` with settings given here instead of in the environment; see `AdapterSettings`."""
    return partial(RDANReward, **settings)


def register(**settings: Any) -> None:
    """Put `rdan_reward`, `rdan_outcome` and `rdan_quality` among ms-swift's rewards.

    Args:
        **settings: Fields of `AdapterSettings`; the rest is read from the environment, later.

    Raises:
        ImportError: ms-swift is not installed.
    """
    try:
        from swift.rewards import orms
    except ImportError as error:
        raise ImportError(
            f"register needs ms-swift in this environment ({error}): pip install 'ms-swift>=4.6'"
        ) from error
    orms.update({name: partial(reward, **settings) for name, reward in _REWARDS.items()})


@cache
def _scoring(settings: AdapterSettings) -> Scoring:
    return Scoring(settings)  # one for all rewards with these settings, so that they share their POST
