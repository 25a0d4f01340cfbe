"""`rubricate judge agree` as authors run it."""

from __future__ import annotations

import csv
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from author_commands import rubricate

from rubricate_clients.testing import FakeCall, FakeJudge, Fault
from rubricate_service.authoring.labels import read_labels
from rubricate_service.importers.files import FileError

HEADER = ["id", "prompt", "response", "criterion", "label", "hard", "pass_at"]


def write_csv(path: Path, rows: list[list[str]], header: list[str] = HEADER, delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return path


def row(number: int, response: str, label: str, *more: str) -> list[str]:
    return [f"r{number}", f"Prompt {number}.", response, "It is kind.", label, *more]


def by_word(call: FakeCall) -> str:
    """The label that the response names."""
    return next(label for label in "012" if f"judge-says-{label}" in call.text)


def says(label: int) -> str:
    return f"A response, and judge-says-{label}, over\ntwo lines."


def agree(path: Path, *flags: str) -> tuple[int, dict[str, Any], str]:
    done = rubricate("judge", "agree", str(path), "--json", "--cache", str(path.parent / "v.db"), *flags)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def test_three_points_and_pass_or_fail_are_compared_apart(tmp_path: Path) -> None:
    rows = [
        row(0, says(0), "0"),
        row(1, says(1), "0.5"),
        row(2, says(2), "1"),
        row(3, says(0), "1"),
        row(4, says(1), "pass"),
        row(5, says(1), "pass", "", "0.5"),
        row(6, says(2), "fail"),
        row(7, says(1), "0.5", "true", "0.5"),
        row(8, "", "0"),  # content-free: the service asks nobody
    ]
    with FakeJudge(answer=by_word) as judge:
        code, report, _ = agree(write_csv(tmp_path / "l.csv", rows), "--judge", judge.url)
        assert len(judge.calls) == 8
    assert code == 0
    three, two = report["comparisons"]
    assert three["confusion"] == [[2, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert (three["n"], three["accuracy"]) == (5, 0.8)
    assert three["constant"] == {"label": "0", "accuracy": 0.4}
    assert [d["id"] for d in three["disagreements"]] == ["r3"]
    assert two["confusion"] == [[0, 1], [1, 2]]
    assert {d["id"] for d in two["disagreements"]} == {"r4", "r6"}
    assert two["disagreements"][0]["response"].endswith("two lines.")


def test_failed_verdicts_are_counted_apart(tmp_path: Path) -> None:
    rows = [row(0, says(0), "0"), row(1, says(2), "1"), row(2, says(2), "0")]
    with FakeJudge(answer=by_word) as judge:
        judge.fail_when(Fault.refusal(), lambda call: "Prompt 2." in call.text)
        code, report, _ = agree(write_csv(tmp_path / "l.csv", rows), "--judge", judge.url)
    (three,) = report["comparisons"]
    assert code == 1
    assert (three["n"], three["without_a_verdict"], three["accuracy"]) == (2, 1, 1.0)
    assert report["failures"] == {"refused": 1}


def test_runs_show_whether_the_judge_repeats_itself(tmp_path: Path) -> None:
    calls = count()

    def wavering(call: FakeCall) -> str:
        return by_word(call) if "Prompt 1." in call.text else "02"[next(calls) % 2]

    rows = [row(0, says(0), "0"), row(1, says(2), "1")]
    with FakeJudge(answer=wavering) as judge:
        _, report, _ = agree(write_csv(tmp_path / "l.csv", rows), "--judge", judge.url, "--runs", "3")
        assert len(judge.calls) == 6
    (three,) = report["comparisons"]
    assert three["repeatability"] == 0.5


def test_a_table_is_printed_for_people(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "l.csv", [row(0, says(0), "0"), row(1, says(2), "0"), row(2, "x", "maybe")])
    with FakeJudge(answer=by_word) as judge:
        done = rubricate("judge", "agree", str(path), "--judge", judge.url, "--cache", str(tmp_path / "v.db"))
    assert done.returncode == 1
    assert "line 6: label is 'maybe'" in done.stderr  # lines of the file: texts have line feeds
    assert "constant        100.0 %" in done.stdout
    assert "line 4 (r1): person 0, judge 1" in done.stdout
    assert "and judge-says-2, over⏎two lines." in done.stdout


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (row(0, "x", "0.7"), "label is '0.7'"),
        (row(0, "x", ""), "label is empty"),
        (row(0, "x", "1", "perhaps"), "hard is 'perhaps'"),
        (row(0, "x", "1", "", "0.7"), "pass_at is '0.7'"),
        (row(0, "x", "1", "", "nan"), "pass_at is 'nan'"),
        (["r", " ", "x", "c", "1"], "prompt is empty"),
        (["r", "p", "x"], "fewer cells"),
        (["r", "p", "x", "c", "1", "", "", "more"], "more cells"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_by_its_line(tmp_path: Path, cells: list[str], says: str) -> None:
    labels = read_labels(write_csv(tmp_path / "l.csv", [cells, row(1, "a\nb", "1"), cells]))
    assert [row.id for row in labels.rows] == ["r1"]
    assert [fault.partition(": ")[0] for fault in labels.faults] == ["line 2", "line 5"]
    assert says in labels.faults[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_spreadsheets_separate_columns_as_they_like(tmp_path: Path, delimiter: str) -> None:
    path = write_csv(
        tmp_path / "l.csv", [row(0, "a, b; c", "0,5"), row(1, "x", "PASS", "TRUE")], delimiter=delimiter
    )
    labels = read_labels(path)
    assert [(one.scale, one.label) for one in labels.rows] == [("three points", 1), ("pass or fail", 1)]
    assert labels.rows[0].group.texts() == ["a, b; c"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"prompt,response,label\n", "no column criterion; its first line names prompt, response, label"),
        (b"", "no column prompt, response, criterion, label; its first line names none"),
        (
            b"prompt,response,criterion,label\n" + b"a,b,c,1\n" * 9000 + b"\xff,b,c,1\n",
            "not UTF-8: line 9002 ",
        ),
        (b"prompt,response,criterion,label,label\np,r,c,1,0\n", "more than one column label"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "l.csv"
    path.write_bytes(content)
    with pytest.raises(FileError, match=says):
        read_labels(path)


def test_columns_that_nobody_reads_are_told(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "l.csv", [[*row(0, "x", "1"), "", "", "why"]], [*HEADER, "notes"])
    assert read_labels(path).unread == ["notes"]


def test_without_a_judge_nothing_can_be_compared(tmp_path: Path) -> None:
    done = rubricate("judge", "agree", str(write_csv(tmp_path / "l.csv", [row(0, "x", "1")])))
    assert done.returncode == 2
    assert "--judge" in done.stderr
