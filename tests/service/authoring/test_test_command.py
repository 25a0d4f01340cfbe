"""`rubricate test` as authors run it."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from author_commands import rubricate

from rubricate_clients.testing import FakeCall, FakeJudge, Fault

CHECKS = """\
groups:
  - id: tea
    prompt: Explain tea without commas.
    rubrics:
      - {id: words, check: "length_constraints:number_words", kwargs: {num_words: 5, relation: at least}}
      - {id: commas, check: "punctuation:no_comma"}
    responses:
      - text: Pour hot water over the leaves.
        expect: {words: pass, commas: pass, outcome: 1, reward: 1}
      - text: Pour, wait.
        expect: {words: fail, commas: %s, reward: 0}
"""
JUDGED = """\
- prompt: Greet me.
  rubrics: [{id: tone, criterion: The tone is warm.}]
  responses:
    - {text: hello my friend, expect: {tone: 0.5, reward: 0.5}}
"""


def run(tmp_path: Path, text: str, *flags: str) -> tuple[int, str, str]:
    source = tmp_path / "cases.yaml"
    source.write_text(text)
    done = rubricate("test", str(source), "--check-workers", "1", "--cache", str(tmp_path / "v.db"), *flags)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_all_that_holds_ends_with_0(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, CHECKS % "fail")
    assert (code, out.strip()) == (0, "7 hold")


def test_a_mismatch_is_told_with_its_place_and_ends_with_1(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, CHECKS % "pass")
    assert code == 1
    assert "line 2: group 'tea', response '1', rubric 'commas' (punctuation:no_comma)" in out
    assert "expected pass, observed: 0 (1 comma, required: no comma)" in out
    assert "6 hold, 1 do not" in out


def test_without_a_judge_what_it_would_decide_is_not_run(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, JUDGED)
    assert code == 3  # nothing ran: that is no success
    assert "2 not run: no judge" in out
    code, out, _ = run(
        tmp_path, CHECKS % "fail" + JUDGED.replace("- prompt", "  - prompt", 1).replace("\n  ", "\n    ")
    )
    assert code == 0
    assert "7 hold, 2 not run" in out


def test_with_a_judge_it_is_run(tmp_path: Path) -> None:
    with FakeJudge(answer="1") as judge:
        code, out, _ = run(tmp_path, JUDGED, "--judge", judge.url)
        assert (code, out.strip()) == (0, "2 hold")
        judge.answer = "2"
        code, out, _ = run(tmp_path, JUDGED, "--judge", judge.url, "--options", '{"cache": "refresh"}')
        assert code == 1
        assert "expected 0.5, observed: 1" in out


def test_what_the_judge_fails_to_decide_is_undecided_and_ends_with_3(tmp_path: Path) -> None:
    with FakeJudge() as judge:
        judge.fail_when(Fault.refusal(), lambda call: True)
        code, out, _ = run(tmp_path, JUDGED, "--judge", judge.url)
    assert code == 3
    assert "undecided: refused" in out
    assert "2 undecided" in out


def test_repeating_shows_a_judge_that_changes_its_mind(tmp_path: Path) -> None:
    calls = count()

    def wavering(call: FakeCall) -> str:
        return "1" if next(calls) % 2 == 0 else "0"

    with FakeJudge(answer=wavering) as judge:
        code, out, _ = run(tmp_path, JUDGED, "--judge", judge.url, "--repeat", "4")
        assert len(judge.calls) == 4
    assert code == 1
    assert "expected 0.5, observed in 2 of 4 runs: 0.5" in out
    assert "expected 0.5, observed in 2 of 4 runs: 0\n" in out
    assert "2 of them came out otherwise in another run" in out


def test_a_bad_row_costs_no_other_and_ends_with_1(tmp_path: Path) -> None:
    bad = "  - {prompt: Hi., rubrics: [{chek: x}], responses: [a]}\n"
    code, out, err = run(tmp_path, CHECKS % "fail" + bad)
    assert code == 1
    assert "line 12: rubrics[0].chek: unknown field" in err
    assert "7 hold" in out


def test_json_has_everything(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, CHECKS % "pass", "--json")
    report = json.loads(out)
    assert code == 1
    assert report["counts"] == {"holds": 6, "mismatch": 1}
    assert len(report["tested"]) == 7
    (wrong,) = [one for one in report["tested"] if one["result"] == "mismatch"]
    assert (wrong["group"], wrong["response"], wrong["rubric"]) == ("tea", "1", "commas")


@pytest.mark.parametrize(
    ("text", "flags", "says"),
    [
        ("- prompt: [\n", (), "line 2"),
        ("- {prompt: Hi., rubrics: [{criterion: Kind.}], responses: [a]}\n", (), "expects nothing"),
        (JUDGED, ("--options", '{"mode": 1}'), "--options: mode"),
        (JUDGED, ("--judge", "somewhere"), "judge: "),
    ],
)
def test_what_cannot_be_tested_ends_with_2(
    tmp_path: Path, text: str, flags: tuple[str, ...], says: str
) -> None:
    code, _, err = run(tmp_path, text, *flags)
    assert code == 2
    assert says in " ".join(err.split())
