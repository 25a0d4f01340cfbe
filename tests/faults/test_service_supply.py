"""What the service is made of: each test is named by its row of the fault and attack list.

A24 dependencies and files, A25 formats that run code when they are read.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = [ROOT / package for package in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]
SOURCES = sorted(path for package in PACKAGES for path in package.rglob("*.py"))
RUN_CODE = {
    "pickle",
    "_pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "jsonpickle",
}
UNSAFE_YAML = {"load", "load_all", "full_load", "full_load_all", "unsafe_load", "unsafe_load_all"}


def needed_by(
    name: str, extras: frozenset[str], seen: dict[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """What an installed distribution needs with these extras, all the way down."""
    if extras <= seen.get(name, frozenset()) and name in seen:
        return seen
    seen[name] = seen.get(name, frozenset()) | extras
    try:
        declared = requires(name) or []
    except PackageNotFoundError:  # of another platform
        return seen
    for requirement in map(Requirement, declared):
        environments = [{"extra": extra} for extra in (extras or {""})]
        if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
            below = re.sub(r"[-_.]+", "-", requirement.name).lower()
            needed_by(below, frozenset(requirement.extras), seen)
    return seen


def test_a24_a_trainer_takes_few_packages_and_nobody_takes_a_proxy_for_models() -> None:
    direct = {Requirement(line).name for line in PROJECT["project"]["dependencies"]}
    assert direct == {"pydantic", "numpy", "httpx2", "aiohttp"}
    service = needed_by("rubricate", frozenset({"service"}), {})
    assert "fastapi" in service
    assert not {"litellm", "requests", "openai", "torch", "transformers"} & service.keys()
    assert len(service) < 90


def test_a24_no_dependency_comes_from_a_place_of_its_own() -> None:
    extras = PROJECT["project"]["optional-dependencies"].values()
    lines = [*PROJECT["project"]["dependencies"], *(line for extra in extras for line in extra)]
    assert [line for line in lines if Requirement(line).url] == []


def test_a24_the_wheel_is_made_of_all_files_of_the_packages() -> None:
    """Only what version control leaves out would be missing, and none of it is read by the code."""
    left_out = (ROOT / ".gitignore").read_text().split()
    shipped = [path for package in PACKAGES for path in package.rglob("*") if path.is_file()]
    data = [path for path in shipped if path.suffix not in (".py", ".pyc")]
    assert {path.suffix for path in data} >= {".txt", ".html", ".css", ".js", ".json", ".typed"}
    for path in data:
        assert not any(path.match(pattern.strip("/")) for pattern in left_out), path


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0], node.lineno


def called(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Owner (empty for a plain name), name and line of each call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield "", node.func.id, node.lineno
            elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                yield node.func.value.id, node.func.attr, node.lineno


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a25_nothing_is_read_in_a_format_that_runs_code(source: Path) -> None:
    tree = ast.parse(source.read_text())
    assert [(name, line) for name, line in imported(tree) if name in RUN_CODE] == []
    for owner, name, line in called(tree):
        assert not (owner == "yaml" and name in UNSAFE_YAML), f"line {line}"
        assert (owner, name) not in {("", "eval"), ("", "exec")}, f"line {line}"
