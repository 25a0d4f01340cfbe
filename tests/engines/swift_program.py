"""ms-swift's own scoring and advantages around the hooks, run in TRL's environment: `swift_program.py JOB`.

The job is JSON: `prompt`, `rubrics` (a list of rubrics for each group) and `responses` (of every group). The
last line that it prints is JSON: the columns of ms-swift's matrix of rewards, and its advantages.
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import torch
from swift.rewards import orms
from swift.rl_core.advantage import compute_advantages
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import compute_rewards_per_func

from rubricate_clients.adapters.ms_swift import register


def main(prompt: str, rubrics: list[Any], responses: list[str]) -> None:
    """Score the responses once for each list of rubrics."""
    register()
    args = SimpleNamespace(num_generations=len(responses), scale_rewards="none", advantage_estimator="grpo")
    names = ("rdan_reward", "rdan_outcome", "rdan_quality")
    samples = [
        GRPOSample(
            messages=[{"role": "user", "content": prompt}, {"role": "assistant", "content": text}],
            extra={"rubrics": json.dumps(of_prompt)},
        )
        for of_prompt in rubrics
        for text in responses
    ]
    rewards = compute_rewards_per_func(
        samples,
        [orms[name](args=args) for name in names],
        [None] * len(names),
        torch.device("cpu"),
        SimpleNamespace(global_step=0),
    )
    advantages, _ = compute_advantages(
        rewards,
        torch.tensor([1.0, 0.0, 0.0]),
        args.num_generations,
        args.advantage_estimator,
        args.scale_rewards,
    )
    columns = [
        [None if value != value else value for value in column]  # NaN is not JSON
        for column in rewards.T.tolist()
    ]
    print("\n" + json.dumps({"rewards": columns, "advantages": advantages.tolist()}))


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
