"""ROLL: a reward worker whose response-level rewards are RDAN's advantages.

    rewards:
      rubrics:
        worker_cls: rubricate_clients.adapters.roll.RDANRewardWorker
        model_args: ${actor_train.model_args}   # for the tokenizer
        tag_included: [rubrics]
        world_size: 8
        system_envs: {RUBRICATE_URL: "http://rubricate:8080"}
    adv_estimator: reinforce

An estimator that takes rewards as they are trains on RDAN then. `initialize` refuses a configuration that
would change them on the way. The tensors `rdan_*` are those of the reference run
(beingamanforever/RDAN-GRPO), for pipelines that compute advantages themselves.

Signatures are those of alibaba/ROLL as of 2026-10: `roll/distributed/executor/worker.py`,
`roll/pipeline/rlvr/rewards/`, `roll/utils/functionals.py`. Importing this file needs ROLL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

from rubricate_clients.adapters._rows import Sample, rubrics_of
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.errors import InvalidRequest
from rubricate_clients.rollout_log import RolloutLog
from rubricate_clients.wire import Rubric

try:
    import torch
    from roll.distributed.executor.worker import Worker
    from roll.distributed.scheduler.decorator import Dispatch, register
    from roll.distributed.scheduler.protocol import DataProto
    from roll.models.model_providers import default_tokenizer_provider
except ImportError as error:
    raise ImportError(
        f"rubricate_clients.adapters.roll needs Alibaba's ROLL in this environment ({error}). It is on no "
        "package index (PyPI's `roll` is something else): install it from its repository, then "
        "`pip install rubricate` beside it"
    ) from error

WANTED: dict[str, Any] = {
    "adv_estimator": "reinforce",
    "norm_mean_type": None,
    "norm_std_type": None,
    "whiten_rewards": False,
    "whiten_advantages": False,
    "add_token_level_kl": False,
    "is_num_return_sequences_expand": False,
    "gamma": 1,
}
"""What the pipeline's configuration must say, lest rewards are changed or groups taken apart."""


