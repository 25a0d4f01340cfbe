"""Trainers' rows as groups on the wire: in any order, padded, as messages, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rubricate_clients.adapters._log import warn_once
from rubricate_clients.adapters._rows import (
    Sample,
    consecutive,
    groups_of,
    prompt_of,
    rubrics_column,
    rubrics_of,
    text_of,
)
from rubricate_clients.errors import InvalidRequest
from rubricate_clients.wire import Group

RUBRICS = [{"check": "text:word_count", "kwargs": {"min": 2}}]


def test_rows_of_one_group_are_found_wherever_they_are() -> None:
    rows = [("tea", "hot"), ("sea", "wide"), ("tea", "hot"), ("sea", "deep"), ("tea", "green")]
    groups, places = groups_of([Sample(f"About {key}.", text, RUBRICS, key) for key, text in rows])
    assert [(g["prompt"], g["responses"]) for g in groups] == [
        ("About tea.", ["hot", "hot", "green"]),  # equal texts stay members apart
        ("About sea.", ["wide", "deep"]),
    ]
    assert places == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]
    assert [Group.model_validate(group).texts() for group in groups] == [g["responses"] for g in groups]


def test_a_reference_goes_along_where_there_is_one() -> None:
    samples = [Sample("p", "r", RUBRICS, 0, "42"), Sample("q", "r", RUBRICS, 1)]
    groups, _ = groups_of(samples)
    assert [group.get("reference") for group in groups] == ["42", None]
    assert "reference" not in groups[1]


@pytest.mark.parametrize(
    "other",
    [
        Sample("another prompt", "r", RUBRICS, 0, "42"),
        Sample("p", "r", [{"criterion": "It is short."}], 0, "42"),
        Sample("p", "r", RUBRICS, 0, "43"),
        Sample("p", "r", RUBRICS, 0, None),
    ],
    ids=["prompt", "rubrics", "reference", "no reference"],
)
def test_a_row_that_is_not_of_its_group_is_told(other: Sample, request: pytest.FixtureRequest) -> None:
    differs = request.node.callspec.id.removeprefix("no ")
    told = rf"row 1 is in group 0 but differs .* in `{differs}`: .*is the group size right"
    with pytest.raises(InvalidRequest, match=told):
        groups_of([Sample("p", "r", RUBRICS, 0, "42"), other])


@pytest.mark.parametrize(
    "column",
    [
        [{"check": "text:regex", "kwargs": {"pattern": "a"}}],
        ({"check": "text:regex", "kwargs": {"pattern": "a"}},),
        '[{"check": "text:regex", "kwargs": {"pattern": "a"}}]',
        [{"id": None, "check": "text:regex", "kwargs": {"pattern": "a"}, "criterion": None, "hard": None}],
    ],
    ids=["list", "tuple", "JSON", "padded with nulls"],
)
def test_rubrics_as_data_sets_have_them(column: Any) -> None:
    assert rubrics_of(column, "row 0") == [{"check": "text:regex", "kwargs": {"pattern": "a"}}]


def test_rubrics_that_a_columnar_data_set_has_padded_are_taken() -> None:
    padded = [
        {"check": "text:word_count", "criterion": None, "kwargs": {"min": 2, "pattern": None}},
        {"check": None, "criterion": "It is short.", "kwargs": {"min": None, "pattern": None}},
    ]
    groups, _ = groups_of([Sample("p", "r", padded, 0)])
    check, criterion = Group.model_validate(groups[0]).rubrics
    assert check.kwargs == {"min": 2}
    assert criterion.criterion == "It is short."


@pytest.mark.parametrize("column", [None, [], "[]", "{}", '"text"', 7, {"check": "x"}, ["text:regex"], [[]]])
def test_what_are_no_rubrics_is_told_with_its_row(column: Any) -> None:
    with pytest.raises(InvalidRequest, match=r"row 3: `rubrics` must be a list of one rubric or more"):
        rubrics_of(column, "row 3: `rubrics`")


def test_broken_json_is_told_as_such() -> None:
    with pytest.raises(InvalidRequest, match=r"row 3 is a string but not JSON.*char 2"):
        rubrics_of("[{", "row 3")


def test_a_data_set_without_rubrics_is_told_what_to_add() -> None:
    with pytest.raises(InvalidRequest, match="no column `rubrics`"):
        rubrics_column(None)


PARTS = [{"type": "text", "text": "Look:"}, {"type": "image"}, {"type": "text", "text": "a fox."}]


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ([{"role": "assistant", "content": "said"}], "said"),
        ([{"role": "tool", "content": "found"}, {"role": "assistant", "content": "so"}], "so"),
        ([{"role": "assistant", "content": None, "tool_calls": [{"name": "find"}]}], ""),
        ([{"role": "assistant", "content": PARTS}], "Look:\na fox."),
    ],
)
def test_text_of_a_response(response: Any, text: str) -> None:
    assert text_of(response, "row 0") == text


@pytest.mark.parametrize("response", [None, 7, [], ["text"], [{"content": "no role"}], {"role": "assistant"}])
def test_what_is_no_response_is_told_with_its_row(response: Any) -> None:
    with pytest.raises(InvalidRequest, match="row 5: the response must be text or chat messages"):
        text_of(response, "row 5: the response")


def test_a_message_without_text_is_told() -> None:
    with pytest.raises(InvalidRequest, match="row 5 has a message without text"):
        text_of([{"role": "assistant", "content": [{"type": "image"}]}], "row 5")


def test_a_prompt_keeps_role_and_text_alone() -> None:
    messages = [{"role": "user", "content": PARTS, "name": "Ada"}, {"role": "assistant", "content": None}]
    kept = [{"role": "user", "content": "Look:\na fox."}, {"role": "assistant", "content": ""}]
    assert prompt_of(messages, "row 0") == kept
    group = {"prompt": kept, "rubrics": RUBRICS, "responses": ["x"]}
    assert json.loads(Group.model_validate(group).model_dump_json(exclude_unset=True)) == group


def test_groups_of_rows_next_to_each_other() -> None:
    assert consecutive(["a"] * 3 + ["b"] * 3, 3) == [0, 0, 0, 1, 1, 1]
    assert consecutive([], 3) == []
    with pytest.raises(InvalidRequest, match="7 rows are no whole groups of 3"):
        consecutive(["a"] * 7, 3)


@pytest.mark.parametrize(
    ("prompts", "told"),
    [("aaaabbbb", True), ("aabbbbcc", True), ("aabbccaa", False), ("aa", False), ("", False)],
)
def test_a_number_of_generations_that_divides_the_right_one_is_told_once(
    prompts: str, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    for _ in range(2):
        consecutive(list(prompts), 2)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * told
    assert ("groups of 2 rows" in caplog.text) is told
