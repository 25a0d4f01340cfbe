"""verl's own code around the hooks, run in verl's environment: `verl_program.py JOB`, which prints JSON.

The job is JSON: `prompt`, `rubrics` and `responses`. What runs is verl's loading of reward functions, its
reward manager, its registries, `compute_advantage` of the older trainer, and `_compute_advantage` of V1's.
TransferQueue is a dict here, since its own storage wants a Ray cluster; models there are none.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from types import SimpleNamespace
from typing import Any

os.environ["VERL_USE_EXTERNAL_MODULES"] = "rubricate_clients.adapters.verl_plugin"

import numpy as np
import torch
import transfer_queue
from omegaconf import OmegaConf
from tensordict import TensorDict
from verl import DataProto  # this imports the plugin
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo import core_algos
from verl.trainer.ppo.ray_trainer import compute_advantage
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.trainer.ppo.v1 import get_trainer_cls
from verl.trainer.ppo.v1.trainer_base import KVBatchMeta
from verl.utils.tensordict_utils import list_of_dict_to_tensordict

FUNCTION = {"path": "pkg://rubricate_clients.adapters.verl", "name": "rdan_reward"}
ALGORITHM = OmegaConf.create({"adv_estimator": "gdpo", "gamma": 1.0, "lam": 1.0, "use_kl_in_reward": False})
CONFIG = OmegaConf.create(
    {
        "reward": {"custom_reward_function": FUNCTION},
        "algorithm": ALGORITHM,
        "actor_rollout_ref": {"rollout": {"n": 4}},
    }
)


class Characters:
    """A tokenizer whose tokens are code points."""

    def decode(self, ids: torch.Tensor, skip_special_tokens: bool = True) -> str:
        """The text."""
        return "".join(map(chr, ids.tolist()))


def reward_all(job: dict[str, Any]) -> list[dict[str, Any]]:
    """What verl's reward manager makes of each response."""
    manager = NaiveRewardManager(CONFIG, Characters(), get_custom_reward_fn(CONFIG))
    assert manager.is_async_reward_score

    async def one(response: str) -> dict[str, Any]:
        ids = torch.tensor([[ord(character) for character in response]])
        data = DataProto(
            batch=TensorDict({"responses": ids, "attention_mask": torch.ones_like(ids)}, batch_size=1),
            non_tensor_batch={
                "data_source": np.array(["if"]),
                "reward_model": np.array([{"ground_truth": ""}], dtype=object),
                "extra_info": np.array([{"prompt": job["prompt"], "rubrics": job["rubrics"]}], dtype=object),
            },
        )
        result: dict[str, Any] = await manager.run_single(data)
        return result

    async def everything() -> list[dict[str, Any]]:
        return await asyncio.gather(*map(one, job["responses"]))

    found: list[dict[str, Any]] = manager.loop.run_until_complete(everything())
    return found


def older_trainer(rewards: list[dict[str, Any]]) -> list[list[float]]:
    """Advantages of `RayPPOTrainer`'s function, over responses of 3 tokens of which the last is padding."""
    mask = torch.tensor([[1, 1, 0]] * len(rewards))
    infos = [reward["reward_extra_info"] for reward in rewards]
    columns = {key: np.array([info[key] for info in infos]) for key in infos[0]}
    scores = torch.zeros(mask.shape)
    scores[:, 1] = torch.tensor([reward["reward_score"] for reward in rewards])
    data = DataProto(
        batch=TensorDict({"token_level_rewards": scores, "response_mask": mask}, batch_size=len(rewards)),
        non_tensor_batch={"uid": np.array(["p"] * len(rewards), dtype=object), **columns},
    )
    advantages: list[list[float]] = (
        compute_advantage(data, "gdpo", config=ALGORITHM).batch["advantages"].tolist()
    )
    return advantages


def v1_trainer(rewards: list[dict[str, Any]]) -> tuple[list[list[float]], dict[str, float]]:
    """Advantages that the V1 trainer writes back, over responses of 2, 3, 4 … tokens, and its metrics."""
    rows = [
        {
            "uid": "p",
            "response_mask": torch.ones(n + 2, dtype=torch.int64),
            "rm_scores": torch.zeros(n + 2),
            "extra_fields": {"reward_extra_info": reward["reward_extra_info"]},
        }
        for n, reward in enumerate(rewards)
    ]
    stored, written = list_of_dict_to_tensordict(rows), {}

    def kv_batch_get(keys: list[str], partition_id: str, select_fields: list[str]) -> TensorDict:
        return stored.select(*select_fields, strict=False)

    def kv_batch_put(keys: list[str], partition_id: str, fields: TensorDict) -> list[str]:
        written.update(fields.items())
        return keys

    transfer_queue.kv_batch_get, transfer_queue.kv_batch_put = kv_batch_get, kv_batch_put
    trainer = object.__new__(get_trainer_cls("sync"))  # its __init__ starts a cluster
    trainer.config = CONFIG
    keys = [f"p_{n}_0" for n in range(len(rows))]
    metrics: dict[str, float] = {}
    trainer._compute_advantage(KVBatchMeta(keys=keys, tags=[{}] * len(keys), partition_id="train"), metrics)
    return [row.tolist() for row in written["advantages"].unbind()], metrics


def main() -> None:
    """Run the job."""
    rewards = reward_all(json.loads(sys.argv[1]))
    advantages, metrics = v1_trainer(rewards)
    found = SimpleNamespace(
        estimator=core_algos.ADV_ESTIMATOR_REGISTRY["gdpo"].__module__,
        trainers=[get_trainer_cls(mode).__name__ for mode in ("sync", "colocate_async", "separate_async")],
        scores=[reward["reward_score"] for reward in rewards],
        older=older_trainer(rewards),
        v1=advantages,
        metrics=metrics,
    )
    print(json.dumps(vars(found)))


if __name__ == "__main__":
    main()
