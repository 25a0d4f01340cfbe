"""Demands are necessary: whatever a check passes meets them all. On them rests every error.

The recorded verdicts and real responses stay outside the repository: in the folder that RUBRICATE_GOLDENS
names, or ../shared/goldens, and in ../shared/inputs beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rubricate_checkers import CheckerError, Text, build, catalogue, evaluate
from rubricate_service.lint.admits import admits
from rubricate_service.lint.demands import demands_of
from rubricate_service.lint.linter import Report

Lint = Callable[..., Report]

SHARED = Path(__file__).parents[4] / "shared"
GOLDENS = Path(os.environ.get("RUBRICATE_GOLDENS", SHARED / "goldens"))
INPUTS = GOLDENS.parent / "inputs"


def rows(file: Path) -> Iterator[dict[str, Any]]:
    if not file.exists():
        pytest.skip(f"no recorded verdicts: {file} does not exist (set RUBRICATE_GOLDENS)")
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.id)
def test_examples_that_pass_meet_the_demands(entry: Any) -> None:
    check = build(entry.id, entry.example.kwargs)
    assert [d for d in demands_of(check) or () if not admits(d, entry.example.passes)] == []


def test_all_of_ifeval_says_what_it_demands() -> None:
    ours = [entry for entry in catalogue() if entry.suite == "ifeval"]
    assert len(ours) == 25
    assert [e.id for e in ours if demands_of(build(e.id, e.example.kwargs)) is None] == []


@pytest.mark.parametrize(
    ("name", "prefix", "fewest"),
    [
        ("ifeval_extended", "", 300),
        ("ifeval_real", "", 300),
        ("ifbench_extended", "", 50),
        ("iftrain_extended", "", 50),
        ("rlvr_func_name", "rlvr:", 100),
    ],
)
def test_recorded_passes_meet_the_demands(name: str, prefix: str, fewest: int) -> None:
    compared = 0
    for row in rows(GOLDENS / f"{name}.jsonl"):
        if row["strict"] is not True or row["unstable"] or "<think>" in row["response"]:
            continue
        try:
            check = build(prefix + row["instruction_id"], row["kwargs"])
            demands = demands_of(check)
            if not demands or not evaluate(Text(row["response"], row["prompt"]), check).holds:
                continue
        except CheckerError:
            continue
        for demand in demands:
            compared += 1
            assert admits(demand, row["response"]), (row["key"], demand, row["response"][:200])
    assert compared >= fewest


def test_no_real_response_passes_what_is_an_error(lint: Lint) -> None:
    """540 prompts, each with up to 8 responses and their official verdicts."""
    groups, passed = [], []
    for row in rows(INPUTS / "ifeval_groups.jsonl"):
        pairs = zip(row["instruction_id_list"], row["kwargs"], strict=True)
        rubrics = [{"check": id, "kwargs": {k: v for k, v in kwargs.items() if v}} for id, kwargs in pairs]
        groups.append({"prompt": row["prompt"], "rubrics": rubrics})
        passed.append(any(all(v for v in response["strict"]) for response in row["responses"]))
    report = lint(*groups)
    accused = {f.path.split(".")[0] for f in report.findings if f.severity == "error" and f.rule != "E09"}
    assert len(accused) >= 5
    assert [path for i, found in enumerate(passed) if found and (path := f"groups[{i}]") in accused] == []
