"""One file serves every command for authors, in every form, with what is expected of its responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from author_commands import rubricate

from rubricate_service.authoring.files import read_rows

GROUPS: list[dict[str, Any]] = [
    {
        "id": f"g{number}",
        "prompt": "Answer with a JSON object.",
        "rubrics": [
            {"id": "object", "check": "text:json_schema", "kwargs": {"schema": {"type": "object"}}},
        ],
        "responses": [{"text": f'{{"n": {number}}}', "expect": {"object": "pass", "reward": 1}}, "plain"],
    }
    for number in range(2)
]
ONE, OTHER = map(json.dumps, GROUPS)  # JSON is YAML too

FORMS = {
    "list.yaml": f"- {ONE}\n- {OTHER}\n",
    "mapping.yml": f"groups:\n  - {ONE}\n  - {OTHER}\n",
    "documents.yaml": f"{ONE}\n---\n{OTHER}\n",
    "list.json": f"[{ONE},\n{OTHER}]\n",
    "lines.jsonl": f"\ufeff{ONE}\r\n\r\n{OTHER}\r\n",
}
COMMANDS = {
    "lint": ([], "2 rows, 0 errors"),
    "test": ([], "4 hold"),
    "probe": ([], "0 of 2 groups pay"),
    "report": (["-o", "page.html"], "2 groups in page.html"),
    "score": (["-o", "scored.jsonl"], "2 rows in"),
}
BROKEN: dict[str, dict[str, Any]] = {
    "responses[1].id": {"responses": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]},
    "expects 'objekt'": {"responses": [{"text": "x", "expect": {"objekt": "pass"}}]},
    "responses[0].expect.object": {"responses": [{"text": "x", "expect": {"object": True}}]},
    "note: unknown field": {"note": "x"},
    "rubrics: Input should be a valid list": {"rubrics": {"check": "punctuation:no_comma"}},
}


def run(folder: Path, command: str, name: str) -> tuple[int, str]:
    flags, _ = COMMANDS[command]
    flags = [str(folder / flag) if "." in flag else flag for flag in flags]
    done = rubricate(command, str(folder / name), *flags, "--check-workers", "1")
    assert "Traceback" not in done.stderr
    return done.returncode, (done.stdout + done.stderr).replace(f"{folder}/", "")


def written(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(FORMS[name], encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_the_same_groups(tmp_path: Path, name: str) -> None:
    assert [row.value for row in read_rows(written(tmp_path, name))] == GROUPS


@pytest.mark.parametrize(("command", "name"), list(zip(COMMANDS, FORMS, strict=True)))
def test_a_command_takes_a_form(tmp_path: Path, command: str, name: str) -> None:
    """All read through the same function; each of these starts processes, so not all by all."""
    written(tmp_path, name)
    code, told = run(tmp_path, command, name)
    assert COMMANDS[command][1] in " ".join(told.split())
    assert code == 0, told


@pytest.mark.parametrize("command", COMMANDS)
def test_what_one_command_refuses_all_refuse(tmp_path: Path, command: str) -> None:
    """`lint` passed groups that no other command took, and refused some that all others did."""
    rows = [{**GROUPS[0], **broken} for broken in BROKEN.values()]
    (tmp_path / "broken.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, GROUPS[1]]))
    code, told = run(tmp_path, command, "broken.jsonl")
    assert code == 1
    assert [fault for fault in BROKEN if fault not in told] == []


@pytest.mark.parametrize("command", ["test", "score"])
def test_rows_of_a_data_set_are_to_be_imported_first(tmp_path: Path, command: str) -> None:
    row = {"key": 7, "prompt": "p", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(GROUPS[0])}\n")
    code, told = run(tmp_path, command, "rows.jsonl")
    assert code == 1
    assert told.count("line 1: ") == 1
    assert "`rubricate import` makes groups" in told


@pytest.mark.parametrize("command", ["lint", "score"])
def test_a_file_of_another_kind_is_told_in_one_message(tmp_path: Path, command: str) -> None:
    """A request that was printed over 40 lines, or YAML under another name, was 40 faults."""
    (tmp_path / "request.json").write_text(json.dumps({"groups": GROUPS}, indent=1))
    code, told = run(tmp_path, command, "request.json")
    assert code == 2
    assert told.count("not JSON") == 1
    assert "YAML named .yaml or .yml" in " ".join(told.split())