class RDANRewardWorker(Worker):  # type: ignore[misc]
    """Scores all responses that it is given in one POST.

    A subclass may give `settings` of its own beside the variables (see `AdapterSettings`), and another
    `width`: the number of rubrics that a prompt may have, the second size of the tensors `rdan_*`.
    """

    settings: ClassVar[Mapping[str, Any]] = {}
    width: ClassVar[int] = 20

    def __init__(self, worker_config: Any) -> None:
        super().__init__(worker_config=worker_config)
        self.rank_info.dp_rank = self.rank_info.rank
        self.rank_info.dp_size = self.rank_info.world_size
        self.tokenizer = default_tokenizer_provider(model_args=worker_config.model_args)
        self._scoring = Scoring(AdapterSettings.read(**self.settings))

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)  # type: ignore[untyped-decorator]
    def initialize(self, pipeline_config: Any) -> None:
        """Look at the configuration of the pipeline.

        Raises:
            ValueError: RDAN would not arrive as it is; every setting that is in the way is named.
        """
        wrong = [
            f"{name}: {'null' if value is None else str(value).lower()}"
            for name, value in WANTED.items()
            if getattr(pipeline_config, name, value) != value
        ]
        if wrong:
            raise ValueError(f"RDAN as a reward needs other settings of ROLL's pipeline: {', '.join(wrong)}")

    @register(dispatch_mode=Dispatch.DP_MP_COMPUTE, clear_cache=False)  # type: ignore[untyped-decorator]
    def compute_rewards(self, data: Any) -> Any:
        """Rewards of B responses: those to one prompt, or those to several.

        Args:
            data: `responses` of shape (B, T), and the data set's columns `prompt`, `rubrics`, and `reference`
                where there is one.

        Returns:
            Of shape (B,): `response_level_rewards`, float32, RDAN's advantages; `scores`, float32, the
            outcomes; `rdan_valid`, bool, false for what is not scored, where the other two are 0.
            Of shape (B, T): `token_level_rewards`, float32, all 0. Of shape (B, width): `rdan_scores`,
            float32 from -1 to 1, and as bool `rdan_rubric_mask`, is there such a rubric, `rdan_eval_mask`,
            has it a score, and `rdan_hard_mask`, is it hard. `meta_info["metrics"]` has the figures of
            `RolloutLog`.

        Raises:
            RewardServiceError: They cannot be sent, or none is scored and `unscored` is `raise`.
            ValueError: A group is not whole.
        """
        responses = self.tokenizer.batch_decode(data.batch["responses"], skip_special_tokens=True)
        groups = _groups(data)
        columns = data.non_tensor_batch
        missing = [name for name in ("prompt", "rubrics") if name not in columns]
        if missing:
            raise InvalidRequest(f"the data set has no column {' and no column '.join(missing)}")
        references = columns.get("reference", [None] * len(responses))
        rows = zip(columns["prompt"], responses, columns["rubrics"], groups, references, strict=True)
        samples = [Sample(*row) for row in rows]
        hard = [self._hard(sample, row) for row, sample in enumerate(samples)]
        scores = self._scoring.score_sync(samples)
        tensors = {
            "token_level_rewards": torch.zeros_like(data.batch["responses"], dtype=torch.float32),
            "response_level_rewards": _floats([score.advantage or 0.0 for score in scores]),
            "scores": _floats([score.outcome or 0.0 for score in scores]),
            "rdan_valid": torch.tensor([score.valid for score in scores], dtype=torch.bool),
            **self._by_rubric(hard, scores),
        }
        figures = RolloutLog(self._scoring.settings.log_rubrics).of_scores(scores, groups)
        return DataProto.from_dict(tensors=tensors, meta_info={"metrics": figures})

    def _hard(self, sample: Sample, row: int) -> list[bool]:
        """Of each rubric, whether it is hard."""
        rubrics = [
            Rubric.model_validate(rubric) for rubric in rubrics_of(sample.rubrics, f"row {row}: `rubrics`")
        ]
        if len(rubrics) > self.width:
            raise InvalidRequest(
                f"row {row} has {len(rubrics)} rubrics; for more than {self.width} of them, name a subclass "
                f"of {type(self).__name__} with a greater `width` as `worker_cls`"
            )
        return [rubric.is_hard for rubric in rubrics]

    def _by_rubric(self, hard: Sequence[list[bool]], scores: Sequence[Score]) -> dict[str, Any]:
        def padded(rows: Sequence[Sequence[Any]], fill: Any, dtype: Any) -> Any:
            return torch.tensor([[*row, *[fill] * (self.width - len(row))] for row in rows], dtype=dtype)

        # a batch that is masked as a whole has no verdicts at all
        values = [
            list(score.rubrics.values()) or [None] * len(kinds)
            for score, kinds in zip(scores, hard, strict=True)
        ]
        signed = [[0.0 if value is None else 2 * value - 1 for value in row] for row in values]
        return {
            "rdan_scores": padded(signed, 0.0, torch.float32),
            "rdan_rubric_mask": padded([[True] * len(row) for row in hard], False, torch.bool),
            "rdan_eval_mask": padded([[v is not None for v in row] for row in values], False, torch.bool),
            "rdan_hard_mask": padded(hard, False, torch.bool),
        }


def _groups(data: Any) -> list[Hashable]:
    """Key of each row's group: the scheduler's number of the prompt, else the data set's id, else the prompt.

    Raises:
        ValueError: Rows of a group are missing.
    """
    for name in ("origin_prompt_id", "prompt_id"):
        if name in data.batch.keys():  # noqa: SIM118  a TensorDict has no `in` of its own
            groups = data.batch[name].flatten().tolist()
            break
    else:
        columns = data.non_tensor_batch
        groups = [str(value) for value in columns.get("id", columns.get("prompt", []))]
    size = data.meta_info.get("generation_config", {}).get("num_return_sequences", 1)
    parts = {group: count for group, count in Counter(groups).items() if count % size}
    if parts:
        group, count = next(iter(parts.items()))
        raise ValueError(
            f"{count} of the {size} responses to prompt {group!r} came without the others: ROLL has split "
            "its batch between reward workers. Let their `world_size` divide rollout_batch_size"
        )
    return list(groups)


def _floats(values: Any) -> Any:
    return torch.tensor(values, dtype=torch.float32)
