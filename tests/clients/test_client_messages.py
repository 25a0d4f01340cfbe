"""What both clients send and take: ids, order, and faults that are found before anything is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from both_clients import GROUPS, Client, score, with_client
from rubricate_clients import (
    AnswerMismatch,
    AsyncRewardClient,
    Group,
    InvalidRequest,
    Options,
    RewardClient,
    Rubric,
)
from scripted_service import Body, ScriptedService, Step, raw, scores


def _response(answer: Body) -> Body:
    response: Body = answer["groups"][0]["responses"][0]
    return response


def test_a_permuted_answer_is_put_in_order(kind: str) -> None:
    def permute(answer: Body) -> None:
        for group in answer["groups"]:
            for response in group["responses"]:
                response["rubrics"].reverse()
            group["responses"].reverse()
        answer["groups"].reverse()

    with ScriptedService(scores()) as service:
        straight = score(kind, service.url)
    with ScriptedService(scores(permute)) as service:
        assert score(kind, service.url) == straight


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda a: a["groups"].pop(), r"groups are not those of the request \(missing: '1'\)"),
        (lambda a: a["groups"].append(a["groups"][0] | {"id": "x"}), r"groups .*\(not asked for: 'x'\)"),
        (lambda a: a["groups"].append(a["groups"][0]), r"groups .*\(more than once: 'rivers'\)"),
        (
            lambda a: a["groups"][1].update(id="rivers"),
            r"groups .*\(missing: '1'; more than once: 'rivers'\)",
        ),
        (
            lambda a: a["groups"][1]["responses"].pop(0),
            r"groups\[1\]\.responses .*\(missing: '0'\)",
        ),
        (
            lambda a: _response(a).update(id="b"),
            r"groups\[0\]\.responses .*\(missing: '0'; more than once: 'b'\)",
        ),
        (
            lambda a: _response(a)["rubrics"].pop(),
            r"groups\[0\]\.responses\[0\]\.rubrics .*\(missing: 'true'\)",
        ),
        (
            lambda a: _response(a)["rubrics"][0].update(id="long"),
            r"rubrics .*\(missing: 'short'; not asked for: 'long'\)",
        ),
    ],
)
def test_ids_that_do_not_match_are_no_answer(kind: str, edit: Callable[[Body], object], told: str) -> None:
    with ScriptedService(scores(edit)) as service, pytest.raises(AnswerMismatch, match=told):
        score(kind, service.url)
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (raw(b"<!doctype html>"), "(body): Invalid JSON"),
        (raw(b'{"groups": ['), "(body): Invalid JSON"),
        (raw(b'{"groups": ["\xff"]}'), "(body): Invalid JSON"),
        (raw(b"{}"), "groups: required, but missing"),
        (scores(lambda a: _response(a).pop("outcome")), "groups[0].responses[0].outcome: required"),
    ],
    ids=["html", "json that ends", "not UTF-8", "empty", "no outcome"],
)
def test_an_unreadable_answer_is_no_answer(kind: str, step: Step, told: str) -> None:
    with ScriptedService(step) as service, pytest.raises(AnswerMismatch) as caught:
        score(kind, service.url)
    assert told in str(caught.value)


GROUP = GROUPS[0]


@pytest.mark.parametrize(
    ("groups", "options", "path"),
    [
        ([], None, "groups"),
        ([{**GROUP, "promt": "x"}], None, "groups[0].promt"),
        ([GROUP, {**GROUP, "id": "rivers"}], None, "groups[1].id"),
        ([{**GROUP, "responses": []}], None, "groups[0].responses"),
        ([{**GROUP, "responses": [{"text": "\ud800"}]}], None, "groups[0].responses[0].text"),
        ([{**GROUP, "responses": [{"txt": ""}]}], None, "groups[0].responses[0].txt"),
        ([{**GROUP, "prompt": [{"role": "user"}]}], None, "groups[0].prompt[0].content"),
        (
            [{**GROUP, "rubrics": [{"criterion": "x", "weight": float("nan")}]}],
            None,
            "groups[0].rubrics[0].weight",
        ),
        (
            [{**GROUP, "rubrics": [{"check": "a:b", "kwargs": {"str": [float("inf")]}}]}],
            None,
            "groups[0].rubrics[0].kwargs.str[0]",
        ),
        ([GROUP], {"judging": "maybe"}, "options.judging"),
        ([GROUP], {"deadline_s": 0}, "options.deadline_s"),
        ([GROUP], {"advantages": {"method": "rdan", "r_max": 1.0}}, "options.advantages"),
    ],
)
def test_a_faulty_request_is_found_before_it_is_sent(
    kind: str, groups: list[Body], options: Body | None, path: str
) -> None:
    with ScriptedService(scores()) as service, pytest.raises(InvalidRequest) as caught:
        with_client(kind, service.url, lambda client: client.score(groups, options))
    assert path in [detail.path for detail in caught.value.details]
    assert caught.value.status is None
    assert not service.seen


def _nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("kwargs", "told"),
    [
        ({"n": np.int64(3)}, "groups[0].rubrics[0].kwargs.n: a int64 is not a JSON value"),
        ({"n": [1, object()]}, "groups[0].rubrics[0].kwargs.n[1]: a object is not a JSON value"),
        ({"n": "a\ud800"}, "groups[0].rubrics[0].kwargs.n: a lone surrogate at character 1 is no text"),
        ({"n": _nested(500)}, "cannot be written as JSON"),
        ({"n": _nested(100_000)}, "nested too deeply"),
    ],
    ids=["numpy", "object", "surrogate", "deep", "very deep"],
)
def test_kwargs_that_are_not_json_are_found_before_they_are_sent(kind: str, kwargs: Body, told: str) -> None:
    groups = [{**GROUP, "rubrics": [{"check": "a:b", "kwargs": kwargs}]}]
    with ScriptedService(scores()) as service, pytest.raises(InvalidRequest, match="was not sent") as caught:
        with_client(kind, service.url, lambda client: client.score(groups))
    assert told in str(caught.value)
    assert not service.seen


def test_what_is_sent(kind: str) -> None:
    labels = {"request_id": "r-1", "run": "trial", "step": 7, "idempotency_key": "k-1"}
    with ScriptedService(scores()) as service:
        with_client(
            kind,
            service.url,
            lambda client: client.score(GROUPS, {"mode": "loose"}, **labels),
            token="t0ken",
            timeout_s=20.0,
        )
    (seen,) = service.seen
    assert (seen.method, seen.path) == ("POST", "/v1/score")
    assert seen.json == {"groups": GROUPS, "options": {"mode": "loose", "deadline_s": 18.0}}
    sent = {
        "authorization": "Bearer t0ken",
        "content-type": "application/json",
        "x-request-id": "r-1",
        "x-run": "trial",
        "x-step": "7",
        "idempotency-key": "k-1",
    }
    assert sent.items() <= seen.headers.items()


def test_models_are_sent_as_the_same_bytes_as_dicts(kind: str) -> None:
    groups = [Group(prompt="Say no.", rubrics=[Rubric(criterion="It says no.")], responses=["No."])]
    options = Options(deadline_s=5.0)
    with ScriptedService(scores()) as service:
        with_client(kind, service.url, lambda client: client.score(groups, options))
        plain = [{"prompt": "Say no.", "rubrics": [{"criterion": "It says no."}], "responses": ["No."]}]
        with_client(kind, service.url, lambda client: client.score(plain, {"deadline_s": 5.0}))
    assert service.seen[0].body == service.seen[1].body
    assert options == Options(deadline_s=5.0)


@pytest.mark.parametrize("label", ["two\nlines", "naïve"])
def test_a_label_that_no_header_can_carry_is_refused(kind: str, label: str) -> None:
    with ScriptedService(scores()) as service, pytest.raises(InvalidRequest, match="X-Run"):
        with_client(kind, service.url, lambda client: client.score(GROUPS, run=label))
    assert not service.seen


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"url": "127.0.0.1:8080"}, "address of a service"),
        ({"url": "http://"}, "address of a service"),
        ({"url": "http://host:99999"}, "out of range"),
        ({"url": "http://user:pass@host"}, "user or password"),
        ({"url": "http://host", "token": "a\n"}, "newline"),
        ({"url": "http://host", "timeout_s": 0}, "above 0"),
        ({"url": "http://host", "timeout_s": float("nan")}, "above 0"),
    ],
)
@pytest.mark.parametrize("client", [RewardClient, AsyncRewardClient])
def test_a_client_that_cannot_work_is_not_made(client: Client, arguments: Body, told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        client(**arguments)
    assert "pass" not in str(caught.value).replace("password", "")
