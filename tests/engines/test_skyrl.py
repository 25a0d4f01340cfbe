"""SkyRL's own registries, generator and trainer with the hooks in them, against a real service."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines.trainer_program import run_program
from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, reward_service

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]


def test_skyrl_trains_on_rdan(tmp_path: Path) -> None:
    job = {"prompt": PROMPT, "rubrics": json.dumps(RUBRICS), "responses": RESPONSES}
    with reward_service(tmp_path) as service:
        found = run_program("skyrl", job, service.url)
        assert service.posts == ["/v1/score"] * len(RESPONSES)
    *rows, first_pad, second_pad = found["advantages"]
    for row, length, advantage in zip(rows, found["lengths"], ADVANTAGES, strict=True):
        assert row == pytest.approx([advantage] * length + [0.0] * (len(row) - length), abs=1e-6)
    assert not any(first_pad + second_pad)
    assert found["metrics"] == {"outcome": 0.75, "quality": 0.5, "valid": 1.0, "eligible": 0.75}
    assert found["env_class"] == "rdan"
    assert found["entered"][0] == "trainer.override_entrypoint=rubricate_clients.adapters.skyrl"
