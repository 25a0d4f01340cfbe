"""TRL's GRPOTrainer with RDAN for its advantages; `rubricate_clients.adapters.trl` is its public place."""

from __future__ import annotations

from typing import Any

from rubricate_clients.adapters._rows import Sample, consecutive
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.adapters.trl import num_generations_of
from rubricate_clients.rollout_log import RolloutLog

try:
    import torch
    from accelerate.utils import broadcast_object_list, gather_object
    from trl import GRPOTrainer
except ImportError as error:
    raise ImportError(
        f"RDANGRPOTrainer needs TRL in this environment ({error}): pip install 'trl>=1.16'"
    ) from error


class RDANGRPOTrainer(GRPOTrainer):  # type: ignore[misc]
    """A GRPOTrainer that trains on RDAN's advantages, and whose rewards are the true scores.

    The rows of all processes are scored in one POST by the first of them, so that groups are whole
    wherever their rows are. The scores are TRL's matrix of rewards, in two columns `outcome` and
    `quality` with NaN where undecided, and logged as such; the advantages are RDAN's. `scale_rewards`
    has no effect.

    Args:
        model: As in GRPOTrainer.
        rubricate: By default, settings from the environment.
        **arguments: Those of GRPOTrainer but `reward_funcs`.

    Raises:
        TypeError: `reward_funcs` are given.
    """

    def __init__(self, model: Any, *, rubricate: AdapterSettings | None = None, **arguments: Any) -> None:
        if "reward_funcs" in arguments:
            raise TypeError(
                "RDANGRPOTrainer brings its own reward_funcs; with others beside RDAN, use GRPOTrainer with "
                "rubricate_clients.adapters.trl.rdan_reward"
            )
        self._scoring = Scoring(rubricate or AdapterSettings.read())
        self._scores: list[Score] = []
        super().__init__(model, [self.outcome, self.quality], **arguments)

    def outcome(self, prompts: list[Any], **columns: Any) -> list[float | None]:
        """A reward function: the outcomes of this process's rows."""
        return [score.outcome for score in self._mine(len(prompts))]

    def quality(self, prompts: list[Any], **columns: Any) -> list[float | None]:
        """A reward function: the qualities of this process's rows."""
        return [score.quality for score in self._mine(len(prompts))]

    def _mine(self, rows: int) -> list[Score]:
        start = self.accelerator.process_index * rows
        return self._scores[start : start + rows]

    def _calculate_rewards(
        self,
        inputs: list[dict[str, Any]],
        prompts: list[Any],
        completions: list[Any],
        completion_ids_list: list[list[int]],
    ) -> torch.Tensor:
        self._scores = self._score(inputs, prompts, completions)
        return super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)

    def _score(self, inputs: list[dict[str, Any]], prompts: list[Any], completions: list[Any]) -> list[Score]:
        """Scores of the rows of all processes, on each of them."""
        rows = gather_object(
            [
                (prompt, completion, row.get("rubrics"), row.get("reference"))
                for row, prompt, completion in zip(inputs, prompts, completions, strict=True)
            ]
        )
        found: list[Any] = [None]
        if self.accelerator.is_main_process:
            try:
                groups = consecutive([prompt for prompt, *_ in rows], num_generations_of(self))
                samples = [
                    Sample(prompt, completion, rubrics, group, reference)
                    for (prompt, completion, rubrics, reference), group in zip(rows, groups, strict=True)
                ]
                found = [(self._scoring.score_sync(samples, step=self.state.global_step), groups)]
            except Exception as error:  # the others wait, and must end as well
                found = [error]
        broadcast_object_list(found, from_process=0)
        if isinstance(found[0], Exception):
            raise found[0]
        scores: list[Score] = found[0][0]
        for name, value in RolloutLog(self._scoring.settings.log_rubrics).of_scores(*found[0]).items():
            self._log_metric(name, value)
        return scores

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        of_group_mean = output["advantages"]
        mine = [score.advantage or 0.0 for score in self._mine(len(of_group_mean))]
        output["advantages"] = torch.tensor(mine, dtype=of_group_mean.dtype, device=of_group_mean.device)
        logged = self._logs["advantages"]  # the table of completions has TRL's own by now
        for _ in range(min(len(self._scores), len(logged))):
            logged.pop()
        logged.extend(score.advantage or 0.0 for score in self._scores)
        return output
