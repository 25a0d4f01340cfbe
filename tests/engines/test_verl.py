"""verl's own reward manager, registries and trainers with the hooks in them, against a real service."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engines.trainer_program import run_program
from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, reward_service

PAGE = Path(__file__).parents[2] / "docs/trainers/verl.md"

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]


def test_verl_trains_on_rdan(tmp_path: Path) -> None:
    job = {"prompt": PROMPT, "rubrics": json.dumps(RUBRICS), "responses": RESPONSES}
    with reward_service(tmp_path) as service:
        found = run_program("verl", job, service.url)
        assert service.posts == ["/v1/score"] * len(RESPONSES)
    assert found["estimator"] == "rubricate_clients.adapters.verl"
    assert found["trainers"] == [
        "RDANPPOTrainerSync", "RDANPPOTrainerColocateAsync", "RDANPPOTrainerSeparateAsync",
    ]  # fmt: skip
    assert found["scores"] == [1.0, 1.0, 1.0, 0.0]
    for row, advantage in zip(found["older"], ADVANTAGES, strict=True):
        assert row == pytest.approx([advantage, advantage, 0.0], abs=1e-6)
    for n, (row, advantage) in enumerate(zip(found["v1"], ADVANTAGES, strict=True)):
        assert row == pytest.approx([advantage] * (n + 2), abs=1e-6)
    assert found["metrics"]["rubricate/outcome"] == 0.75
    assert found["metrics"]["rubricate/quality"] == 0.5


def test_verl_takes_every_setting_of_the_page() -> None:
    groups = "actor_rollout_ref|algorithm|ray_kwargs|reward|trainer"
    found = re.findall(rf"(?<![\w.+])\+?(?:{groups})\.[\w.]+=[^\s`)]+", PAGE.read_text())
    overrides = [override.replace("$", "") for override in found]  # the shell's variables as plain words
    assert len(overrides) >= 10
    assert any("gdpo_reward_keys" in override for override in overrides)
    assert run_program("verl", {"overrides": overrides}, "", "verl_config") == {}
