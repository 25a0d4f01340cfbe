"""The estimator for NeMo RL, called with its signature; numpy arrays stand in for torch tensors."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rubricate_clients.adapters import nemo_gym
from rubricate_clients.advantages import rdan

PROMPTS = np.array([[1, 2], [7, 7], [1, 2], [1, 2], [7, 7], [1, 2]])
GROUPS = [0, 1, 0, 0, 1, 0]
OUTCOME = np.array([1.0, 1, 0, 1, 1, 1], dtype=np.float32)
PROCESS = np.array([0.9, 0.5, 0, 0.2, 1.0, 0.4], dtype=np.float32)
MASK = np.array([[1, 1, 0]] * 6, dtype=np.float32)
BATCH = {"reward/outcome": OUTCOME, "reward/process": PROCESS}


def expected(valid: list[bool] | None = None, **parameters: float) -> list[float]:
    outcome, quality = OUTCOME.tolist(), PROCESS.tolist()
    eligible = [value >= 1 for value in outcome]
    return list(
        rdan(
            GROUPS, outcome=outcome, quality=quality, eligible=eligible, valid=valid, **parameters
        ).advantages
    )


def advantages(config: Any = None, **inputs: Any) -> Any:
    estimator = nemo_gym.RDANAdvantageEstimator(config or {"name": "gdpo"}, None)
    given = {"prompt_ids": PROMPTS, "rewards": None, "mask": MASK, "repeated_batch": BATCH, **inputs}
    return estimator.compute_advantage(**given, logprobs_policy=None, logprobs_reference=None)


def test_each_token_has_the_advantage_of_its_sample() -> None:
    result = advantages()
    assert result.shape == MASK.shape
    for column in result.T:
        assert column == pytest.approx(expected(), abs=1e-6)


@pytest.mark.parametrize(
    "config",
    [{"quality_weight": 0.5, "sigma_floor": 0.4}, SimpleNamespace(quality_weight=0.5, sigma_floor=0.4)],
)
def test_parameters_are_those_of_the_trainers_own_configuration(config: Any) -> None:
    wanted = expected(quality_weight=0.5, sigma_floor=0.4)
    assert advantages(config)[:, 0] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("how", ["mask", "valid_mask"])
def test_a_masked_sample_has_no_part_in_its_group(how: str) -> None:
    keep = np.array([1, 1, 1, 0, 1, 1], dtype=np.float32)
    inputs = {"mask": MASK * keep[:, None]} if how == "mask" else {"valid_mask": keep}
    result = advantages(**inputs)[:, 0]
    assert result == pytest.approx(expected([bool(k) for k in keep]), abs=1e-6)
    assert result[3] == 0


def test_a_batch_of_another_verifier_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks reward/process"):
        advantages(repeated_batch={"reward/outcome": OUTCOME})


def test_register_stands_in_for_gdpo(monkeypatch: pytest.MonkeyPatch) -> None:
    grpo = ModuleType("nemo_rl.algorithms.grpo")
    algorithms = ModuleType("nemo_rl.algorithms")
    algorithms.grpo = grpo  # type: ignore[attr-defined]
    for name, module in {"nemo_rl": ModuleType("nemo_rl"), "nemo_rl.algorithms": algorithms}.items():
        monkeypatch.setitem(sys.modules, name, module)
    nemo_gym.register()
    assert grpo.GDPOAdvantageEstimator is nemo_gym.RDANAdvantageEstimator


def test_register_says_what_is_missing() -> None:
    with pytest.raises(ImportError, match="NeMo RL"):
        nemo_gym.register()
