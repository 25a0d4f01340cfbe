"""The command line as its users meet it: real processes, real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rubricate_clients.testing import FakeJudge, Fault

ROWS = 200


def rubricate(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rubricate_service", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **(env or {})},
    )


def row(number: int) -> dict[str, Any]:
    return {
        "id": f"group {number}",
        "prompt": f"Prompt {number}.",
        "rubrics": [{"check": "punctuation:no_comma"}, {"criterion": "It is kind."}],
        "responses": [f"first {number}", f"second, {number}"],
    }


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_score_goes_on_after_a_kill_without_losing_or_repeating_a_row(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [json.dumps(row(n)) for n in range(ROWS)])
    out = tmp_path / "out.jsonl"
    with FakeJudge(answer="1", latency_s=0.05) as judge:
        flags = ["score", str(source), "-o", str(out), "--judge", judge.url, "--check-workers", "1"]
        flags += ["--cache", str(tmp_path / "v.db")]
        first = subprocess.Popen(
            [sys.executable, "-m", "rubricate_service", *flags],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "RUBRICATE_JUDGE_CONCURRENCY": "4"},
        )
        until = time.monotonic() + 30
        while not (out.exists() and out.stat().st_size) and time.monotonic() < until:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.wait()
        before = len(read(out))
        assert 0 < before < ROWS
        with out.open("ab") as file:
            file.write(b'{"row": 7, "torn')  # what a kill in the middle of a write leaves
        judge.latency_s = 0.0
        second = rubricate(*flags)
    assert second.returncode == 0, second.stderr
    assert f"has {before} of {ROWS} rows" in " ".join(second.stderr.split())
    assert "rows/s" in second.stderr
    rows = read(out)
    assert Counter(r["row"] for r in rows) == dict.fromkeys(range(ROWS), 1)
    for r in rows:
        assert r["id"] == f"group {r['row']}"
        assert [response["outcome"] for response in r["responses"]] == [1.0, 0.0]
        assert [response["quality"] for response in r["responses"]] == [0.5, None]


def test_score_reports_rows_that_cannot_be_read_and_goes_on(tmp_path: Path) -> None:
    bad = row(1) | {"rubrics": []}
    source = write(tmp_path / "in.jsonl", [json.dumps(row(0)), json.dumps(bad), "{", json.dumps(row(3))])
    out = tmp_path / "out.jsonl"
    done = rubricate("score", str(source), "-o", str(out), "--options", '{"judging": "none"}')
    assert done.returncode == 1
    assert "line 2: rubrics:" in done.stderr
    assert "line 3: this line is not JSON" in done.stderr
    assert "2 rows could not be read" in done.stderr
    assert [r["row"] for r in read(out)] == [0, 3]


def test_score_reads_a_file_that_starts_with_a_byte_order_mark(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\xef\xbb\xbf" + json.dumps(row(0)).encode() + b"\n")
    out = tmp_path / "out.jsonl"
    done = rubricate("score", str(source), "-o", str(out), "--options", '{"judging": "none"}')
    assert done.returncode == 0, done.stderr
    assert [scored["row"] for scored in read(out)] == [0]


def test_score_asks_again_what_the_judge_failed_and_says_so(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [json.dumps(row(n)) for n in range(3)])
    out = tmp_path / "out.jsonl"
    with FakeJudge(answer="1") as judge:
        flags = ["score", str(source), "-o", str(out), "--judge", judge.url]
        flags += ["--cache", str(tmp_path / "v.db")]
        judge.fail_when(Fault.refusal(), lambda call: "Prompt 0." in call.text)
        judge.fail_when(Fault.text("maybe"), lambda call: "Prompt 1." in call.text)
        first = rubricate(*flags)
        assert first.returncode == 1
        assert "1 refused, 1 unreadable" in " ".join(first.stderr.split())
        assert "again" in first.stderr
        judge.heal()
        second = rubricate(*flags)
    assert second.returncode == 0, second.stderr
    quality = {r["row"]: r["responses"][0]["quality"] for r in read(out)}
    assert quality == {0: None, 1: 0.5, 2: 0.5}  # a refusal is the judge's word, and stands
    (error,) = [v["error"] for r in read(out) for v in r["responses"][0]["rubrics"] if "error" in v]
    assert error["path"] == "rubrics[1]"


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("my notes", "{}", "line 1, was not written by this command"),
        ("my notes\n", "{}", "line 1, was not written by this command"),
        ('{"row":0,"digest":"x","id":"0","responses":[]}\n', "{}", "of another input or of other options"),
        ('{"row":9,"digest":"x","id":"9","responses":[]}\n', "{}", "of another input or of other options"),
        (None, '{"advantages": {"method": "gdpo"}}', "gdpo whitens"),
        (
            None,
            '{"judging": "eligible", "reward": "csr", "advantages": {"method": "grpo"}}',
            "needs every score",
        ),
    ],
)
def test_score_leaves_an_output_alone_that_is_not_its_own(
    tmp_path: Path, content: str | None, options: str, says: str
) -> None:
    source = write(tmp_path / "in.jsonl", [json.dumps(row(0))])
    out = tmp_path / "out.jsonl"
    if content is not None:
        out.write_text(content)
    done = rubricate("score", str(source), "-o", str(out), "--options", options)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())
    assert not out.exists() or out.read_text() == (content or "")


def test_score_never_writes_over_its_input(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(row(0)))
    done = rubricate("score", str(source), "-o", str(source))
    assert done.returncode == 2
    assert json.loads(source.read_text()) == row(0)


def test_score_drops_a_whole_row_without_its_line_feed(tmp_path: Path) -> None:
    """A kill may fall between a row and its line feed: the row is scored again, once."""
    source = write(tmp_path / "in.jsonl", [json.dumps(row(n)) for n in range(2)])
    out = tmp_path / "out.jsonl"
    flags = ["score", str(source), "-o", str(out), "--options", '{"judging": "none"}']
    assert rubricate(*flags).returncode == 0
    out.write_bytes(out.read_bytes().rstrip(b"\n"))
    assert rubricate(*flags).returncode == 0
    assert sorted(r["row"] for r in read(out)) == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["serve", "--judge", "http://h:notaport"], "judge: "),
        (["serve", "--cache", ""], "cache: "),
        (["serve", "--cache", "/"], "cache: "),
        (["score", "nowhere.jsonl", "-o", "out.jsonl"], "nowhere.jsonl"),
        (["score", "README.md", "-o", "out.jsonl", "--options", '{"mode": "x"}'], "mode"),
        (["serve", "--judge", "somewhere"], "judge: "),
        (["serve", "--cache", "ftp://h"], "cache: "),
        (["serve", "--port", "70000"], "port: "),
        (["serve", "--config", "nowhere.toml"], "nowhere.toml"),
        (["checks", "punctuation:no_coma"], "punctuation:no_comma"),
    ],
)
def test_a_mistake_is_explained_in_a_line(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = rubricate(
        *arguments, env={"RUBRICATE_CACHE": str(tmp_path / "v.db")} if "score" in arguments else {}
    )
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_an_embedded_judge_that_is_not_installed_says_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['openvino_genai'] = None\n"  # as if it were not installed
        "sys.argv = ['rubricate', 'serve', '--judge', 'embedded']\n"
        "from rubricate_service.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "pip install" in done.stderr
    assert "Traceback" not in done.stderr


def test_checks_lists_all_and_shows_one() -> None:
    everything = rubricate("checks").stdout
    assert "length_constraints:number_words" in everything
    one = rubricate("checks", "length_constraints:number_words").stdout
    assert "num_words" in one
    assert "passes" in one


def test_settings_come_from_flags_over_variables_over_the_file(tmp_path: Path) -> None:
    config = tmp_path / "rubricate.toml"
    config.write_text('port = 70000\ndeadline_s = 7.5\njudge = "nonsense"\n')
    flags = ["serve", "--config", str(config)]
    # the file's port and judge are both refused; a variable and a flag in their place are looked at first
    assert "port: " in rubricate(*flags).stderr
    said = rubricate(*flags, "--port", "70001", env={"RUBRICATE_JUDGE": "embedded"}).stderr
    assert "70001" in said or "port: " in said
    assert "judge: " not in said
    config.write_text("prot = 1\n")
    assert "prot" in rubricate(*flags).stderr
    config.write_text("port = = 1\n")
    assert "settings file" in rubricate(*flags).stderr
