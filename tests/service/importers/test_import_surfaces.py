"""`POST /v1/import` and `rubricate import`, and real rows through them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from rubricate_clients.wire import Group
from rubricate_service.cli import app
from rubricate_service.importers import Importer
from rubricate_service.importers.files import FileError, import_file, read_rows

SHARED = Path(__file__).parents[4] / "shared"
INPUTS = Path(os.environ.get("RUBRICATE_GOLDENS", SHARED / "goldens")).parent / "inputs"
ROW = {
    "key": 1,
    "prompt": "Describe a pier.",
    "instruction_id_list": ["punctuation:no_comma"],
    "kwargs": [{}],
}
GROUP = {
    "id": "1",
    "prompt": "Describe a pier.",
    "rubrics": [{"id": "punctuation:no_comma", "check": "punctuation:no_comma"}],
}
OPTIONS = {"reward": "outcome", "thinking": "keep", "blank": "check"}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "in.jsonl", tmp_path / "out.jsonl"


def test_the_route_imports_and_reports(client: TestClient) -> None:
    answer = client.post("/v1/import", json={"rows": [ROW, {"x": 1}, ROW]}).json()
    assert answer["groups"] == [GROUP, {**GROUP, "id": "1#2"}]
    (error,) = answer["errors"]
    assert (error["row"], error["path"]) == (1, "")
    assert answer.keys() == {"groups", "errors"}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"rows": []}, "rows"),
        ({"rows": [ROW], "format": "ifevl"}, "format"),
        ({"rows": [ROW], "formats": "ifeval"}, "formats"),
    ],
)
def test_a_bad_body_is_refused(client: TestClient, body: dict[str, Any], path: str) -> None:
    answer = client.post("/v1/import", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["details"][0]["path"] == path


@pytest.mark.parametrize(
    "kwargs",
    ['{"num_words": 1e999, "relation": "at least"}', '{"num_words": ' + "1" * 4000 + "}"],
)
def test_numbers_that_are_too_large_do_not_break_the_answer(client: TestClient, kwargs: str) -> None:
    row = (
        '{"prompt": "x", "instruction_id_list": ["length_constraints:number_words"], "kwargs": ['
        + kwargs
        + "]}"
    )
    answer = client.post("/v1/import", content=f'{{"rows": [{row}]}}')
    assert answer.status_code == 200
    body = answer.json()
    assert len(body["groups"]) + len(body["errors"]) == 1


def test_what_was_imported_scores_once_it_has_responses(client: TestClient) -> None:
    answer = client.post("/v1/import", json={"rows": [ROW]}).json()
    groups = [{**group, "responses": ["Old wood.", "Old, grey wood."]} for group in answer["groups"]]
    scored = client.post("/v1/score", json={"groups": groups, "options": OPTIONS}).json()
    assert [response["reward"] for response in scored["groups"][0]["responses"]] == [1.0, 0.0]


def test_the_command_writes_groups_and_reports_the_rest(files: tuple[Path, Path]) -> None:
    source, out = files
    with_response = {**ROW, "key": 2, "response": "Old wood."}
    source.write_text(f"{json.dumps(ROW)}\n\n{{torn\n[1]\n{json.dumps(with_response)}\n")
    done = CliRunner().invoke(app, ["import", str(source), "-o", str(out)])
    assert done.exit_code == 1
    assert "row 2: this line is not JSON" in done.stderr
    assert "row 3: a row must be an object" in done.stderr
    assert json.dumps(OPTIONS) in done.stderr.replace("\n", "")
    groups = [json.loads(line) for line in out.read_text().splitlines()]
    assert groups == [GROUP, {**GROUP, "id": "2", "responses": ["Old wood."]}]
    Group.model_validate(groups[1])


def test_a_json_list_is_read_as_rows(files: tuple[Path, Path]) -> None:
    source, out = files
    source.write_text(json.dumps([ROW, ROW], indent=1))
    written, importer = import_file(source, out, "ifeval")
    assert (written, importer.errors) == (2, [])


def test_files_that_cannot_be_used_are_told_before_anything_is_written(files: tuple[Path, Path]) -> None:
    source, out = files
    out.write_text("kept")
    with pytest.raises(FileError, match="there is no file"):
        import_file(source, out)
    source.write_text("[1,")
    with pytest.raises(FileError, match="begins as a JSON list"):
        import_file(source, out)
    assert out.read_text() == "kept"
    with pytest.raises(FileError, match="is the file to read"):
        import_file(out, out)
    done = CliRunner().invoke(app, ["import", str(source), "-o", str(out), "--format", "x"])
    assert (done.exit_code, "hir" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "format", "rows", "rubrics"),
    [
        ("hir_rows.jsonl", "hir", 600, 3179),
        ("ifbench_test.jsonl", "ifeval", 300, 344),
        ("ifeval_groups.jsonl", "ifeval", 540, 832),
        ("muldimif_test.json", "muldimif", 1200, 4180),
    ],
)
def test_every_real_row_is_imported(name: str, format: str, rows: int, rubrics: int) -> None:
    if not (INPUTS / name).exists():
        pytest.skip(f"no real rows: {INPUTS / name} does not exist (set RUBRICATE_GOLDENS)")
    importer = Importer()
    groups = [importer.take(number, row) for number, row, _ in read_rows(INPUTS / name)]
    assert importer.errors == []
    assert [(hint.format, hint.rows) for hint in importer.hints] == [(format, rows)]
    assert sum(len(group.rubrics) for group in groups if group is not None) == rubrics
