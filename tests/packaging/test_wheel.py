"""What each install brings along."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["fastapi", "uvicorn", "nltk", "langdetect", "torch", "typer"]


@pytest.mark.parametrize(
    "module", ["rubricate_clients", "rubricate_clients.advantages", "rubricate_clients.wire"]
)
def test_what_a_trainer_imports_is_light(module: str) -> None:
    code = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_command_says_what_to_install_when_the_service_is_left_out() -> None:
    code = (
        "import sys; sys.modules['typer'] = None\n"  # as if it were not installed
        "from rubricate_service.__main__ import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "rubricate[service]" in run.stderr
    assert "Traceback" not in run.stderr
