"""The seconds of a request whose judging has not ended: its client left, or it was cut off."""

from __future__ import annotations

import time

import pytest

from rubricate_clients.wire import Options
from rubricate_service.run import Run


@pytest.mark.parametrize(
    ("began", "done", "seconds"),
    [(None, 0.0, 0.0), (7.0, 0.0, 7.0), (7.0, 4.0, 3.0)],
    ids=["never asked", "under way", "asked"],
)
def test_seconds_of_the_judge_are_never_negative(began: float | None, done: float, seconds: float) -> None:
    now = time.monotonic()
    run = Run(Options(), deadline=now + 9, deadline_s=9.0)
    run.judge_began = None if began is None else now - began
    run.judge_done = now - done if done else 0.0
    assert run.stats()["seconds"]["judge"] == pytest.approx(seconds, abs=1.0)
