"""NeMo RL with NeMo Gym: RDAN in the place of its GDPO, over the reward components of `/verify`.

NeMo Gym verifies one response at a time at the service's `/compat/nemo_gym`. Where a row gives the `size`
of its group, the service holds responses until their group is whole, the rewards are RDAN's advantages, and
this file is not needed. With a `size` of 1 it does not wait: `/verify` answers the reward components
`outcome` and `process`, which NeMo RL hands to its advantage estimator. With `register()` called before
training starts, and

    grpo:
      adv_estimator:
        name: gdpo
        quality_weight: 1.0

the advantages are RDAN's. `sigma_floor` may be given there as well.

Signatures are those of NeMo RL as of 2026-10 (`nemo_rl/algorithms/advantage_estimator.py` and `grpo.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricate_clients.advantages import rdan

OUTCOME, PROCESS = "reward/outcome", "reward/process"


class RDANAdvantageEstimator:
    """Stands in for `nemo_rl.algorithms.grpo.GDPOAdvantageEstimator`; its other settings have no effect.

    Args:
        estimator_config: `grpo.adv_estimator`, an object or mapping, with `quality_weight` and `sigma_floor`.
        loss_config: Not looked at.
    """

    def __init__(self, estimator_config: Any, loss_config: Any) -> None:
        self.quality_weight = float(_get(estimator_config, "quality_weight", 1.0))
        self.sigma_floor = float(_get(estimator_config, "sigma_floor", 0.0))

    def compute_advantage(
        self,
        prompt_ids: Any,
        rewards: Any,
        mask: Any,
        repeated_batch: Mapping[str, Any],
        valid_mask: Any = None,
        **kwargs: Any,
    ) -> Any:
        """RDAN's advantage of each sample, at each of its tokens.

        Args:
            prompt_ids: (B, P), the prompt's tokens; samples with equal rows are one group.
            rewards: Not looked at.
            mask: (B, T), 1 for tokens that are trained on. A sample without any is in no statistics: NeMo RL
                masks what could not be verified.
            repeated_batch: Holds the reward components, (B,) each.
            valid_mask: (B,), 0 for samples that are in no statistics; None takes all.
            **kwargs: Not looked at.

        Returns:
            (B, T), a tensor where `mask` is one.

        Raises:
            ValueError: The batch lacks a reward component.
        """
        missing = [key for key in (OUTCOME, PROCESS) if key not in repeated_batch]
        if missing:
            raise ValueError(
                f"the batch lacks {' and '.join(missing)}: RDAN needs the reward components that "
                "/compat/nemo_gym/verify of the service answers"
            )
        outcome, process = repeated_batch[OUTCOME], repeated_batch[PROCESS]
        valid = mask.sum(-1) > 0
        if valid_mask is not None:
            valid = valid & (valid_mask > 0)
        advantages = rdan(
            [tuple(row) for row in prompt_ids.reshape(len(prompt_ids), -1).tolist()],
            outcome=outcome,
            quality=process,
            eligible=outcome >= 1,  # as the service counts it, outcome is 1 just where all hard rubrics hold
            valid=valid,
            quality_weight=self.quality_weight,
            sigma_floor=self.sigma_floor,
        ).advantages
        return advantages[:, None] + 0 * mask  # the shape and type of the mask


def register() -> None:
    """Let `adv_estimator.name: gdpo` mean RDAN in this process.

    Raises:
        ImportError: NeMo RL is not installed.
    """
    try:
        from nemo_rl.algorithms import grpo
    except ImportError as error:
        raise ImportError(
            f"register needs NeMo RL in this environment ({error}). It is installed from its repository"
        ) from error
    grpo.GDPOAdvantageEstimator = RDANAdvantageEstimator


def _get(config: Any, name: str, default: float) -> Any:
    value = config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)
    return default if value is None else value
