"""Programs that run a trainer's own code in the trainer's environment, since it fits in no other."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent


ENGINES = "RUBRICATE_ENGINES"
"""Names the folder in which ``scripts/engines`` make what they make."""


def home_of(engine: str) -> Path:
    """Folder that the engine's script has made; the test is skipped where it has not."""
    if ENGINES not in os.environ:
        pytest.skip(f"needs {engine} itself: run make test-engines")
    home = Path(os.environ[ENGINES]).resolve() / engine
    if not (home / "ready").exists():
        pytest.skip(f"{engine} cannot be installed here; see what make test-engines says")
    return home


def environment(trainer: str) -> Path:
    """Folder of the programs in the trainer's environment."""
    return home_of(trainer) / "venv/bin"


def run_program(trainer: str, job: dict[str, Any], url: str, program: str | None = None) -> dict[str, Any]:
    """Run a program on the job, with the service at `url`; gives what it prints as JSON.

    Args:
        trainer: Whose environment it runs in; see `environment`.
        job: Goes to it as JSON.
        url: Goes to it as `RUBRICATE_URL`.
        program: It is `<program>_program.py`; by default the trainer's name.
    """
    done = subprocess.run(
        [environment(trainer) / "python", PROGRAMS / f"{program or trainer}_program.py", json.dumps(job)],
        env={**os.environ, "RUBRICATE_URL": url},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
