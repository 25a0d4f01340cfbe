"""Recorded verdicts of allenai/IFBench, both generations, against ours, strict and loose.

Suite `ifbench` is db69a6f, `ifbench@2025` is c6767a1, whose verdicts are recorded where they differ.
They hold other people's texts and stay outside the repository: in the folder that RUBRICATE_GOLDENS
names, or ../shared/goldens; the weights of nltk's tagger are in the folder nltk_data beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nltk
import pytest

from rubricate_checkers import BadKwargs, MissingData, Text, build, catalogue, evaluate

GOLDENS = Path(os.environ.get("RUBRICATE_GOLDENS", Path(__file__).parents[3] / "shared" / "goldens"))
OLD = "ifbench_c6767a1"
RAISED = "E"


@pytest.fixture(autouse=True)
def _tagger_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.data, "path", [*nltk.data.path, str(GOLDENS.parent / "nltk_data")])


def rows() -> Iterator[dict[str, Any]]:
    for name in ("ifbench_extended", "ifbench_real", "nemo_gym_real"):
        file = GOLDENS / f"{name}.jsonl"
        if not file.exists():
            pytest.skip(f"no recorded verdicts: {file} does not exist (set RUBRICATE_GOLDENS)")
        with file.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["suite"] == "ifbench" and not row["unstable"]:
                    yield row


def is_drawn(row: dict[str, Any]) -> bool:
    """Whether the older generation draws a kwarg at random, which no recorded verdict can show."""
    return row["instruction_id"] == "repeat:repeat_span" and not row["kwargs"]["n_start"]


def verdicts(row: dict[str, Any], prefix: str) -> list[bool]:
    text, check = Text(row["response"], row["prompt"]), build(prefix + row["instruction_id"], row["kwargs"])
    return [evaluate(text, check).holds, evaluate(text, check, mode="loose").holds]


@pytest.mark.parametrize("prefix", ["", "ifbench@2025:"])
def test_recorded_verdicts(prefix: str) -> None:
    compared = 0
    wrong = []
    for row in rows():
        recorded = [row["strict"], row["loose"]]
        if prefix:
            recorded = row["differs"].get(OLD, recorded) if row["differs"] else recorded
            if is_drawn(row):
                continue
        try:
            ours = verdicts(row, prefix)
        except MissingData as error:
            pytest.skip(error.message)
        compared += 1
        # where a response made the reference code raise, it must not gain by that
        expected = [False if verdict == RAISED else verdict for verdict in recorded]
        if ours != expected:
            wrong.append((row["instruction_id"], row["kwargs"], row["response"][:80], recorded, ours))
    assert wrong == []
    assert compared > 4800


def test_what_the_older_generation_draws_at_random_is_refused() -> None:
    drawn = [row for row in rows() if is_drawn(row)]
    assert drawn
    for row in drawn:
        with pytest.raises(BadKwargs, match="at random"):
            build("ifbench@2025:repeat:repeat_span", row["kwargs"])


def test_every_id_has_recorded_verdicts_of_both_kinds() -> None:
    seen = {(row["instruction_id"], row["strict"]) for row in rows()}
    ids = {entry.id for entry in catalogue() if entry.suite == "ifbench"}
    assert len(ids) == 58
    assert seen == {(id, holds) for id in ids for holds in (True, False)}
