"""AReaL: a workflow that samples a prompt's group itself, and whose rewards are RDAN's advantages.

    trainer.train(
        workflow="rubricate_clients.adapters.areal.RDANWorkflow",
        workflow_kwargs={
            "gconfig": config.gconfig, "tokenizer": config.tokenizer_path, "group_size": 8,
        },
    )

with `gconfig.n_samples: 1`, since the group is inside the episode, and in `actor`: `kl_ctl: 0`,
`reward_norm: null`, `adv_norm: null`, and a `reward_clip` above (1 + quality_weight) · (G - 1) / √G, which is
5 for groups of 8. `reward_scaling: 1`, `reward_bias: 0`, `discount: 1` and `gae_lambda: 1` are AReaL's
defaults.

AReaL's own `reward_fn` sees one response, and turns 15 seconds without an answer into a reward of 0.

Signatures are those of areal 1.0.4: `areal/api/workflow_api.py`, `areal/workflow/rlvr.py`. Importing this
file needs AReaL.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any

from rubricate_clients.adapters._rows import Sample
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.errors import InvalidRequest
from rubricate_clients.rollout_log import RolloutLog

try:
    import torch
    from areal import workflow_context
    from areal.api import ModelRequest, RolloutWorkflow
    from areal.utils import stats_tracker
    from areal.utils.data import concat_padded_tensors
    from areal.utils.hf_utils import apply_chat_template, load_hf_tokenizer
except ImportError as error:
    raise ImportError(
        f"rubricate_clients.adapters.areal needs AReaL in this environment ({error}): pip install areal"
    ) from error


class RDANWorkflow(RolloutWorkflow):  # type: ignore[misc]
    """One episode: the responses to a prompt, scored as a group in one POST.

    Args:
        gconfig: How to sample, with `n_samples` of 1.
        tokenizer: A tokenizer, or the path of one.
        group_size: Responses to each prompt.
        enable_thinking: For the chat template.
        **settings: Fields of `AdapterSettings`; the rest is read from the environment.

    Raises:
        ValueError: A setting is not right.
    """

    def __init__(
        self, gconfig: Any, tokenizer: Any, group_size: int, enable_thinking: bool = False, **settings: Any
    ) -> None:
        if gconfig.n_samples != 1:
            raise ValueError(
                f"gconfig.n_samples is {gconfig.n_samples}, and AReaL would run as many episodes, each with "
                "a group of its own: set it to 1, and `group_size` to the size of a group"
            )
        if group_size < 2:
            raise ValueError(f"`group_size` is {group_size}; RDAN compares the responses of a group")
        self.tokenizer = load_hf_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
        self.gconfig = gconfig.new_with_stop_and_pad_token_ids(self.tokenizer)
        self.group_size = group_size
        self.enable_thinking = enable_thinking
        self.scoring = Scoring(AdapterSettings.read(**settings))
        self.figures = RolloutLog(self.scoring.settings.log_rubrics)

    async def arun_episode(self, engine: Any, data: dict[str, Any]) -> dict[str, Any] | None:
        """Sample the group, score it, and give it back.

        Args:
            engine: AReaL's inference engine.
            data: The data set's row: `messages`, `rubrics`, and `reference` where there is one.

        Returns:
            AReaL's tensors with G rows; `rewards` are RDAN's advantages, and tokens of what is not scored are
            left out of the loss. None, which rejects the episode, where nothing is scored and `unscored` is
            `mask`.

        Raises:
            RewardServiceError: The group cannot be sent, or is not scored and `unscored` is `raise`. AReaL
                logs it and rejects the episode.
        """
        for name in ("messages", "rubrics"):
            if data.get(name) is None:
                raise InvalidRequest(f"the data set has no column `{name}` (it has {', '.join(data)})")
        input_ids = apply_chat_template(
            self.tokenizer,
            data["messages"],
            tokenize=True,
            add_generation_prompt=True,
            enable_thinking=self.enable_thinking,
        )
        requests = [self._request(input_ids) for _ in range(self.group_size)]
        responses = await asyncio.gather(*(engine.agenerate(request) for request in requests))
        texts = [self.tokenizer.decode(r.output_tokens, skip_special_tokens=True) for r in responses]
        samples = [
            Sample(data["messages"], text, data["rubrics"], 0, data.get("reference")) for text in texts
        ]
        scores = await self.scoring.score(samples)
        if not any(score.valid for score in scores):
            return None
        figures = self.figures.of_scores(scores, [0] * len(scores))
        stats_tracker.get(workflow_context.stat_scope()).scalar(**figures)
        rows = [_row(response, score) for response, score in zip(responses, scores, strict=True)]
        tensors: dict[str, Any] = concat_padded_tensors(rows)
        return tensors

    def _request(self, input_ids: Sequence[int]) -> Any:
        return ModelRequest(
            rid=uuid.uuid4().hex,
            input_ids=list(input_ids),
            gconfig=self.gconfig.new(n_samples=1),
            tokenizer=self.tokenizer,
        )


def _row(response: Any, score: Score) -> dict[str, Any]:
    """Tensors of one response, with a batch of 1 before them."""
    tokens = response.input_tokens + response.output_tokens
    learned = int(score.valid)
    row = {
        "input_ids": torch.tensor(tokens, dtype=torch.int32),
        "loss_mask": torch.tensor(
            [0] * response.input_len + [learned] * response.output_len, dtype=torch.int32
        ),
        "logprobs": torch.tensor([0.0] * response.input_len + response.output_logprobs, dtype=torch.float32),
        "versions": torch.tensor([-1] * response.input_len + response.output_versions, dtype=torch.int32),
        "attention_mask": torch.ones(len(tokens), dtype=torch.bool),
        "rewards": torch.tensor(score.advantage or 0.0, dtype=torch.float32),
    }
    return {name: values.unsqueeze(0) for name, values in row.items()}
