"""`rubricate lint`: files of every kind, what it prints, and its exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.importers.files import FileError
from rubricate_service.lint.files import read_source

NO_COMMA = {"check": "punctuation:no_comma"}
KEYWORD = {"check": "keywords:existence", "kwargs": {"keywords": ["tide, high"]}}
CLASH = {"id": "g1", "prompt": "Describe the tide.", "rubrics": [NO_COMMA, KEYWORD]}
FINE = {"prompt": "Describe the tide.", "rubrics": [{"criterion": "It is kind."}]}
IFEVAL = {"key": 7, "prompt": "Describe it.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}


BILLIONS = "prompt: p\nrubrics: [&a0 [x, x]" + "".join(
    f", &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)
) + "]\n"  # fmt: skip


def rubricate(*args: str) -> subprocess.CompletedProcess[str]:
    flags = [*args, "--check-workers", "1"]
    return subprocess.run(
        [sys.executable, "-m", "rubricate_service", "lint", *flags],
        capture_output=True,
        text=True,
        timeout=100,
    )


def write(path: Path, *rows: Any) -> str:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return str(path)


def test_a_report_for_people(tmp_path: Path) -> None:
    done = rubricate(write(tmp_path / "rubrics.jsonl", CLASH, FINE, IFEVAL))
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "row 0 (g1), line 1"
    assert lines[1] == '  E04 error  rubrics[1]: "tide, high" must occur, while rubrics[0] allows no commas'
    assert lines[2] == "      Reword the phrase, or drop the rule against the character."
    assert lines[3] == "row 2 (7), line 3"
    assert lines[4].startswith("  W01 warning  group: a lone full stop passes the only rubric")
    assert lines[-1] == "3 rows, 1 error, 1 warning"


def test_warnings_alone_are_no_failure(tmp_path: Path) -> None:
    assert rubricate(write(tmp_path / "rows.jsonl", IFEVAL)).returncode == 0


def test_json_with_witnesses(tmp_path: Path) -> None:
    done = rubricate(write(tmp_path / "rubrics.jsonl", CLASH, IFEVAL), "--json", "--witness")
    answer = json.loads(done.stdout)
    assert [(f["rule"], f["path"]) for f in answer["findings"]] == [
        ("E04", "rows[0].rubrics[1]"),
        ("W01", "rows[1]"),
    ]
    assert [w["path"] for w in answer["witnesses"]] == ["rows[0]", "rows[1]"]
    assert answer["witnesses"][0]["response"] is None
    assert "," not in answer["witnesses"][1]["response"]


@pytest.mark.parametrize(
    "content",
    [
        "- prompt: Describe the tide.\n  rubrics: &both\n    - check: punctuation:no_comma\n"
        "    - check: keywords:existence\n      kwargs: {keywords: ['tide, high']}\n",
        "groups:\n  - prompt: Describe the tide.\n    rubrics:\n      - check: punctuation:no_comma\n"
        "      - check: startend:end_checker\n        kwargs: {end_phrase: 'Over, out'}\n",
        "prompt: Describe the tide.\nrubrics:\n  - check: punctuation:no_comma\n"
        "  - check: startend:end_checker\n    kwargs: {end_phrase: 'Over, out'}\n---\n",
    ],
)
def test_yaml(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rubrics.yaml"
    path.write_text(content)
    source = read_source(path)
    assert source.faults == []
    ((place, group),) = source.groups
    assert place == "rows[0]"
    assert group.prompt == "Describe the tide."
    assert group.rubrics[0] == NO_COMMA
    assert len(group.rubrics) == 2


@pytest.mark.parametrize("name", ["bom.yaml", "bom.jsonl", "bom.json"])
def test_a_byte_order_mark_is_no_fault(tmp_path: Path, name: str) -> None:
    content = json.dumps([FINE] if name == "bom.json" else FINE)
    (tmp_path / name).write_text(f"\ufeff{content}\n", encoding="utf-8")
    source = read_source(tmp_path / name)
    assert source.faults == []
    assert [place for place, _ in source.groups] == ["rows[0]"]


def test_rows_that_are_none_cost_no_other(tmp_path: Path) -> None:
    unknown = {"prompt": "p", "rubrics": [{"check": "punctuation:no_coma", "weight": -1}]}
    path = write(tmp_path / "rows.jsonl", "{", {"text": "no group"}, unknown, {**FINE, "rubrics": []}, CLASH)
    found = json.loads(rubricate(path, "--json").stdout)["findings"]
    assert [(f["rule"], re.sub(r"\W.*", "", f["path"][5:])) for f in found if f["severity"] == "error"] == [
        ("E09", "0"),
        ("E09", "1"),
        ("E12", "2"),
        ("E09", "3"),
        ("E04", "4"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.jsonl", None, "there is no file"),
        ("none.yaml", None, "there is no file"),
        ("a.yaml", "a: [", "this is not YAML"),
        ("a.yaml", "a: &b [*b]\nc: *d", "line 2, column 4: this is not YAML"),
        ("a.yaml", "&a\nprompt: *a\nrubrics: [*a]\n", "stands for far too much through its aliases"),
        ("a.yaml", BILLIONS, "stands for far too much through its aliases"),
        ("a.json", "[1, ", "begins as a JSON list and is none"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: str | None, says: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(FileError, match=says):
        read_source(path)


@pytest.mark.parametrize(
    ("name", "flags", "says"),
    [
        ("none.jsonl", [], "there is no file"),
        ("empty.jsonl", [], "has no group to lint"),
        ("empty.yaml", [], "has no group to lint"),
        ("a.jsonl", ["--repeat", "3"], "none is configured"),
        ("a.jsonl", ["--repeat", "1"], "at least twice"),
    ],
)
def test_what_cannot_be_linted(tmp_path: Path, name: str, flags: list[str], says: str) -> None:
    write(tmp_path / "a.jsonl", FINE)
    write(tmp_path / "empty.jsonl", "")
    write(tmp_path / "empty.yaml", "# nothing yet")
    done = rubricate(str(tmp_path / name), *flags)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())


def test_w07_a_judge_that_changes_its_mind(tmp_path: Path) -> None:
    rubrics = [{"criterion": "It is kind."}, {"criterion": "It names a port."}, {"criterion": "It is odd."}]
    group = {"prompt": "Describe it.", "rubrics": rubrics, "responses": ["A quay.", "A pier in Hull."]}
    path = write(tmp_path / "rubrics.jsonl", group)
    with FakeJudge(answer="2") as judge:
        judge.fail_when(Fault.refusal(), lambda call: "odd" in call.text)
        judge.fail_when(
            Fault.text("0"), lambda call: "kind" in call.text and "Hull" in call.text and call.attempt == 2
        )
        done = rubricate(path, "--json", "--repeat", "3", "--judge", judge.url)
    found = [f for f in json.loads(done.stdout)["findings"] if f["rule"] == "W07"]
    assert [(f["path"], f["message"]) for f in found] == [
        ("rows[0].rubrics[0].criterion", "asked 3 times, the judge gave other labels to 1 of 2 samples")
    ]
    assert "6 refused" in done.stderr
    assert done.returncode == 0
