"""The wire's models: what a body may hold, and where each fault of it is found (contract section 1)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from rubricate_clients.faults import details_of, ids_of
from rubricate_clients.wire import (
    AdvantageRequest,
    AdvantageSpec,
    ErrorAnswer,
    Group,
    Options,
    Response,
    Rubric,
    ScoreAnswer,
    ScoreRequest,
)

CRITERION = '{"criterion": "It is polite."}'


def group(**fields: str) -> str:
    """JSON of a good group, with these fields replaced by JSON."""
    good = {"prompt": '"Greet me."', "rubrics": f"[{CRITERION}]", "responses": '["Good day."]'}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in (good | fields).items()) + "}"


def body(*groups: str, options: str = "{}") -> str:
    return f'{{"groups": [{", ".join(groups)}], "options": {options}}}'


def rubric(fields: str) -> str:
    """JSON of a request with one rubric, which has these fields."""
    return body(group(rubrics=f"[{{{fields}}}]"))


def faults(model: Any, text: str | bytes) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate_json(text)
    return [(detail.path, detail.message) for detail in details_of(caught.value)]


RUBRIC = "groups[0].rubrics[0]"
NINES = "9" * 5000
DEEP = "[" * 100_000 + "]" * 100_000

UNDECODABLE = {
    "empty": ("", "EOF"),
    "cut": ('{"groups": [', "EOF"),
    "two values": (body(group()) + " 1", "trailing characters"),
    "not UTF-8": (b'{"groups": ["\xff"]}', "invalid unicode code point"),
    "lone surrogate in a prompt": (body(group(prompt='"\\ud800 "')), "hex escape"),
    "lone surrogate in a response": (body(group(responses='["\\udc00"]')), "hex escape"),
    "lone surrogate in a key": (rubric('"check": "a:b", "kwargs": {"\\ud800": 1}'), "hex escape"),
    "deep": (DEEP, "recursion limit"),
    "deep kwargs": (rubric(f'"check": "a:b", "kwargs": {{"n": {DEEP}}}'), "recursion limit"),
    "long number": (rubric(f'"criterion": "c", "weight": {NINES}'), "number out of range"),
    "long number in kwargs": (rubric(f'"check": "a:b", "kwargs": {{"n": {NINES}}}'), "number out of range"),
}


@pytest.mark.parametrize(("text", "told"), UNDECODABLE.values(), ids=UNDECODABLE)
def test_undecodable_bodies_are_one_fault_of_the_whole(text: str | bytes, told: str) -> None:
    ((path, message),) = faults(ScoreRequest, text)
    assert path == ""
    assert message.startswith("Invalid JSON: ")
    assert told in message


REFUSED = {
    # numbers that are none
    "NaN": (rubric('"criterion": "c", "weight": NaN'), f"{RUBRIC}.weight"),
    "infinity": (rubric('"criterion": "c", "points": -Infinity'), f"{RUBRIC}.points"),
    "1e400": (rubric('"criterion": "c", "weight": 1e400'), f"{RUBRIC}.weight"),
    "NaN in kwargs": (rubric('"check": "a:b", "kwargs": {"n": NaN}'), f"{RUBRIC}.kwargs.n"),
    "infinity in nested kwargs": (
        rubric('"check": "a:b", "kwargs": {"a": {"object": [0, Infinity]}}'),
        f"{RUBRIC}.kwargs.a.object[1]",
    ),
    "1e400 in kwargs": (rubric('"check": "a:b", "kwargs": {"n": [1e400]}'), f"{RUBRIC}.kwargs.n[0]"),
    # unknown fields, at every level
    "unknown field": ('{"groups": [' + group() + '], "url": "x"}', "url"),
    "unknown field of a group": (body(group(promt='"x"')), "groups[0].promt"),
    "unknown field of a rubric": (rubric('"criterion": "c", "api_base": "x"'), f"{RUBRIC}.api_base"),
    "unknown field of a response": (
        body(group(responses='["x", {"text": "t", "score": 1}]')),
        "groups[0].responses[1].score",
    ),
    "unknown field of a message": (
        body(group(prompt='[{"role": "user", "content": "x", "name": "n"}]')),
        "groups[0].prompt[0].name",
    ),
    "unknown option": (body(group(), options='{"judge_url": "x"}'), "options.judge_url"),
    "unknown parameter": (
        body(group(), options='{"advantages": {"method": "rdan", "beta": 1}}'),
        "options.advantages.beta",
    ),
    # duplicate ids, given or by position
    "same group": (body(group(id='"a"'), group(), group(id='"a"')), "groups[2].id"),
    "same group by position": (body(group(id='"1"'), group()), "groups[1].id"),
    "same rubric": (
        body(group(rubrics='[{"id": "a", "criterion": "c"}, {"id": "a", "criterion": "d"}]')),
        "groups[0].rubrics[1].id",
    ),
    "same response": (
        body(group(responses='["x", {"id": "0", "text": "y"}]')),
        "groups[0].responses[1].id",
    ),
    # empty lists and missing fields
    "no groups": ('{"groups": []}', "groups"),
    "groups missing": ("{}", "groups"),
    "no rubrics": (body(group(rubrics="[]")), "groups[0].rubrics"),
    "no responses": (body(group(responses="[]")), "groups[0].responses"),
    "no messages": (body(group(prompt="[]")), "groups[0].prompt"),
    "response without text": (body(group(responses='[{"id": "a"}]')), "groups[0].responses[0].text"),
    # one kind of rubric
    "neither check nor criterion": (rubric('"hard": true'), RUBRIC),
    "both check and criterion": (rubric('"check": "a:b", "criterion": "c"'), RUBRIC),
    "kwargs of a criterion": (rubric('"criterion": "c", "kwargs": {"n": 1}'), RUBRIC),
    # wrong types and values
    "a string for a bool": (rubric('"criterion": "c", "hard": "true"'), f"{RUBRIC}.hard"),
    "a number for a bool": (rubric('"criterion": "c", "negative": 1'), f"{RUBRIC}.negative"),
    "a string for a number": (rubric('"criterion": "c", "weight": "1"'), f"{RUBRIC}.weight"),
    "a bool for a number": (rubric('"criterion": "c", "weight": true'), f"{RUBRIC}.weight"),
    "a number for a string": (rubric('"criterion": 3'), f"{RUBRIC}.criterion"),
    "a number for an id": (body(group(id="1")), "groups[0].id"),
    "a list for kwargs": (rubric('"check": "a:b", "kwargs": []'), f"{RUBRIC}.kwargs"),
    "a string for a list": (body(group(responses='"x"')), "groups[0].responses"),
    "null for a response": (body(group(responses="[null]")), "groups[0].responses[0]"),
    "a number for a prompt": (body(group(prompt="3")), "groups[0].prompt"),
    "a string for options": (body(group(), options='"strict"'), "options"),
    "weight 0": (rubric('"criterion": "c", "weight": 0'), f"{RUBRIC}.weight"),
    "negative weight": (rubric('"criterion": "c", "weight": -1'), f"{RUBRIC}.weight"),
    "points 0": (rubric('"criterion": "c", "points": 0'), RUBRIC),
    "points of no pitfall": (rubric('"criterion": "c", "points": -1, "negative": false'), RUBRIC),
    "pass_at between": (rubric('"criterion": "c", "pass_at": 0.7'), f"{RUBRIC}.pass_at"),
    "unknown judging": (body(group(), options='{"judging": "some"}'), "options.judging"),
    "deadline 0": (body(group(), options='{"deadline_s": 0}'), "options.deadline_s"),
    "a string for explain": (body(group(), options='{"explain": "true"}'), "options.explain"),
    "unknown method": (
        body(group(), options='{"advantages": {"method": "ppo"}}'),
        "options.advantages.method",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "path"), REFUSED.values(), ids=REFUSED)
def test_faults_are_found_where_they_are(text: str, path: str) -> None:
    assert [found for found, _ in faults(ScoreRequest, text)] == [path]


def test_every_fault_is_listed() -> None:
    text = body(
        group(rubrics=f'[{CRITERION}, {{"criterion": "c", "weight": 0, "hard": "no"}}]', responses="[]"),
        group(extra="1"),
        options='{"explain": 1}',
    )
    assert {path for path, _ in faults(ScoreRequest, text)} == {
        "groups[0].rubrics[1].weight",
        "groups[0].rubrics[1].hard",
        "groups[0].responses",
        "groups[1].extra",
        "options.explain",
    }


def test_messages_are_for_people() -> None:
    assert faults(ScoreRequest, body(group(x="1"))) == [("groups[0].x", "unknown field")]
    assert faults(ScoreRequest, "{}") == [("groups", "required, but missing")]
    assert faults(ScoreRequest, rubric('"hard": true')) == [
        (RUBRIC, "a rubric has exactly one of `check` and `criterion`")
    ]


def test_a_small_request_has_the_contracts_defaults() -> None:
    request = ScoreRequest.model_validate_json('{"groups": [' + group() + "]}")
    assert request.options.model_dump() == {
        "judging": None,
        "mode": "strict",
        "thinking": "strip",
        "blank": "fail",
        "outcome": "all",
        "reward": "gated",
        "score": "label",
        "cache": "use",
        "explain": False,
        "deadline_s": None,
        "advantages": None,
    }
    (only,) = request.groups[0].rubrics
    assert (only.weight, only.points, only.pass_at, only.is_hard, only.is_negative) == (
        1.0,
        None,
        1.0,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("fields", "hard", "negative"),
    [
        ({"check": "a:b"}, True, False),
        ({"check": "a:b", "hard": False}, False, False),
        ({"criterion": "c"}, False, False),
        ({"criterion": "c", "hard": True}, True, False),
        ({"criterion": "c", "negative": True}, False, True),
        ({"criterion": "c", "points": 3.0}, False, False),
        ({"criterion": "c", "points": -3.0}, False, True),
        ({"criterion": "c", "points": 3.0, "negative": True}, False, True),
    ],
)
def test_hard_and_negative(fields: dict[str, Any], hard: bool, negative: bool) -> None:
    rubric = Rubric(**fields)
    assert (rubric.is_hard, rubric.is_negative) == (hard, negative)


def test_whole_numbers_are_numbers_and_texts_may_hold_anything() -> None:
    odd = "\x00 \u2028 \U0001f600 e\u0301 </response>"
    text = json.dumps(
        {"groups": [{"prompt": odd, "rubrics": [{"criterion": odd, "weight": 2}], "responses": [odd]}]}
    )
    (only,) = ScoreRequest.model_validate_json(text).groups
    assert (only.prompt, only.rubrics[0].criterion, only.texts()) == (odd, odd, [odd])
    assert only.rubrics[0].weight == 2.0


def test_missing_ids_are_positions_and_equal_texts_stay_apart() -> None:
    only = Group(
        prompt="p",
        rubrics=[Rubric(criterion="c"), Rubric(id="x", criterion="c")],
        responses=["same", Response(id="b", text="same"), "same"],
    )
    assert (ids_of(only.rubrics), ids_of(only.responses)) == (["0", "x"], ["0", "b", "2"])
    assert only.texts() == ["same"] * 3


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("rdan", {"quality_weight": 0.5, "sigma_floor": 0.1}),
        ("ngrpo", {"r_max": 1.0, "virtual": 2}),
        ("rdan_ngrpo", {"quality_weight": 0.5, "sigma_floor": 0.1, "r_max": 1.0, "virtual": 2}),
        ("gdpo", {"weights": [1.0, 0.5], "whiten": False}),
        ("grpo", {}),
        ("dr_grpo", {}),
        ("rloo", {}),
    ],
)
def test_a_method_takes_its_own_parameters_alone(method: Any, parameters: dict[str, Any]) -> None:
    assert AdvantageSpec(method=method, **parameters).parameters() == parameters
    every: dict[str, Any] = {
        "quality_weight": 0.5,
        "sigma_floor": 0.1,
        "r_max": 1.0,
        "virtual": 2,
        "weights": [1.0, 0.5],
        "whiten": False,
    }
    for name in every.keys() - parameters.keys():
        with pytest.raises(ValidationError, match=f"`{name}` is not a parameter of {method}"):
            AdvantageSpec(method=method, **{name: every[name]})


def advantage_body(extra: str = "", outcome: str = "1", method: str = '"grpo"') -> str:
    numbers = f'"outcome": {outcome}, "quality": null, "eligible": true, "valid": true{extra}'
    return f'{{"groups": [{{"responses": [{{{numbers}}}]}}], "method": {method}}}'


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (advantage_body(method="null"), "method"),
        (advantage_body(extra=', "score": 1'), "groups[0].responses[0].score"),
        (advantage_body(extra=', "reward": NaN'), "groups[0].responses[0].reward"),
        (advantage_body(outcome="1.5"), "groups[0].responses[0].outcome"),
        (advantage_body(outcome='"1"'), "groups[0].responses[0].outcome"),
        ('{"groups": [{"responses": []}], "method": "grpo"}', "groups[0].responses"),
    ],
)
def test_faults_of_an_advantage_request(text: str, path: str) -> None:
    assert [found for found, _ in faults(AdvantageRequest, text)] == [path]


def test_the_contracts_answer_can_be_read() -> None:
    text = """{"groups": [{"id": "p17", "responses": [{"id": "0", "rubrics": [
        {"id": "len", "score": 1.0, "status": "scored", "observed": "9 words", "required": "at least 5"},
        {"id": "tone", "score": 0.5, "status": "scored", "label": 1, "expected": 0.61, "label_mass": 0.97},
        {"id": "src", "score": null, "status": "failed",
         "error": {"kind": "timeout", "message": "no verdict within 60 s", "path": "groups[0].rubrics[2]"}},
        {"id": "end", "score": null, "status": "skipped", "reason": "not_eligible"}],
        "outcome": 1.0, "quality": null, "valid": true, "eligible": true, "reward": null,
        "a_out": 0.7, "a_proc": 0.0, "advantage": 0.7}]}],
        "stats": {"responses": 1}, "provenance": {"contract": 1}}"""
    (response,) = ScoreAnswer.model_validate_json(text).groups[0].responses
    assert [verdict.score for verdict in response.rubrics] == [1.0, 0.5, None, None]
    assert response.rubrics[2].error is not None
    assert response.rubrics[2].error.kind == "timeout"
    assert (response.quality, response.reward, response.advantage) == (None, None, 0.7)


def test_an_undecided_score_must_be_said() -> None:
    text = (
        '{"groups": [{"id": "a", "responses": [{"id": "0", "rubrics": [{"id": "0", "status": "failed"}]}]}]}'
    )
    paths = {path for path, _ in faults(ScoreAnswer, text)}
    response = "groups[0].responses[0]"
    assert {
        f"{response}.rubrics[0].score",
        f"{response}.outcome",
        f"{response}.quality",
        f"{response}.reward",
    } <= paths


def test_an_error_answer_may_leave_details_out() -> None:
    answer = ErrorAnswer.model_validate_json('{"error": {"type": "overloaded", "message": "later"}}')
    assert answer.error.details == []


def test_options_survive_the_way_over_the_wire() -> None:
    options = Options(judging="all", advantages=AdvantageSpec(method="rdan", quality_weight=0.5))
    assert Options.model_validate_json(options.model_dump_json(exclude_unset=True)) == options
