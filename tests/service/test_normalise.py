"""Thinking, prompts, identical responses, and rubrics that cannot be built."""

from __future__ import annotations

from typing import Any

import pytest

from rubricate_clients.wire import Group, Message
from rubricate_service.normalise import plan_group, prompt_text, strip_thinking


@pytest.mark.parametrize(
    ("sent", "text", "offset"),
    [
        ("  plain text, untouched \n", "  plain text, untouched \n", 0),
        ("<think>hm</think>\n\n Yes. \n", "Yes.", 20),
        ("started inside</think> Yes.", "Yes.", 23),
        ("<think>a</think>b<think>c</think>d", "d", 33),
        ("<think>never ends", "", 17),
        ("<think>a</think>b<think>c", "", 25),
        ("</think>", "", 8),
        ("", "", 0),
    ],
)
def test_thinking_is_stripped(sent: str, text: str, offset: int) -> None:
    answer = strip_thinking(sent)
    assert (answer.text, answer.offset) == (text, offset)
    if text:
        assert sent[offset : offset + len(text)] == text


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        ([("user", "one")], "one"),
        ([("system", "be brief"), ("user", "one"), ("assistant", "ok"), ("user", "two")], "two"),
        ([("user", "one"), ("assistant", "ok")], "one"),
        ([("system", "only this")], "only this"),
    ],
)
def test_text_checks_see_the_last_user_message(turns: list[tuple[str, str]], text: str) -> None:
    assert prompt_text([Message(role=role, content=content) for role, content in turns]) == text


def plan(rubrics: list[dict[str, Any]], responses: list[Any], **fields: Any) -> Any:
    group = {"prompt": "p", "rubrics": rubrics, "responses": responses, **fields}
    return plan_group(3, Group.model_validate(group), "strip")


def test_identical_responses_are_one_answer_and_stay_separate_members() -> None:
    result = plan([{"check": "punctuation:no_comma"}], ["a", "b", "a", {"id": "x", "text": "b"}])
    assert [answer.text for answer in result.answers] == ["a", "b"]
    assert result.members == (0, 1, 0, 1)
    assert result.response_ids == ("0", "1", "2", "x")


@pytest.mark.parametrize(
    ("rubric", "kind", "path"),
    [
        ({"check": "no:such_check"}, "unknown_check", "groups[3].rubrics[0].check"),
        (
            {
                "check": "length_constraints:number_words",
                "kwargs": {"num_words": "ten", "relation": "at least"},
            },
            "bad_kwargs",
            "groups[3].rubrics[0].kwargs.num_words",
        ),
        (
            {"check": "punctuation:no_comma", "kwargs": {"n": 10**30}},
            "bad_kwargs",
            "groups[3].rubrics[0].kwargs",
        ),
    ],
)
def test_a_rubric_that_cannot_be_built_is_a_failed_verdict_with_its_path(
    rubric: dict[str, Any], kind: str, path: str
) -> None:
    fault = plan([rubric], ["a"]).rubrics[0].fault
    assert (fault.kind, fault.path, fault.status, fault.score) == (kind, path, "failed", None)


def test_null_kwargs_are_removed_and_order_does_not_matter() -> None:
    kwargs = {"relation": "at least", "num_words": 5, "keywords": None}
    other = {"num_words": 5, "relation": "at least"}
    first, second = plan(
        [{"check": "length_constraints:number_words", "kwargs": k} for k in (kwargs, other)], ["a"]
    ).rubrics
    assert first.fault is None
    assert first.spec == second.spec
