"""The files of `rubricate score`: every form is resumed, and an output that fails is told in a line."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from rubricate_clients.wire import Options
from rubricate_service.scored_rows import source_rows


def group(number: int, text: str = "a pier") -> str:
    rubrics = [{"check": "punctuation:no_comma"}]
    return json.dumps({"id": f"g{number}", "prompt": "Describe it.", "rubrics": rubrics, "responses": [text]})


def score(source: Path, out: Path, *, blocks: int | None = None) -> tuple[int, str]:
    """Exit code and errors of a run; with `blocks`, of one whose files hold so many blocks at most."""
    command = [sys.executable, "-m", "rubricate_service", "score", str(source), "-o", str(out)]
    command += ["--check-workers", "1", "--cache", str(source.parent / "v.db")]
    if blocks is not None:
        command = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, " ".join(done.stderr.split())


def rows(out: Path) -> list[int]:
    return [json.loads(line)["row"] for line in out.read_text().splitlines()]


FORMS = {
    "a.yaml": "groups:\n" + "".join(f"  - {group(n)}\n" for n in range(3)),
    "documents.yaml": "\n---\n".join(group(n) for n in range(3)),
    "a.json": f"[{', '.join(group(n) for n in range(3))}]",
    "a.jsonl": "".join(f"{group(n)}\n" for n in range(3)),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_resumed_and_reported_with_its_source(tmp_path: Path, name: str) -> None:
    """A YAML file was twelve lines that are not JSON, and `report --of` took only lines."""
    source, out = tmp_path / name, tmp_path / "out.jsonl"
    source.write_text(FORMS[name])
    code, told = score(source, out)
    assert (code, rows(out)) == (0, [0, 1, 2]), told
    first, second, _ = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(first + second)
    code, told = score(source, out)
    assert (code, rows(out)) == (0, [0, 1, 2])
    assert "has 2 of 3 rows" in told
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "rubricate_service", "report", str(out), "--of", str(source)]
    done = subprocess.run(
        [*command, "-o", str(page)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "a pier" in page.read_text()
    source.write_text(FORMS[name].replace("a pier", "a quay"))
    code, told = score(source, out)
    assert code == 2
    assert "is of another input" in told


def test_json_lines_are_never_all_in_memory(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    with source.open("w") as file:
        file.writelines(f"{group(n, 'x' * 20_000)}\n" for n in range(500))
    tracemalloc.start()
    try:
        assert sum(1 for _ in source_rows(source, Options())) == 500
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000 < source.stat().st_size


def test_a_row_is_the_same_however_it_is_spaced(tmp_path: Path) -> None:
    plain, spaced = tmp_path / "plain.jsonl", tmp_path / "spaced.jsonl"
    plain.write_text(f"{group(0)}\n")
    spaced.write_text(f"  {group(0).replace(': ', ':  ')} \r\n")
    (one,), (other,) = (list(source_rows(path, Options())) for path in (plain, spaced))
    assert one.digest == other.digest


def test_a_disk_that_is_full_is_told_and_the_run_resumed(tmp_path: Path) -> None:
    """It ended in a traceback."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(f"{group(n)}\n" for n in range(400)))
    code, told = score(source, out, blocks=64)
    assert code == 2
    assert f"{out} cannot be written: File too large" in told
    assert 0 < out.stat().st_size < 100_000
    assert not (tmp_path / "out.jsonl.kept").exists()
    code, told = score(source, out)
    assert code == 0, told
    assert sorted(rows(out)) == list(range(400))


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("nowhere/out.jsonl", "nowhere/out.jsonl cannot be written: No such file or directory"),
        (".", "cannot be written: Is a directory"),
        ("/dev/zero", "/dev/zero cannot be written: it is a device or a pipe"),  # it was read to its end
    ],
)
def test_an_output_that_cannot_be_is_told(tmp_path: Path, out: str, says: str) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(group(0))
    code, told = score(source, tmp_path / out)
    assert code == 2
    assert says in told


def test_a_file_without_a_group_ends_with_2_and_leaves_no_output(tmp_path: Path) -> None:
    source, out = tmp_path / "in.yaml", tmp_path / "out.jsonl"
    source.write_text("# nothing yet\n")
    code, told = score(source, out)
    assert code == 2
    assert "has no group to score" in told
    assert not out.exists()


def test_a_file_that_is_wrong_throughout_shows_its_first_faults(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(f"{group(0)}\n" + "{\n" * 50)
    code, told = score(source, tmp_path / "out.jsonl")
    assert code == 1
    assert told.count("this line is not JSON") == 20
    assert "and 30 more faults" in told
    assert "50 rows could not be read" in told
