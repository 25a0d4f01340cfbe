"""The examples of docs/authoring.md do what it says."""

from __future__ import annotations

import re
from pathlib import Path

from author_commands import rubricate

DOCS = Path(__file__).parents[3] / "docs" / "authoring.md"


def test_the_example_of_expected_verdicts_holds_without_a_judge(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    source = tmp_path / "tea.yaml"
    source.write_text(example)
    done = rubricate("test", str(source), "--check-workers", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 hold, 2 not run" in done.stdout


def test_the_example_is_one_for_lint_too(tmp_path: Path) -> None:
    """`expect` was an unknown field there, and the rubrics beside it were never looked at."""
    (example,) = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    source = tmp_path / "tea.yaml"
    source.write_text(example.replace("punctuation:no_comma", "punctuation:no_coma"))
    done = rubricate("lint", str(source), "--check-workers", "1")
    assert done.returncode == 1
    assert "rubrics[0].check" in done.stdout
    assert "expect" not in done.stdout
