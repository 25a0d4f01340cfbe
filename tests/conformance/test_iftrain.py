"""Recorded verdicts of open-instruct e6c3044 (`IFEvalG`) against ours, strict and loose.

They hold other people's texts and stay outside the repository: in the folder that RUBRICATE_GOLDENS
names, or ../shared/goldens.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rubricate_checkers import Text, build, catalogue, evaluate

GOLDENS = Path(os.environ.get("RUBRICATE_GOLDENS", Path(__file__).parents[3] / "shared" / "goldens"))
IDS = {entry.id for entry in catalogue() if entry.suite in ("ifeval", "iftrain")}


def rows(name: str) -> Iterator[dict[str, Any]]:
    file = GOLDENS / f"{name}.jsonl"
    if not file.exists():
        pytest.skip(f"no recorded verdicts: {file} does not exist (set RUBRICATE_GOLDENS)")
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize(("name", "at_least"), [("iftrain_extended", 2000), ("nemo_gym_real", 15)])
def test_recorded_verdicts(name: str, at_least: int) -> None:
    stable = [row for row in rows(name) if not row["unstable"] and row["instruction_id"] in IDS]
    wrong = []
    for row in stable:
        text, check = Text(row["response"]), build(row["instruction_id"], row["kwargs"])
        ours = evaluate(text, check).holds, evaluate(text, check, mode="loose").holds
        if ours != (row["strict"], row["loose"]):
            wrong.append((row["key"], row["kwargs"], row["response"][:80], row["strict"], row["loose"], ours))
    assert wrong == []
    assert len(stable) >= at_least
