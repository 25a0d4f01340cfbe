"""SkyRL's own code around the hooks, run in SkyRL's environment: `skyrl_program.py JOB`, which prints JSON.

The job is JSON: `prompt`, `rubrics` and `responses`. What runs is skyrl-gym's registry, the generator's
placing of rewards, the padding of a batch, the trainer's `compute_advantages_and_returns` with SkyRL's
registry of estimators, and its entrypoint as far as to this package's `main`.
"""

from __future__ import annotations

import json
import sys
import typing
from types import SimpleNamespace
from typing import Any

import typing_extensions

if sys.version_info < (3, 12):
    # SkyRL gives its typed dicts to pydantic, which takes Python's own from 3.12 on
    vars(typing)["TypedDict"] = typing_extensions.TypedDict

import skyrl_gym
import torch
from skyrl.backends.skyrl_train.training_batch import TrainingInputBatch, pad_training_input_batch
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.entrypoints import main_base
from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator
from skyrl.train.trainer import RayPPOTrainer
from skyrl_gym.metrics import aggregate_for_environment

from rubricate_clients.adapters import skyrl as adapter

LINES = ["environment.env_class=rdan", "trainer.algorithm.advantage_estimator=rdan"]


def rollout(job: dict[str, Any], response: str) -> tuple[list[float], dict[str, float]]:
    """Rewards by token, a token a word, and metrics of one episode."""
    env = skyrl_gym.make("rdan", env_config={}, extras={"rubrics": job["rubrics"], "max_turns": 1})
    env.init([{"role": "user", "content": job["prompt"]}])
    tokens = list(range(len(response.split())))
    given = [(env.step(response)["reward"], len(tokens) - 1)]
    rewards = SkyRLGymGenerator._build_per_token_rewards(
        SimpleNamespace(custom_chat_template=None), given, tokens, False
    )
    return rewards, env.get_metrics()


def advantages_of(rewards: list[list[float]], cfg: Any) -> torch.Tensor:
    """What the trainer makes of the rewards of one prompt's responses and of two rows of padding."""
    width = max(map(len, rewards))
    filled = torch.tensor([row + [0.0] * (width - len(row)) for row in rewards], dtype=torch.float32)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rewards])
    batch = TrainingInputBatch({"rewards": filled, "response_mask": mask, "loss_mask": mask, "values": None})
    batch.metadata = {"uids": ["p"] * len(rewards), "avg_response_length": 1.0}
    trainer = object.__new__(RayPPOTrainer)  # its __init__ starts a cluster
    trainer.cfg, trainer.all_metrics = cfg, {}
    return trainer.compute_advantages_and_returns(pad_training_input_batch(batch, 2))["advantages"]


def entered() -> list[str]:
    """What `main` of this package was called with by SkyRL's own entrypoint."""
    calls: list[str] = []
    ours, adapter.main = adapter.main, lambda: calls.extend(sys.argv[1:])
    argv, sys.argv = sys.argv, ["main", f"trainer.override_entrypoint={adapter.__name__}", *LINES]
    main_base.main()
    adapter.main, sys.argv = ours, argv
    return calls


def main() -> None:
    """Run the job."""
    job = json.loads(sys.argv[1])
    adapter.register()
    episodes = [rollout(job, response) for response in job["responses"]]
    cfg = SkyRLTrainConfig.from_cli_overrides(LINES)
    found = {
        "lengths": [len(rewards) for rewards, _ in episodes],
        "advantages": advantages_of([rewards for rewards, _ in episodes], cfg).tolist(),
        "metrics": aggregate_for_environment("rdan", [metrics for _, metrics in episodes]),
        "env_class": cfg.environment.env_class,
        "entered": entered(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
