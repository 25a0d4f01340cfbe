"""Every format: a row of it, what becomes of it, and that `auto` tells it from all others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rubricate_service.importers import FORMATS, Importer

TABLE = Path(__file__).parent / "data" / "formats.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()]
COMMA = {"check": "punctuation:no_comma"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["format"])
@pytest.mark.parametrize("named", [True, False], ids=["named", "auto"])
def test_a_row_becomes_rubrics(case: dict[str, Any], named: bool) -> None:
    importer = Importer(case["format"] if named else "auto")
    group = importer.take(0, case["row"])
    assert importer.errors == []
    assert group is not None
    assert [rubric.model_dump(exclude_unset=True) for rubric in group.rubrics] == case["rubrics"]
    assert group.prompt in ("Describe a harbour.", "Describe\n\na harbour.")
    assert [hint.format for hint in importer.hints] == [case["format"]]


def test_every_format_has_a_case() -> None:
    assert {case["format"] for case in CASES} == set(FORMATS)


@pytest.mark.parametrize(("mode", "outcome"), [(None, "all"), ("binary", "all"), ("fraction", "fraction")])
def test_a_grading_mode_is_told_as_options(mode: str | None, outcome: str) -> None:
    row = {"prompt": "Go.", "instruction_id_list": ["punctuation:no_comma"], "grading_mode": mode}
    importer = Importer("nemotron")
    for number in range(3):
        importer.take(number, row)
    (hint,) = importer.hints
    assert (hint.rows, hint.options) == (3, {"outcome": outcome, "reward": "outcome"})


@pytest.mark.parametrize(
    ("given", "responses"),
    [
        ({}, None),
        ({"responses": []}, None),
        ({"response": "One."}, ["One."]),
        ({"responses": ["One.", "", "One."]}, ["One.", "", "One."]),
        ({"responses": [{"id": 4, "text": "One.", "strict": [True]}]}, [{"id": "4", "text": "One."}]),
        (
            {"prompt": [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "One."}]},
            ["One."],
        ),
    ],
)
def test_responses_are_kept(given: dict[str, Any], responses: object) -> None:
    row = {"prompt": "Go.", "instruction_id_list": ["punctuation:no_comma"], **given}
    group = Importer().take(0, row)
    assert group is not None
    assert group.prompt == "Go."
    assert group.model_dump(exclude_unset=True).get("responses") == responses


def test_ids_are_unique_over_rows_and_within_a_group() -> None:
    importer = Importer()
    rubric = {"criterion": "Calm."}
    rubrics = [{"id": "a", **rubric}, {"id": "a", **rubric}, {"id": "a#2", **rubric}, {"id": "a", **rubric}]
    ids = []
    for number, id in enumerate(["x", None, "x", "1", "x#2"]):
        group = importer.take(number, {"id": id, "prompt": "Go.", "rubrics": rubrics})
        assert group is not None
        assert [r.id for r in group.rubrics] == ["a", "a#3", "a#2", "a#4"]
        ids.append(group.id)
    assert ids == ["x", "1", "x#2", "1#3", "x#2#4"]


def test_a_native_conversation_keeps_its_last_turn() -> None:
    prompt = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Where?"}]
    group = Importer().take(0, {"prompt": prompt, "rubrics": [COMMA]})
    assert group is not None
    assert group.model_dump()["prompt"] == prompt
    assert group.responses is None


@pytest.mark.parametrize("name", ["reference", "reference_answer", "reference_response", "gold"])
def test_a_reference_answer_is_kept(name: str) -> None:
    group = Importer().take(0, {"prompt": "Go.", "criteria": [["Calm.", "次需"]], name: "Gone."})
    assert group is not None
    assert group.reference == "Gone."
