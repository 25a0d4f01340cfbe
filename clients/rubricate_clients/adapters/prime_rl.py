"""prime-rl: RDAN as its algorithm, over the metrics that `rubricate_clients.adapters.verifiers` records.

prime-rl builds the algorithm that `algo.type` names from a closed table, so `register` puts RDAN in the
place of `grpo` there, before the orchestrator starts. In the place of prime-rl's `orchestrator` command:

    python -m rubricate_clients.adapters.prime_rl @ orchestrator.toml

Hooks are those of prime-rl as of 2026-10 (`src/prime_rl/orchestrator/algo/{base,grpo,routing}.py`).
Importing this file needs prime-rl.
"""

from __future__ import annotations

from typing import Any

from rubricate_clients.adapters._channels import rdan_of
from rubricate_clients.adapters._scoring import Score
from rubricate_clients.adapters._settings import RDANParameters

try:
    from prime_rl.orchestrator.algo import ALGORITHM_CLASSES
    from prime_rl.orchestrator.algo.base import iter_trainable_traces
    from prime_rl.orchestrator.algo.grpo import GRPOAlgorithm
    from prime_rl.orchestrator.algo.routing import assign_advantages
except ImportError as error:
    raise ImportError(
        f"rubricate_clients.adapters.prime_rl needs prime-rl in this environment ({error}). It is on no "
        "package index: install it from its repository, then `pip install rubricate` beside it"
    ) from error


class RDANAlgorithm(GRPOAlgorithm):  # type: ignore[misc]
    """GRPO's place in a run, with RDAN's advantages; its settings for lengths have no effect.

    Traces that failed are left out by prime-rl; those that are not scored get 0.0 and move no other.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rdan_parameters = RDANParameters.read()

    async def score_group(self, episodes: list[Any]) -> None:
        """Give every trainable trace of a prompt's episodes its advantage.

        Raises:
            ValueError: A trace has not the metrics of `rdan_metrics`.
        """
        traces = [trace for _, trace in iter_trainable_traces(episodes)]
        rows = [_numbers(trace) for trace in traces]
        advantages = rdan_of([0] * len(rows), rows, self.rdan_parameters).advantages
        for trace, advantage in zip(traces, advantages, strict=True):
            assign_advantages(trace, advantage)


def register() -> None:
    """Let `algo.type = "grpo"`, prime-rl's default, mean RDAN in this process."""
    ALGORITHM_CLASSES["grpo"] = RDANAlgorithm


def _numbers(trace: Any) -> dict[str, float]:
    names = Score().numbers()
    missing = [name for name in names if trace.metrics.get(name) is None]
    if missing:
        raise ValueError(
            f"trace {trace.id} lacks the metrics {', '.join(missing)}: record them with "
            "rubricate_clients.adapters.verifiers.rdan_metrics in the environment's task"
        )
    return {name: trace.metrics[name] for name in names}


if __name__ == "__main__":
    from prime_rl.entrypoints.orchestrator import main

    register()
    main()
