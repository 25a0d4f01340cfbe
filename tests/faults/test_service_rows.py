"""The tables in `docs/reliability.md` have every row of the list, and name tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [f"F{number}" for number in range(1, 28)] + [f"A{number}" for number in range(1, 26)]
TABLE = dict(
    re.findall(
        r"^\| ([FA]\d+) \|.*\| ([^|]+) \|$", (ROOT / "docs" / "reliability.md").read_text(), re.MULTILINE
    )
)


def functions(file: Path) -> set[str]:
    """Names of a file's tests."""
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_the_table_has_every_row_once() -> None:
    assert list(TABLE) == ROWS


@pytest.mark.parametrize("row", ROWS)
def test_the_tests_of_a_row_exist_and_carry_its_number(row: str) -> None:
    named = re.findall(r"`(\w+\.py)::(\w+)(?:\[([^\]]+)\])?`", TABLE[row])
    assert named
    numbers = []
    for name, test, parameter in named:
        (file,) = (ROOT / "tests").rglob(name)
        assert test in functions(file), f"{name} has no {test}"
        if parameter:
            assert f'"{parameter}' in file.read_text(), f"{name} has no case {parameter}"
        numbers += [parameter.partition("-")[0].upper(), test.split("_")[1].upper()]
    assert row in numbers
