"""Answers that deserve nothing, and the rubrics that pay for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from author_commands import rubricate, write_rows

from rubricate_checkers import Text, build, evaluate
from rubricate_clients.testing import FakeJudge
from rubricate_clients.wire import Group
from rubricate_service.authoring.probes import MASTER_KEYS, probes_of

COMMAS = {"check": "punctuation:no_comma"}


def group(*rubrics: dict[str, Any]) -> Group:
    return Group.model_validate({"prompt": "Describe a pier.", "rubrics": list(rubrics), "responses": ["a"]})


def test_there_is_a_probe_of_each_kind() -> None:
    probes = probes_of(group(COMMAS))
    assert list(probes)[:4] == ["empty", "one character", "repeated", "prompt echo"]
    assert probes["prompt echo"] == "Describe a pier."
    assert set(probes.values()) >= set(MASTER_KEYS)
    assert "keywords" not in probes


@pytest.mark.parametrize(
    ("check", "kwargs"),
    [
        ("keywords:existence", {"keywords": ["pier", "gull"]}),
        ("keywords:frequency", {"keyword": "pier", "frequency": 4, "relation": "at least"}),
        ("text:contains", {"values": ["low tide", "salt"]}),
        ("text:starts_with", {"value": "Once"}),
        ("text:ends_with", {"value": "the end."}),
        ("startend:end_checker", {"end_phrase": "That is all."}),
        ("keywords:word_once", {"keyword": "gull"}),
        ("first_word:first_word_answer", {"first_word": "salt"}),
        ("last_word:last_word_answer", {"last_word": "ashore"}),
    ],
)
def test_the_keywords_probe_passes_checks_that_ask_for_words(check: str, kwargs: dict[str, Any]) -> None:
    probe = probes_of(group({"check": check, "kwargs": kwargs}, COMMAS))["keywords"]
    assert evaluate(Text(probe), build(check, kwargs)).holds


def test_words_to_avoid_are_not_stuffed() -> None:
    avoid = {"check": "keywords:forbidden_words", "kwargs": {"forbidden_words": ["salt"]}}
    pitfall = {"check": "keywords:existence", "kwargs": {"keywords": ["rope"]}, "negative": True}
    wanted = {"check": "keywords:existence", "kwargs": {"keywords": ["gull"]}}
    assert probes_of(group(avoid, pitfall, wanted))["keywords"] == "gull"


def run(tmp_path: Path, rows: list[Any], *flags: str) -> tuple[int, dict[str, Any], str]:
    source = write_rows(tmp_path / "groups.jsonl", rows)
    flags = ("--json", "--check-workers", "1", "--cache", str(tmp_path / "v.db"), *flags)
    done = rubricate("probe", str(source), *flags)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


WEAK = {"id": "weak", "prompt": "Write at most ten words.", "rubrics": [COMMAS]}
STRONG = {
    "id": "strong",
    "prompt": "Describe a pier in title case.",
    "rubrics": [{"check": "text:json_schema", "kwargs": {"schema": {"type": "object"}}}],
}


def test_rubrics_that_pay_are_told_worst_first(tmp_path: Path) -> None:
    code, report, _ = run(tmp_path, [STRONG, WEAK])
    assert code == 1
    paid = {row["probe"]: (row["paid"], row["decided"]) for row in report["probes"]}
    assert paid["empty"] == (0, 2)
    assert paid["one character"] == (1, 2)
    assert paid["master key ','"] == (0, 2)
    assert [row["rubric"] for row in report["rubrics"]] == ["punctuation:no_comma", "text:json_schema"]
    assert report["rubrics"][1]["paid"] == 0


def test_blank_answers_pay_where_the_options_let_checks_see_them(tmp_path: Path) -> None:
    loose = {"prompt": "p", "rubrics": [{"check": "text:word_count", "kwargs": {"max": 10}}]}
    _, report, _ = run(tmp_path, [loose], "--options", '{"blank": "check"}')
    assert {row["probe"]: row["paid"] for row in report["probes"]}["empty"] == 1


def test_criteria_are_judged_and_undecided_without_a_judge(tmp_path: Path) -> None:
    judged = {"prompt": "Name a port.", "rubrics": [{"criterion": "It names a port."}]}
    _, report, _ = run(tmp_path, [judged])
    counts = {row["probe"]: (row["decided"], row["undecided"]) for row in report["probes"]}
    assert counts["prompt echo"] == (0, 1)
    assert counts["master key 'Solution'"] == (1, 0)  # content-free: no judge is needed
    with FakeJudge(answer="2") as judge:
        _, report, _ = run(tmp_path, [judged], "--judge", judge.url)
    earned = {row["probe"]: row["mean"] for row in report["probes"]}
    assert (earned["prompt echo"], earned["master key 'Solution'"]) == (1.0, 0.0)


def test_rows_that_are_no_groups_are_told_and_cost_no_other(tmp_path: Path) -> None:
    code, report, err = run(tmp_path, ["{", {**WEAK, "rubrics": []}, WEAK])
    assert code == 1
    assert "line 1: this line is not JSON" in err
    assert "line 2: rubrics:" in err
    assert [g["id"] for g in report["groups"]] == ["weak"]


def test_people_get_tables(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "groups.jsonl", [WEAK, STRONG])
    done = rubricate("probe", str(source), "--check-workers", "1")
    assert "line 1: group 'weak'" in done.stdout
    assert done.stdout.endswith("1 of 2 groups pay for an answer that deserves nothing\n")


JUDGED = {"id": "judged", "prompt": "Name a port.", "rubrics": [{"criterion": "It names a port."}]}


@pytest.mark.parametrize(
    ("rows", "code", "pays", "says"),
    [
        ([STRONG], 0, [False], "0 of 1 groups pay"),
        ([STRONG, JUDGED], 3, [False, None], "deserves nothing; for 1 more it could not be decided"),
        ([WEAK, JUDGED], 1, [True, None], "1 of 2 groups pay"),
        ([JUDGED, "{"], 1, [None], "no judge is configured; name one with --judge URL"),
    ],
)
def test_what_is_not_decided_is_no_all_clear(
    tmp_path: Path, rows: list[Any], code: int, pays: list[bool | None], says: str
) -> None:
    """Without a judge, groups of criteria were told to pay for nothing."""
    source = write_rows(tmp_path / "groups.jsonl", rows)
    done = rubricate("probe", str(source), "--check-workers", "1")
    assert done.returncode == code
    assert says in done.stdout
    assert ("could not be decided" in done.stdout) is (None in pays)
    found, report, _ = run(tmp_path, rows)
    assert found == code
    assert [group["pays"] for group in report["groups"]] == pays


def test_a_judge_that_answers_gives_the_all_clear(tmp_path: Path) -> None:
    with FakeJudge(answer="0") as judge:
        code, report, _ = run(tmp_path, [JUDGED], "--judge", judge.url)
    assert (code, [group["pays"] for group in report["groups"]]) == (0, [False])


def test_a_file_without_a_group_ends_with_2(tmp_path: Path) -> None:
    """As it does with the other commands."""
    done = rubricate("probe", str(write_rows(tmp_path / "empty.jsonl", [])))
    assert done.returncode == 2
    assert "has no group to probe" in " ".join(done.stderr.split())


def test_a_file_that_is_wrong_throughout_shows_its_first_faults(tmp_path: Path) -> None:
    rows = [*["{"] * 50, {"prompt": "p", "rubrics": [{"check": "punctuation:no_comma"}]}]
    done = rubricate("probe", str(write_rows(tmp_path / "torn.jsonl", rows)), "--check-workers", "1")
    assert done.returncode == 1
    assert done.stderr.count("this line is not JSON") == 20
    assert "and 30 more faults" in done.stderr
