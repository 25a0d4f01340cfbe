"""Endpoints that refuse ``structured_outputs``, as hosted ones do, are asked by a JSON schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from http_engine_helpers import MESSAGES, against, failure, later
from scripted_engine import QUESTION, ask, judge_of, run

from rubricate_service.judge.http import HttpModel

REFUSALS = [
    (400, {"error": {"message": "Unknown parameter: 'structured_outputs'.", "param": "structured_outputs"}}),
    (400, {"error": {"message": "Unrecognized request argument supplied: structured_outputs"}}),
    (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "structured_outputs"]}]}),
]


class Hosted:
    """A hosted endpoint: it lists its model, refuses an unknown field, and answers in JSON."""

    def __init__(self, refusal: tuple[int, Any] = REFUSALS[0]) -> None:
        self.refusal = refusal
        self.bodies: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        if request.path == "/v1/models":
            return web.json_response({"data": [{"id": "hosted"}]})
        if request.path != "/v1/chat/completions":
            raise web.HTTPNotFound
        body = await request.json()
        self.bodies.append(body)
        if "structured_outputs" in body:
            status, told = self.refusal
            return web.json_response(told, status=status)
        label = {"token": "1", "top_logprobs": [{"token": "1", "logprob": -0.1}]}
        tokens = [{"token": '{"score":"', "top_logprobs": []}, label, {"token": '"}', "top_logprobs": []}]
        choice = {
            "message": {"content": '{"score":"1"}'},
            "finish_reason": "stop",
            "logprobs": {"content": tokens},
        }
        return web.json_response({"model": "hosted", "choices": [choice]})


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_is_met_once_and_remembered(refusal: tuple[int, Any]) -> None:
    hosted = Hosted(refusal)

    async def test(engine: HttpModel) -> None:
        judge = judge_of(engine)
        answer = await ask(judge)
        assert answer.label == 0.5
        assert answer.expected == pytest.approx(0.5)
        await ask(judge, replace(QUESTION, criterion="Is in verse."))
        assert (await ask(judge)).cached

    run(against(hosted.answer, test))
    assert ["structured_outputs" in body for body in hosted.bodies] == [True, False, False]
    schema = hosted.bodies[1]["response_format"]["json_schema"]
    assert schema["schema"]["properties"]["score"]["enum"] == ["0", "1", "2"]
    assert schema["strict"]


def test_what_was_judged_by_a_schema_is_kept_apart() -> None:
    fingerprints = set()

    async def test(engine: HttpModel) -> None:
        judge = judge_of(engine)
        await judge.start()
        for _ in range(2):
            fingerprints.add(judge.provenance()["fingerprint"])
            await ask(judge, cache="off")

    run(against(Hosted().answer, test))
    assert len(fingerprints) == 2


def test_a_text_with_the_word_changes_nothing() -> None:
    hosted = Hosted((400, {"error": {"message": "cannot parse 'mentions structured_outputs'"}}))
    messages = [*MESSAGES, {"role": "user", "content": "a response that mentions structured_outputs"}]

    async def test(engine: HttpModel) -> None:
        assert (await failure(engine.complete(messages, later()))).kind == "refused"
        assert len(hosted.bodies) == 1

    run(against(hosted.answer, test, model="hosted"))
