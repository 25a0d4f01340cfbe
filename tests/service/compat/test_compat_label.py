"""What a label or a row says of its task, and what is said of one that cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rubricate_clients.wire import Options
from rubricate_service.compat.label import read_label, read_task
from rubricate_service.compat.task import Context, Task
from rubricate_service.errors import InvalidRequest
from rubricate_service.importers.node import Node

NO_COMMA = {"check": "punctuation:no_comma"}
CONTEXT = Context(size=8, options=Options(score="expected", mode="loose"))


def read(label: object, context: Context = CONTEXT) -> Task:
    return read_label(label, "label", Node("The prompt.", "prompt"), context)


@pytest.mark.parametrize(
    ("label", "checks"),
    [
        ({"rubrics": [NO_COMMA]}, ["punctuation:no_comma"]),
        (json.dumps({"rubrics": [NO_COMMA]}), ["punctuation:no_comma"]),
        ({"rubrics": json.dumps([NO_COMMA])}, ["punctuation:no_comma"]),
        # tables fill what is missing with null
        (
            {
                "rubrics": [{**NO_COMMA, "criterion": None, "weight": None, "kwargs": {"n": None}}],
                "group": None,
            },
            ["punctuation:no_comma"],
        ),
        # rows of data sets
        (
            {"instruction_id_list": ["punctuation:no_comma", "startend:quotation"], "kwargs": [{}, None]},
            ["punctuation:no_comma", "startend:quotation"],
        ),
        ("{'ground_truth': {'func_name': 'validate_lowercase'}}", ["rlvr:validate_lowercase"]),
        (
            {
                "question": "Why?",
                "rubrics": [{"criterion": "Says why.", "points": 2, "tags": {"verifier": "llm"}}],
            },
            [None],
        ),
    ],
)
def test_labels_that_are_read(label: object, checks: list[str | None]) -> None:
    task = read(label)
    assert [rubric.check for rubric in task.rubrics] == checks
    assert (task.size, task.options.score) == (8, "expected")
    assert task.prompt == ("Why?" if "question" in str(label) else "The prompt.")


def test_a_row_goes_before_the_settings() -> None:
    task = read(
        {
            "rubrics": [NO_COMMA],
            "prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
            "reference": "So.",
            "group": 7,
            "size": 2,
            "options": {"mode": "strict", "advantages": {"method": "rdan", "quality_weight": 0.5}},
        }
    )
    assert (task.group, task.size, task.reference) == ("7", 2, "So.")
    assert [turn.role for turn in task.prompt if not isinstance(turn, str)] == ["system", "user"]
    assert (task.options.mode, task.options.score) == ("strict", "expected")
    assert task.options.advantages is not None
    assert task.options.advantages.quality_weight == 0.5


def test_a_group_has_advantages_and_a_single_response_has_none() -> None:
    with_group, alone = (read({"rubrics": [NO_COMMA], "size": size}) for size in (2, 1))
    assert with_group.options.advantages is not None
    assert with_group.options.advantages.method == "rdan"
    assert alone.options.advantages is None


@pytest.mark.parametrize(("row", "outcome"), [({}, "all"), ({"grading_mode": "fraction"}, "fraction")])
def test_a_grading_mode_counts_outcomes(row: dict[str, str], outcome: str) -> None:
    given = {"instruction_id_list": ["punctuation:no_comma"], "responses_create_params": {"input": "Say."}}
    task = read_task({**given, **row, "other": [1]}, "", Node("Say.", "p"), CONTEXT)
    assert task.options.outcome == outcome


@pytest.mark.parametrize(
    ("label", "path", "message"),
    [
        (None, "label", "is empty; it carries the rubrics"),
        ("", "label", "is empty"),
        ("no json", "label", "is neither JSON"),
        ("[]", "label", "must be an object, not a list"),
        ({"rubrics": []}, "label", "has no rubrics that count"),
        ({"rubrics": 5}, "label.rubrics", "must be a list, not a number"),
        ({"rubrics": [5]}, "label.rubrics[0]", "must be an object"),
        ({"rubrics": [{}]}, "label.rubrics[0]", "exactly one of `check` and `criterion`"),
        ({"rubrics": [{**NO_COMMA, "weigth": 1}]}, "label.rubrics[0].weigth", "unknown field"),
        ({"rubrics": [NO_COMMA], "sise": 8}, "label.sise", "unknown field; a label has prompt, "),
        # a text for `rubrics` that is no JSON was a 500
        ({"rubrics": "Be nice."}, "label.rubrics", "is neither JSON"),
        ('{"rubrics": "Be nice."}', "label.rubrics", "is neither JSON"),
        ({"rubrics": ["Be nice."]}, "label.rubrics[0]", "is neither JSON"),
        # ids that are taken were made unique, and not told
        (
            {"rubrics": [{**NO_COMMA, "id": "a"}, {"criterion": "Is kind.", "id": "a"}]},
            "label.rubrics[1].id",
            "the id 'a' is taken by item 0",
        ),
        ({"rubrics": [{**NO_COMMA, "id": "1"}, NO_COMMA]}, "label.rubrics[1].id", "taken by item 0"),
        # the faults of many values cost a gigabyte, wherever the text is that holds them
        ({"rubrics": "[" + "{}," * 500_000 + "{}]"}, "label.rubrics", "`limits.json_values` is 400,000"),
        (
            {"rubrics": ["{" + ",".join(f'"{n}":0' for n in range(500_000)) + "}"]},
            "label.rubrics[0]",
            "`limits.json_values` is 400,000",
        ),
        ({"ground_truth": "[" + "{}," * 500_000 + "{}]"}, "label.ground_truth", "`limits.json_values`"),
        ({"rubrics": [NO_COMMA], "group": 1.5}, "label.group", "a string or a whole number"),
        ({"rubrics": [NO_COMMA], "prompt": 5}, "label.prompt", "must be a list"),
        ({"rubrics": [NO_COMMA], "size": 0}, "label.size", "greater than or equal to 1"),
        ({"rubrics": [NO_COMMA], "size": "8"}, "label.size", "valid integer"),
        ({"rubrics": [NO_COMMA], "options": {"mood": 1}}, "label.options.mood", "unknown field"),
        (
            {"rubrics": [NO_COMMA], "options": {"advantages": {"method": "grpo"}}},
            "label.options.advantages.method",
            "must be rdan or rdan_ngrpo",
        ),
        ({"text": "a"}, "label", "no format is known"),
        ({"instruction_id_list": ["a"], "kwargs": []}, "label.kwargs", "has 0 items for 1 instruction ids"),
    ],
)
def test_labels_that_are_refused(label: object, path: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read(label)
    (detail,) = refused.value.details
    assert detail.path == path
    assert message in detail.message


def test_rubrics_without_an_id_are_named_by_their_position() -> None:
    """They were counted from 1, and without those that count for nothing."""
    soft = {"criterion": "Is kind.", "points": 0}
    task = read({"rubrics": [NO_COMMA, soft, {**NO_COMMA, "id": "own"}, NO_COMMA]})
    assert [rubric.id for rubric in task.rubrics] == ["0", "own", "3"]


@pytest.mark.parametrize(("asked", "deadline_s"), [(1e308, 3600.0), (5.0, 5.0), (None, None)])
def test_nobody_waits_for_ever_for_a_deadline(asked: float | None, deadline_s: float | None) -> None:
    options = {} if asked is None else {"deadline_s": asked}
    assert read({"rubrics": [NO_COMMA], "options": options}).options.deadline_s == deadline_s


def test_a_group_needs_a_size() -> None:
    with pytest.raises(InvalidRequest, match=r"says no `size` .*`compat.group_size`"):
        read({"rubrics": [NO_COMMA]}, Context(size=None, options=Options()))


@pytest.mark.parametrize(
    "change", [{"size": 3}, {"group": "b"}, {"options": {"mode": "strict"}}, {"reference": "r"}]
)
def test_what_differs_is_another_group(change: dict[str, Any]) -> None:
    label = {"rubrics": [NO_COMMA], "size": 2}
    assert read(label).key == read(json.dumps(label)).key
    assert read({**label, **change}).key != read(label).key
