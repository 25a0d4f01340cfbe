"""Verdicts of the reference code (lm-evaluation-harness 4e7e0d4, langdetect seeded) against ours.

The recorded verdicts hold other people's texts and stay outside the repository: in the folder that
RUBRICATE_GOLDENS names, or ../shared/goldens, and in ../shared/inputs beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from rubricate_checkers import BadKwargs, CheckerError, Text, build, evaluate

MODES: tuple[Literal["strict", "loose"], ...] = ("strict", "loose")
SHARED = Path(__file__).parents[3] / "shared"
GOLDENS = Path(os.environ.get("RUBRICATE_GOLDENS", SHARED / "goldens"))
GROUPS = GOLDENS.parent / "inputs" / "ifeval_groups.jsonl"


def rows(file: Path) -> Iterator[dict[str, Any]]:
    if not file.exists():
        pytest.skip(f"no recorded verdicts: {file} does not exist (set RUBRICATE_GOLDENS)")
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def verdicts(text: Text, id: str, kwargs: dict[str, Any]) -> tuple[bool | None, ...]:
    """Strict and loose verdict; None where the rubric is refused."""
    try:
        check = build(id, kwargs)
    except CheckerError:
        return None, None
    return tuple(evaluate(text, check, mode).holds for mode in MODES)


@pytest.mark.parametrize("name", ["ifeval_extended", "ifeval_real"])
def test_recorded_verdicts(name: str) -> None:
    stable = [row for row in rows(GOLDENS / f"{name}.jsonl") if not row["unstable"]]
    wrong = [
        (row["key"], row["kwargs"], row["response"][:80], row["strict"], row["loose"], ours)
        for row in stable
        if (ours := verdicts(Text(row["response"]), row["instruction_id"], row["kwargs"]))
        != (row["strict"], row["loose"])
    ]
    assert wrong == []
    assert len(stable) > 1000


def test_recorded_groups() -> None:
    compared = 0
    wrong = []
    for group in rows(GROUPS):
        pairs = list(zip(group["instruction_id_list"], group["kwargs"], strict=True))
        for response in group["responses"]:
            text = Text(response["text"], group["prompt"])
            for i, (id, kwargs) in enumerate(pairs):
                if id == "keywords:letter_frequency" and not kwargs["letter"].isalpha():
                    continue  # upstream counts a letter drawn at random
                compared += 1
                recorded = response["strict"][i], response["loose"][i]
                if verdicts(text, id, kwargs) != recorded:
                    wrong.append((group["key"], response["id"], id, kwargs, recorded))
    assert wrong == []
    assert compared > 6000


@pytest.mark.parametrize("name", ["ifeval_extended", "ifeval_real"])
def test_what_upstream_draws_at_random_is_refused(name: str) -> None:
    drawn = [
        row
        for row in rows(GOLDENS / f"{name}.jsonl")
        if (row["unstable"] and row["instruction_id"].startswith(("keywords:", "length_constraints:")))
        or row["strict"] is None
    ]
    assert drawn
    for row in drawn:
        with pytest.raises(BadKwargs):
            build(row["instruction_id"], row["kwargs"])
