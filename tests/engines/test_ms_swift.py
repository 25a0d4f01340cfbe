"""ms-swift's real scoring and advantages against the running service: what is trained on is RDAN, to 1e-6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engines.trainer_program import run_program
from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, reward_service

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]


def test_trains_on_rdan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    job: dict[str, Any] = {"prompt": PROMPT, "responses": RESPONSES, "rubrics": [RUBRICS, UNDECIDABLE]}
    with reward_service(tmp_path) as service:
        found = run_program("trl", job, service.url, "swift")
        assert service.posts == ["/v1/score"]
    assert found["advantages"] == pytest.approx([*ADVANTAGES, 0, 0, 0, 0], abs=1e-6)
    advantage, outcome, quality = found["rewards"]
    assert advantage[4:] == outcome[4:] == quality[4:] == [None] * 4
    assert (outcome[:4], quality[:4]) == ([1, 1, 1, 0], [1.0, 0.5, 0.0, None])
