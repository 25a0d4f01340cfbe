"""Groups that are made to cost: what is compared is counted, what is told is capped, and nobody hangs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from rubricate_service.lint.group import LintGroup
from rubricate_service.lint.index import PhraseIndex
from rubricate_service.lint.linter import Linter, Report
from rubricate_service.lint.work import Exhausted, Work
from rubricate_service.pool import CheckPool

Lint = Callable[..., Report]

MANY = [f"w{number:05d}" for number in range(20_000)]
OTHERS = [f"v{number:05d}" for number in range(20_000)]


def existence(words: list[str]) -> dict[str, Any]:
    return {"check": "keywords:existence", "kwargs": {"keywords": words}}


def forbidden(words: list[str]) -> dict[str, Any]:
    return {"check": "rlvr:validate_forbidden_words", "kwargs": {"forbidden_words": words}}


def fewer_words(number: int) -> dict[str, Any]:
    kwargs = {"num_words": number, "relation": "less than"}
    return {"check": "length_constraints:number_words", "kwargs": kwargs}


def test_words_were_compared_with_all_forbidden_ones(lint: Lint) -> None:
    """20,000 by 20,000 comparisons would be far beyond what is made."""
    found = lint({"rubrics": [forbidden(MANY), existence([*OTHERS, "a w00042"])]}).findings
    assert [(f.rule, f.message) for f in found] == [
        ("E02", '"a w00042" must occur, while groups[0].rubrics[0] allows no "w00042"')
    ]


def test_findings_were_told_without_end(lint: Lint) -> None:
    found = lint({"rubrics": [forbidden(MANY[:250]), existence(MANY[:250])]}).findings
    assert [f.rule for f in found] == ["E02"] * 101
    assert (found[-1].path, found[-1].severity) == ("groups[0]", "error")
    assert found[-1].message == "and 150 more like the 100 that are told"


def test_what_is_not_compared_is_told(lint: Lint) -> None:
    """Also beside it: the other group is linted as a whole."""
    costly = {"rubrics": [existence(MANY), *(fewer_words(30_000 + number) for number in range(200))]}
    plain = {"rubrics": [forbidden(["tide"]), existence(["tides"])]}
    assert [(f.rule, f.path) for f in lint(costly, plain).findings] == [
        ("W-limit", "groups[0]"),
        ("E02", "groups[1].rubrics[1]"),
    ]


def test_a_group_of_many_demands_is_not_searched_for_ever(lint: Lint) -> None:
    (witness,) = lint({"rubrics": [forbidden(MANY)]}, witness=True).witnesses
    assert witness.response is None


@pytest.mark.parametrize("path", ["a" + ".b" * 500, ".".join("abc" * 40), "a" + "[0]" * 300])
def test_deep_key_paths_were_a_recursion_error(lint: Lint, path: str) -> None:
    deep = {"check": "text:key_paths", "kwargs": {"paths": [path]}}
    starts = {"check": "text:starts_with", "kwargs": {"value": "Dear crew"}}
    found = lint({"rubrics": [deep, starts]}, {"rubrics": [forbidden(["a"]), existence(["a"])]}, witness=True)
    assert [(f.rule, f.path) for f in found.findings if f.severity == "error"] == [
        ("E07", "groups[0].rubrics[1]"),
        ("E02", "groups[1].rubrics[1]"),
    ]


@pytest.mark.parametrize(
    "group",
    [
        {"prompt": "1," * 200_000, "rubrics": [{"criterion": "It is kind."}]},
        {"prompt": "\n" * 200_000 + "word", "rubrics": [{"criterion": "It is kind."}]},
        {"rubrics": [{"criterion": "is " * 6_000}]},
    ],
    ids=["digits and commas", "blank lines", "a verb after a verb"],
)
def test_patterns_were_quadratic_in_a_text(lint: Lint, group: dict[str, Any]) -> None:
    """The first two took minutes."""
    assert [f for f in lint(group).findings if f.severity == "error"] == []


def test_work_ends_when_nobody_waits() -> None:
    stopped = threading.Event()
    work = Work(stopped=stopped)
    work.step()
    stopped.set()
    with pytest.raises(Exhausted):
        work.look()
    with pytest.raises(Exhausted):
        work.step(5_000)


def test_work_went_on_after_the_deadline(pool: CheckPool) -> None:
    group = LintGroup(prompt="Describe it.", rubrics=[forbidden(MANY), existence(OTHERS)])
    report = asyncio.run(Linter(pool).lint([("groups[0]", group)], 0.0))
    assert [f.rule for f in report.findings] == ["W-limit"]


def test_phrases_are_found_in_texts() -> None:
    index = PhraseIndex(["a", "ab", "b a", "abc", ""])
    assert sorted(index.found_in("ab ab a", Work())) == ["a", "ab", "b a"]
    assert list(index.found_in("", Work())) == []
