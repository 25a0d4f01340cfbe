"""open-instruct: a RewardConfig whose reward function scores a prompt's responses in one POST.

A launcher takes the place of `python open_instruct/grpo_fast.py`, with the same arguments:

    import runpy
    from rubricate_clients.adapters.open_instruct import register

    register()
    runpy.run_module("open_instruct.grpo_fast", run_name="__main__", alter_sys=True)

The default `--advantage_normalization_type centered` subtracts the group's mean and no more, which for
RDAN's advantages is 0: they are what is trained on. The data set's `ground_truth` holds the rubrics, as a
list or JSON of one, or an object `{"rubrics": ..., "prompt": ..., "reference": ...}` or JSON of one.
Hooks are those of open-instruct e6c3044aa; nothing of it is imported but in `register`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from rubricate_clients.adapters._rows import Sample
from rubricate_clients.adapters._scoring import Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.errors import InvalidRequest
from rubricate_clients.rollout_log import RolloutLog

RewardFunction = Callable[..., Awaitable[tuple[list[float], dict[str, Any]]]]

_REWARDS_OF_ITS_OWN = ("apply_r1_style_format_reward", "non_stop_penalty", "only_reward_good_outputs")


class RDANRewardConfig:
    """Stands where open-instruct's RewardConfig does, in every process to which it is handed.

    Args:
        **arguments: What open-instruct gives its own RewardConfig.

    Raises:
        ValueError: An argument asks for rewards that would be added to RDAN's advantages.
    """

    defaults: ClassVar[Mapping[str, Any]] = {}
    """Fields of `AdapterSettings` that `register` was given."""

    def __init__(self, **arguments: Any) -> None:
        asked = [name for name in _REWARDS_OF_ITS_OWN if arguments.get(name)]
        if asked:
            raise ValueError(
                f"{' and '.join(asked)} would change rewards, but here RDAN's advantages are the reward; "
                "switch that off, and write what you want of the responses as rubrics"
            )
        self.settings = dict(self.defaults)  # goes to other processes with it

    def build(self) -> RewardFunction:
        """The reward function; settings are read now.

        Raises:
            ValueError: A setting is not right.
        """
        return reward_with(**self.settings)


async def rdan_reward(
    scoring: Scoring,
    responses: Sequence[Any],
    decoded_responses: Sequence[str],
    ground_truths: Sequence[Any],
    datasets: Sequence[Any],
    finish_reasons: Sequence[str],
    infos: Any,
    queries: Sequence[str] | None = None,
    **more: Any,
) -> tuple[list[float], dict[str, Any]]:
    """RDAN's advantages of a prompt's responses, and figures to log.

    Args:
        scoring: Scores them.
        responses: Token ids; not looked at.
        decoded_responses: G responses to one prompt.
        ground_truths: The row's `ground_truth`, G times.
        datasets: Not looked at.
        finish_reasons: Not looked at.
        infos: Not looked at.
        queries: The prompt, G times; what `ground_truth` gives as the prompt goes before it.
        **more: What newer versions add; not looked at.

    Returns:
        G advantages, 0.0 for what was not scored (which is the group's mean), and the figures of
        `RolloutLog`, in which `rubricate/undecided_rate` tells how many those are.

    Raises:
        InvalidRequest: The responses cannot be sent.
        Unscored: None was scored, and `unscored` is `raise`.
    """
    prompts = queries if queries is not None else [None] * len(decoded_responses)
    rows = zip(prompts, decoded_responses, ground_truths, strict=True)
    samples = [_sample(*row, place=place) for place, row in enumerate(rows)]
    scores = await scoring.score(samples)
    metrics = RolloutLog(scoring.settings.log_rubrics).of_scores(scores, [0] * len(scores))
    return [score.advantage or 0.0 for score in scores], dict(metrics)


def reward_with(**settings: Any) -> RewardFunction:
    """The reward function with settings given here instead of in the environment; see `AdapterSettings`."""
    return partial(rdan_reward, Scoring(AdapterSettings.read(**settings)))


def register(**settings: Any) -> None:
    """Put `RDANRewardConfig` in the place of open-instruct's RewardConfig, before or after it was imported.

    Args:
        **settings: Fields of `AdapterSettings`; the rest is read from the environment, later.

    Raises:
        ImportError: open-instruct is not installed.
    """
    try:
        from open_instruct import ground_truth_utils
    except ImportError as error:
        raise ImportError(
            f"register needs open-instruct in this environment ({error}). It is on no package index: install "
            "it from its repository, then `pip install rubricate` beside it"
        ) from error
    RDANRewardConfig.defaults = settings
    theirs = ground_truth_utils.RewardConfig
    for name, module in list(sys.modules.items()):
        if name.startswith("open_instruct.") and getattr(module, "RewardConfig", None) is theirs:
            module.RewardConfig = RDANRewardConfig  # type: ignore[attr-defined]


def _sample(query: Any, response: str, ground_truth: Any, *, place: int) -> Sample:
    if isinstance(ground_truth, Sequence) and len(ground_truth) == 1 and isinstance(ground_truth[0], str):
        ground_truth = ground_truth[0]  # with several verifiers a row has a list of them
    if isinstance(ground_truth, str):
        try:
            ground_truth = json.loads(ground_truth)
        except ValueError as error:
            raise InvalidRequest(
                f"the ground_truth of response {place} is no JSON of rubrics: {error}"
            ) from None
    given = ground_truth if isinstance(ground_truth, Mapping) else {"rubrics": ground_truth}
    return Sample(given.get("prompt") or query, response, given.get("rubrics"), 0, given.get("reference"))
