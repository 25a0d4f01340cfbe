"""What each install brings along."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import rubricate_clients.adapters

HEAVY = ["fastapi", "uvicorn", "nltk", "langdetect", "torch", "typer"]
ROOT = Path(__file__).parents[2]

# the rest are made of a class of their trainer's, and say so when they are imported
NEED_THEIR_TRAINER = {"areal", "prime_rl", "roll", "verl_plugin"}
ADAPTERS = [
    module.name
    for module in pkgutil.iter_modules(rubricate_clients.adapters.__path__)
    if not module.name.startswith("_") and module.name not in NEED_THEIR_TRAINER
]


@pytest.mark.parametrize(
    "module",
    [
        "rubricate_clients",
        "rubricate_clients.advantages",
        "rubricate_clients.wire",
        "rubricate_clients.rollout_log",
        *(f"rubricate_clients.adapters.{name}" for name in ADAPTERS),
    ],
)
def test_what_a_trainer_imports_is_light(module: str) -> None:
    code = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("name", sorted(NEED_THEIR_TRAINER))
def test_an_adapter_says_which_trainer_it_needs(name: str) -> None:
    code = f"import rubricate_clients.adapters.{name}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert re.search(r"^ImportError: .* needs .* in this environment .*pip install", run.stderr, re.MULTILINE)


def test_the_command_says_what_to_install_when_the_service_is_left_out() -> None:
    code = (
        "import sys; sys.modules['typer'] = None\n"  # as if it were not installed
        "from rubricate_service.__main__ import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "rubricate[service]" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.fixture(scope="module")
def empty_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with nothing but the wheel and what it declares."""
    folder = tmp_path_factory.mktemp("trainer")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], check=True, timeout=300)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    [wheel] = folder.glob("rubricate-*.whl")
    subprocess.run([python, *pip[1:], "install", wheel], check=True, timeout=300)
    return python


@pytest.mark.timeout(700)
def test_an_adapter_works_with_the_wheel_alone(empty_python: Path) -> None:
    code = """
from importlib.metadata import distributions
from rubricate_clients.adapters import trl
print(*(d.name.lower() for d in distributions()))
try:
    trl.RDANGRPOTrainer
except ImportError as error:
    print(error)
"""
    run = subprocess.run([empty_python, "-c", code], capture_output=True, text=True, check=True)
    installed, error = run.stdout.splitlines()
    assert "numpy" in installed.split()
    assert not set(HEAVY) & set(installed.split())
    assert error.startswith("RDANGRPOTrainer needs TRL in this environment")


@pytest.mark.timeout(700)
def test_importing_the_client_takes_no_time_to_speak_of(empty_python: Path) -> None:
    # of the processor, since others may be using it as well
    code = "from time import process_time as t; start = t(); import rubricate_clients; print(t() - start)"
    runs = [subprocess.check_output([empty_python, "-c", code], text=True) for _ in range(3)]
    assert min(map(float, runs)) < 0.4
