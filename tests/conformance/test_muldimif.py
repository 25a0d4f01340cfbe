"""Recorded verdicts of the reference code (Junjie-Ye/MulDimIF efd0c02) against ours.

They hold other people's texts and stay outside the repository: in the folder that RUBRICATE_GOLDENS
names, or ../shared/goldens, and in ../shared/inputs beside it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rubricate_checkers import Text, Verdict, build, evaluate

GOLDENS = Path(os.environ.get("RUBRICATE_GOLDENS", Path(__file__).parents[3] / "shared" / "goldens"))
TEST_SET = GOLDENS.parent / "inputs" / "muldimif_test.json"


def content(file: Path) -> str:
    if not file.exists():
        pytest.skip(f"{file} does not exist (set RUBRICATE_GOLDENS)")
    return file.read_text(encoding="utf-8")


def verdict(category: str, subcategory: str, constraint: str, response: str) -> Verdict:
    kwargs = {"category": category, "subcategory": subcategory, "constraint": constraint}
    return evaluate(Text(response), build("muldimif:constraint", kwargs))


def test_recorded_verdicts() -> None:
    rows: list[dict[str, Any]] = list(
        map(json.loads, content(GOLDENS / "goldens_muldimif.jsonl").splitlines())
    )
    wrong = []
    for row in rows:
        ours = verdict(row["category"], row["subcategory"], row["constraint"], row["response"])
        # a response on which the reference code breaks must not hold
        if ours.holds != bool(row["verdict"]):
            wrong.append((row["id"], row["checker"], row["constraint"], row["response"][:80], ours))
    assert wrong == []
    assert len(rows) > 7000


def test_sentences_that_are_not_understood() -> None:
    """How many distinct sentences of the test set give the reference code nothing to look for."""
    rows = json.loads(content(TEST_SET))
    triples = {tuple(triple) for row in rows for triple in row["constraints"]}
    unclear = Counter(
        f"{category} {subcategory}".partition(":")[0]
        for category, subcategory, constraint in triples
        if verdict(category, subcategory, constraint, "Well.").parsed is False
    )
    assert len(triples) == 3299
    assert unclear.total() == 150
    assert unclear["Length Sentences"] == 11
    assert unclear["Language English"] == 5
    assert unclear["Length Paragraphs"] == 1
