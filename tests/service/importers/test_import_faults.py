"""Rows that cannot be imported say why and where; nothing that JSON can hold breaks or delays an import."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate_service.importers import FORMATS, Importer
from rubricate_service.importers.literal import read_literal

IFEVAL = {"prompt": "Go.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
CRITERION = {"criterion": "Calm.", "points": 1}


@pytest.mark.parametrize(
    ("format", "row", "path", "says"),
    [
        ("auto", 3, "", "must be an object"),
        ("auto", {"text": "x", "label": 1}, "", "these fields: label, text"),
        ("ifeval", [], "", "must be an object"),
        ("ifeval", {**IFEVAL, "prompt": None}, "", "has no `prompt`"),
        ("ifeval", {**IFEVAL, "prompt": " "}, "prompt", "blank"),
        ("ifeval", {**IFEVAL, "prompt": [{"role": "user"}]}, "prompt[0]", "`content`"),
        ("ifeval", {**IFEVAL, "prompt": []}, "prompt", "no messages"),
        ("ifeval", {**IFEVAL, "kwargs": []}, "kwargs", "0 items for 1 instruction"),
        ("ifeval", {**IFEVAL, "kwargs": [3]}, "kwargs[0]", "must be an object, not a number"),
        ("ifeval", {**IFEVAL, "instruction_id_list": [7]}, "instruction_id_list[0]", "must be a string"),
        ("ifeval", {**IFEVAL, "instruction_id_list": [], "kwargs": []}, "", "no rubrics"),
        ("ifeval", {**IFEVAL, "response": 3}, "response", "must be an object"),
        ("ifeval", {**IFEVAL, "responses": [{"id": "a", "text": "x"}] * 2}, "responses[1].id", "taken"),
        ("nemotron", {**IFEVAL, "grading_mode": "mean"}, "grading_mode", "`binary` or `fraction`"),
        ("rlvr", {"prompt": "Go.", "ground_truth": "{"}, "ground_truth", "neither JSON"),
        ("rlvr", {"prompt": "Go.", "ground_truth": "{}"}, "ground_truth", "`func_name`"),
        (
            "if_multi",
            {"prompt": "Go.", "ground_truth": "[{'instruction_id': ['a:b'], 'kwargs': [{}, {}]}]"},
            "ground_truth[0].kwargs",
            "2 items for 1",
        ),
        ("if_multi", {"prompt": "Go.", "ground_truth": "[]"}, "ground_truth", "one object, not 0"),
        ("hir", {"source": "type9"}, "source", "type1"),
        ("hir", {"source": []}, "source", "must be a string"),
        (
            "hir",
            {
                "source": "type3",
                "rubrics": [{"description": "x"}],
                "ground_truth": {"constraints": [["a", "b"]]},
            },
            "ground_truth.constraints[0]",
            "[category, subcategory, sentence]",
        ),
        (
            "hir",
            {
                "source": "type3",
                "rubrics": [{"description": "x", "weight": 0}],
                "ground_truth": {"constraints": [["a", "b", "c"]], "hard_mask": [True]},
            },
            "rubrics[0].weight",
            "greater than 0",
        ),
        (
            "hir",
            {
                "source": "type3",
                "rubrics": [{"description": "x"}],
                "ground_truth": {"constraints": [], "hard_mask": [True, False]},
            },
            "ground_truth.hard_mask",
            "2 items for 1 rubrics",
        ),
        (
            "hir",
            {"source": "type3", "rubrics": [], "ground_truth": {"constraints": [["a", "b", "c"]]}},
            "ground_truth",
            "decides 1 rubrics, and the row has 0",
        ),
        (
            "verinstruct",
            {"prompt": "Go.", "checkers": ["[rule] a", "[rule] b"], "functions": ["x"]},
            "functions",
            "1 functions for 2 rules",
        ),
        ("verinstruct", {"prompt": "Go.", "checkers": ["a"]}, "checkers[0]", "[rule]"),
        (
            "rubrichub",
            {"prompt": "Go.", "rubrics": [{**CRITERION, "tags": {"verifier": "rule"}}]},
            "rubrics[0].tags",
            "no `function`",
        ),
        (
            "healthbench",
            {"prompt": "Go.", "rubrics": [{**CRITERION, "points": "3"}]},
            "rubrics[0].points",
            "number",
        ),
        (
            "healthbench",
            {"prompt": "Go.", "rubrics": [{**CRITERION, "points": 0}]},
            "",
            "no rubrics that count",
        ),
        (
            "rar",
            {"question": "Go?", "rubric": [{"description": "Calm."}]},
            "rubric[0].description",
            "category",
        ),
        (
            "questions",
            {"prompt": "Go.", "rubric": [{"question": "Calm?", "pass_criteria": "MAYBE"}]},
            "rubric[0].pass_criteria",
            "YES or NO",
        ),
        ("cfbench", {"prompt": "Go.", "criteria": []}, "", "no rubrics"),
        ("cfbench", {"prompt": "Go.", "criteria": ["Calm."]}, "criteria[0]", "must be [text"),
        ("cfbench", {"prompt": "Go.", "criteria": [["Calm.", "主需"], ["Calm.", []]]}, "criteria[1]", "次需"),
        ("cfbench", {"prompt": "Go.", "criteria": [["", "主需"]]}, "criteria[0][0]", "blank"),
        (
            "native",
            {"prompt": "Go.", "rubrics": [CRITERION, {"check": "a:b", "points": 0}]},
            "rubrics[1].points",
            "hard rubric",
        ),
        (
            "native",
            {"prompt": "Go.", "rubrics": [{**CRITERION, "points": 0}]},
            "",
            "no rubrics that count",
        ),
        (
            "native",
            {"prompt": "Go.", "rubrics": [{"check": "a:b", "kwarg": {}}]},
            "rubrics[0].kwarg",
            "unknown",
        ),
    ],
)
def test_a_row_that_cannot_be_imported_says_where_and_why(
    format: str, row: object, path: str, says: str
) -> None:
    importer = Importer(format)
    assert importer.take(5, row) is None
    (error,) = importer.errors
    assert (error.row, error.path) == (5, path)
    assert says in error.message
    assert importer.hints == []


@pytest.mark.parametrize(
    ("format", "row"),
    [
        ("native", {"rubrics": [CRITERION, {**CRITERION, "points": 0}]}),
        (
            "native",
            {"rubrics": [CRITERION, {"check": "a:b", "hard": False, "points": -0.0}]},
        ),
        ("healthbench", {"rubrics": [CRITERION, {**CRITERION, "points": 0.0}]}),
        ("rubrichub", {"question": "Go.", "rubrics": [CRITERION, {**CRITERION, "points": 0}]}),
        (
            "open_instruct",
            {"ground_truth": {"rubrics": [{"description": "Calm."}, {"description": "x", "weight": 0}]}},
        ),
    ],
)
def test_what_weighs_nothing_is_left_out_and_told(format: str, row: dict[str, Any]) -> None:
    importer = Importer(format)
    group = importer.take(5, {"prompt": "Go.", **row})
    assert group is not None
    assert [rubric.criterion for rubric in group.rubrics] == ["Calm."]
    (note,) = importer.notes
    assert (note.row, note.path[-10:]) == (5, "rubrics[1]")
    assert "0, which moves no sum" in note.message
    assert importer.errors == []


def test_the_other_rows_go_on() -> None:
    importer = Importer()
    groups = [importer.take(n, row) for n, row in enumerate([IFEVAL, None, IFEVAL])]
    assert [group and group.id for group in groups] == ["0", None, "2"]
    assert [error.row for error in importer.errors] == [1]


FIELDS = [
    "prompt", "messages", "id", "source", "rubrics", "rubric", "ground_truth", "hard_mask", "kwargs",
    "tags", "instruction_id_list", "constraints", "checkers", "functions", "instructions", "llm_judge",
    "eval_func", "reward_model", "verifier_metadata", "responses_create_params", "input", "responses",
    "criterion", "points", "weight", "description", "func_name", "instruction_id", "role", "content",
    "verifier", "function", "parameters", "decomposed_questions", "question", "pass_criteria", "check",
    "grading_mode", "rubric_routes", "criteria",
]  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(
        [
            "type1",
            "type3",
            "type4",
            "rubrichub_instruction_following",
            "user",
            "assistant",
            "[rule] x",
            "rule",
            "主需",
        ]
    )
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=4), inner, max_size=8)
    written: Callable[[Any], st.SearchStrategy[str]] = lambda v: st.sampled_from([json.dumps(v), repr(v)])  # noqa: E731
    return objects | st.lists(inner, max_size=4) | inner.flatmap(written)


VALUES = st.recursive(LEAVES, _nested, max_leaves=40)


@settings(max_examples=150, deadline=None)
@given(row=st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=12) | VALUES)
def test_any_value_anywhere_is_a_group_or_an_error(row: object) -> None:
    for format in ["auto", *FORMATS]:
        importer = Importer(format)
        group = importer.take(0, row)
        assert (group is None) == bool(importer.errors)
        if group is not None:
            group.model_dump_json(exclude_unset=True)


VALID: list[dict[str, Any]] = [
    {
        "prompt": "Go.",
        "source": "type1",
        "rubrics": [{"id": 1, "description": "x", "weight": 1.0}],
        "ground_truth": {"instruction_id_list": ["a:b"], "kwargs": [{"N": 1}], "hard_mask": [True]},
    },
    {
        "prompt": "Go.",
        "reward_model": {
            "rubrics": [
                {
                    "criterion": "x",
                    "points": 1,
                    "tags": {"verifier": "rule", "function": "F", "parameters": {}},
                }
            ]
        },
    },
    {
        "verifier_metadata": {
            "instructions": [{"instruction_id": "a:b", "N": 1}],
            "llm_judge": [{"uid": 1, "content": "x?", "pass_criteria": "NO"}],
        },
        "responses_create_params": {"input": [{"role": "user", "content": "Go."}]},
        "responses": [{"id": 1, "text": "x"}],
    },
    {"question": "Go?", "rubric": [{"title": "t", "description": "Essential Criteria: x", "weight": 5}]},
    {"messages": [{"role": "user", "content": "Go."}], "ground_truth": {"func_name": "f", "N": 1}},
    {"prompt": "Go.", "checkers": ["[rule] a", "[llm] b"], "functions": ["x", ""]},
    {"prompt": "Go.", "criteria": [["Is it calm?", "主需", "style", "tone"], ["Calm.", "次需"]]},
]


def _places(value: object, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(p for key, item in inner for p in _places(item, (*place, key)))]


def _put(value: Any, place: tuple[Any, ...], new: object) -> Any:
    if not place:
        return new
    copy = value.copy()
    copy[place[0]] = _put(value[place[0]], place[1:], new)
    return copy


@settings(max_examples=200, deadline=None)
@given(data=st.data(), row=st.sampled_from(VALID), new=VALUES)
def test_any_value_in_any_place_of_a_good_row_is_a_group_or_an_error(
    data: st.DataObject, row: dict[str, Any], new: object
) -> None:
    assert Importer().take(0, row) is not None
    changed = _put(row, data.draw(st.sampled_from(_places(row))), new)
    importer = Importer()
    group = importer.take(0, changed)
    assert (group is None) == bool(importer.errors)
    if group is not None:
        group.model_dump_json(exclude_unset=True)


@pytest.mark.parametrize(
    "text",
    [
        "-" * 100_000 + "1",
        "[" + "1-" * 90_000 + "1]",
        "[" + "1" * 5_000 + "]",
        "[" * 100_000,
        "(" * 21 + ")" * 21,
        "{" * 50_000,
        "['" + "x" * 300_000 + "']",
        "[1" + " " * 150_000,
        "['\\" * 50_000,
        "[1e999]",
        "[b'x']",
        "{1: 2}",
        "{1, 2}",
        "['\\ud800']",
        "[...]",
        "__import__('os')",
        "[f'{x}']",
        "[None None]",
        "{[]: 1}",
        "",
    ],
    ids=lambda text: text[:12],
)
def test_a_literal_that_is_no_plain_data_is_refused_at_once(text: str) -> None:
    began = time.perf_counter()
    with pytest.raises(ValueError):
        read_literal(text)
    assert time.perf_counter() - began < 1.0


def test_a_literal_is_read() -> None:
    text = " [{'a': ('x', \"it's\" 'n'), 'b': [-1, 2.5e3, True, None,], }] "
    assert read_literal(text) == [{"a": ["x", "it'sn"], "b": [-1, 2500.0, True, None]}]


@pytest.mark.parametrize("truth", ["[{'instruction_id': ['a'", '{"func_name": ', "[" * 100_000])
def test_a_broken_ground_truth_is_told_as_such_whatever_the_format_may_be(truth: str) -> None:
    importer = Importer("auto")
    assert importer.take(0, {"prompt": "x", "ground_truth": truth, "dataset": "ifeval"}) is None
    (error,) = importer.errors
    assert error.path == "ground_truth"
    assert "neither JSON" in error.message
