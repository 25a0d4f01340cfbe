r"""verl: a reward function, RDAN in the place of its GDPO estimator, and the same for its V1 trainers.

    export VERL_USE_EXTERNAL_MODULES=rubricate_clients.adapters.verl_plugin
    python -m verl.trainer.main_ppo algorithm.adv_estimator=gdpo \
        reward.custom_reward_function.path=pkg://rubricate_clients.adapters.verl \
        reward.custom_reward_function.name=rdan_reward ...

verl scores one response at a time and hands the numbers of `rdan_reward` on beside the reward. Its estimator
`gdpo` is the one that is given them; the V1 trainers (the default since 0.9) give an estimator nothing but
`uid` and reward, so `register` puts subclasses in their place that fetch the numbers themselves.

Signatures are those of verl 0.9.1: `verl/experimental/reward_loop/reward_manager/naive.py` (reward function),
`verl/trainer/ppo/ray_trainer.py` (estimator), `verl/trainer/ppo/v1/trainer_base.py` (trainers). verl is
imported by `register` only.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from types import new_class
from typing import Any

from rubricate_clients.adapters._channels import rdan_of
from rubricate_clients.adapters._hooks import Hooks, refuse_parameters
from rubricate_clients.adapters._rows import Sample
from rubricate_clients.adapters._scoring import Scoring
from rubricate_clients.adapters._settings import AdapterSettings, RDANParameters
from rubricate_clients.adapters._verl_columns import columns_of, numbers_of
from rubricate_clients.adapters._verl_trainer import HANDED, RDANTrainer
from rubricate_clients.errors import InvalidRequest

RewardHook = Callable[..., Coroutine[Any, Any, dict[str, float]]]


async def rdan_reward(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None,
    **kwargs: Any,
) -> dict[str, float]:
    """`custom_reward_function`: the numbers of one response.

    Args:
        data_source: Not looked at, like `ground_truth`.
        solution_str: The response.
        ground_truth: A column that verl insists on; it may be empty.
        extra_info: The data set's column: `rubrics`, `prompt`, and `reference` where there is one. Without a
            `prompt`, the `raw_prompt` that verl's older trainer adds is taken.
        **kwargs: What verl may add; not looked at.

    Returns:
        `score`, the outcome, and `rdan_` before each name of `Score.numbers`, `reward`, and `failed/KIND`.
        `rdan_signal` is the outcome plus the quality of an eligible response: it is equal within a whole
        group only where RDAN has nothing to teach, as `filter_groups.metric` asks. For each id of
        `log_rubrics` there are `rdan_rubric/<id>` and `rdan_rubric_valid/<id>`. The keys are the same for
        every response, and all numbers are finite.

    Raises:
        RewardServiceError: The response cannot be sent, or the service is gone and `unscored` is `raise`.
    """
    return await _HOOKS.default()(data_source, solution_str, ground_truth, extra_info, **kwargs)


def reward_with(**settings: Any) -> RewardHook:
    """`rdan_reward` with settings given here instead of in the environment; see `AdapterSettings`.

    Raises:
        ValueError: A setting is not right, or is one of the estimator's, which runs in another process.
    """
    refuse_parameters(settings, "verl's trainer")
    return _HOOKS.given(**settings)


def _hook(settings: AdapterSettings) -> RewardHook:
    scoring = Scoring(settings)

    async def compute_score(
        data_source: Any,
        solution_str: str,
        ground_truth: Any,
        extra_info: Mapping[str, Any] | None,
        **kwargs: Any,
    ) -> dict[str, float]:
        # its group is scored elsewhere, so that quality may be needed
        [score] = await scoring.score([_sample(solution_str, extra_info)], advantages=False)
        return {"score": score.outcome or 0.0, **columns_of(score, settings.log_rubrics)}

    return compute_score


_HOOKS = Hooks(_hook)


def rdan_advantages(
    token_level_rewards: Any,
    response_mask: Any,
    index: Any = None,
    config: Any = None,
    non_tensor_batch: Mapping[str, Any] | None = None,
    batch: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """The estimator `gdpo`, called as verl calls its own.

    Args:
        token_level_rewards: (B, T), for its type and device only: a KL penalty in the reward has no effect.
        response_mask: (B, T), 1 for the tokens of a response.
        index: (B,), the `uid` of each row's prompt; rows with equal ones are compared.
        config: Not looked at; RDAN's parameters are those of the environment.
        non_tensor_batch: Holds the numbers of `rdan_reward`, (B,) each.
        batch: Not looked at.
        **kwargs: Not looked at.

    Returns:
        RDAN's advantage of each row at each token of its response, (B, T): as advantages and as returns.

    Raises:
        ValueError: The rows were not rewarded by `rdan_reward`, or have no group.
    """
    advantages = HANDED.get()
    if advantages is None:
        if index is None:
            raise ValueError("RDAN needs the `uid` of each row, and this batch has none")
        columns = numbers_of(non_tensor_batch or {})
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        advantages = list(rdan_of(list(index), rows, RDANParameters.read()).advantages)
    if len(advantages) != len(response_mask):
        raise ValueError(f"{len(advantages)} responses were rewarded, and the batch has {len(response_mask)}")
    by_token = token_level_rewards.new_tensor(advantages).unsqueeze(-1) * response_mask
    return by_token, by_token


def register() -> None:
    """Let `algorithm.adv_estimator=gdpo` mean RDAN in this process, for verl's older trainer and for V1.

    `rubricate_clients.adapters.verl_plugin` calls it when it is imported.

    Raises:
        ImportError: verl is not installed, or too old to give an estimator more than rewards.
    """
    try:
        from verl.trainer.ppo.core_algos import ADV_ESTIMATOR_REGISTRY
    except ImportError as error:
        raise ImportError(f"register needs verl in this environment ({error}): pip install verl") from error
    if "gdpo" not in ADV_ESTIMATOR_REGISTRY:
        raise ImportError(
            "this verl has no estimator `gdpo`, whose place RDAN takes: pip install 'verl>=0.9'"
        )
    ADV_ESTIMATOR_REGISTRY["gdpo"] = rdan_advantages  # verl's own decorator refuses a name that is taken
    try:
        from verl.trainer.ppo.v1.trainer_base import TRAINER_REGISTRY
    except ImportError:  # an older verl, or one without TransferQueue: it has no V1 trainers
        return
    # in place under their own names: verl treats every other `trainer_mode` than `sync` as asynchronous
    for mode, trainer in list(TRAINER_REGISTRY.items()):
        if not issubclass(trainer, RDANTrainer):
            name = f"RDAN{trainer.__name__}"
            TRAINER_REGISTRY[mode] = new_class(name, (RDANTrainer, trainer), exec_body=_here)


def _here(namespace: dict[str, Any]) -> None:
    namespace["__module__"] = __name__


def _sample(response: str, extra_info: Mapping[str, Any] | None) -> Sample:
    if not isinstance(extra_info, Mapping):
        raise InvalidRequest(
            f"the data set's column `extra_info` must be an object with a prompt and its rubrics, "
            f"not {extra_info!r:.80}"
        )
    prompt = extra_info.get("prompt")
    prompt = extra_info.get("raw_prompt") if prompt is None else prompt
    lacks = [
        name for name, value in (("prompt", prompt), ("rubrics", extra_info.get("rubrics"))) if value is None
    ]
    if lacks:
        raise InvalidRequest(
            f"the data set's column `extra_info` lacks {' and '.join(f'`{name}`' for name in lacks)} (it has "
            f"{', '.join(extra_info) or 'nothing'}): put the prompt and its rubrics there"
        )
    return Sample(prompt, response, extra_info["rubrics"], group=0, reference=extra_info.get("reference"))
