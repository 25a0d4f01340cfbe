"""vLLM's exact form: where it is used, what is sent and read, and where the plain form stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiohttp import web
from http_engine_helpers import MESSAGES, against, failure, later, with_engine
from scripted_engine import QUESTION, ask, judge_of, run

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.judge import Identity, Question
from rubricate_service.judge.http import HttpModel
from rubricate_service.judge.key import cache_key
from rubricate_service.judge.reading import read
from rubricate_service.judge.served import Form

BEGUN = [*MESSAGES, {"role": "assistant", "content": "Score: "}]
IDS = [ord(label) for label in "012"]


@pytest.fixture
def vllm() -> Iterator[FakeJudge]:
    with FakeJudge("2", vllm=True) as judge:
        yield judge


def test_what_vllm_is_sent(vllm: FakeJudge) -> None:
    async def test(engine: HttpModel) -> None:
        assert (await engine.identify(later())).form == "prefilled"
        assert (await engine.complete(BEGUN, later())).text == "2"

    run(with_engine(HttpModel(vllm.url), test))
    trial, call = vllm.calls
    assert call.body == {
        "model": "judge",
        "messages": BEGUN,
        "add_generation_prompt": False,
        "continue_final_message": True,
        "temperature": 0,
        "seed": 0,
        "max_tokens": 1,
        "logprobs": True,
        "logprob_token_ids": IDS,
        "allowed_token_ids": IDS,
    }
    assert trial.body.keys() == call.body.keys()


@pytest.mark.parametrize(
    ("odds", "label", "expected", "mass"),
    [
        ({"0": 0.1, "1": 0.2, "2": 0.5, "You": 0.2}, 1.0, 0.6 / 0.8, 0.8),
        ({"0": 0.1, "1": 0.2, "2": 0.3, "You": 0.4}, 1.0, 0.4 / 0.6, 0.6),  # the likeliest token is no label
        ({"0": 0.01, "1": 0.03, "You": 0.96}, 0.5, None, 0.04),  # too little to say anything
        ({"0": 1.0}, 0.0, 0.0, 1.0),
    ],
)
def test_the_label_mass_is_that_of_the_whole_vocabulary(
    vllm: FakeJudge, odds: dict[str, float], label: float, expected: float | None, mass: float
) -> None:
    async def test() -> None:
        judge = judge_of(HttpModel(vllm.url))
        await judge.start()
        vllm.answer = odds
        answer = await ask(judge)
        assert answer.label == label
        assert answer.expected == (None if expected is None else pytest.approx(expected))
        assert answer.label_mass == pytest.approx(mass)
        await judge.close()

    run(test())


def test_a_judge_says_the_form_and_shows_the_begun_answer(vllm: FakeJudge) -> None:
    async def test() -> None:
        judge = judge_of(HttpModel(vllm.url))
        await judge.start()
        await ask(judge)
        assert judge.provenance()["form"] == "prefilled"
        assert (await judge.status())["form"] == "prefilled"
        assert judge.messages(QUESTION)[-1] == {"role": "assistant", "content": "Score: "}
        assert vllm.calls[-1].body["messages"] == judge.messages(QUESTION)
        assert len(vllm.calls) == 2  # the form is tried once, whoever asks how the judge is
        await judge.close()

    run(test())


def test_a_server_that_is_no_vllm_costs_one_404(fake: FakeJudge) -> None:
    asked: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.path)
        if request.path == "/v1/models":
            return web.json_response({"data": [{"id": "a"}]})
        raise web.HTTPNotFound

    async def test(engine: HttpModel) -> None:
        for _ in range(3):
            assert (await engine.identify(later())).form == "plain"

    run(against(handler, test))
    assert sorted(asked) == ["/tokenize", "/v1/models", "/v1/models", "/v1/models"]

    async def judged() -> None:
        judge = judge_of(HttpModel(fake.url))
        await ask(judge)
        assert "form" not in judge.provenance()
        assert "form" not in await judge.status()
        assert [message["role"] for message in judge.messages(QUESTION)] == ["system", "user"]
        await judge.close()

    run(judged())
    (call,) = fake.calls
    assert call.body["structured_outputs"] == {"choice": ["0", "1", "2"]}


Server = Callable[[web.Request, dict[str, Any]], web.Response]


def answering(
    tokens: Callable[[str], Any],
    content: str | None = "2",
    weighed: str = "012",
    status: int = 200,
    logprob: float = -1.1,
) -> Server:
    """A server with these tokens, which answers a call with this content and these labels' probabilities."""

    def answer(request: web.Request, body: dict[str, Any]) -> web.Response:
        if request.path == "/tokenize":
            return web.json_response({"tokens": tokens(body["prompt"])})
        position = {"token": "2", "top_logprobs": [{"token": t, "logprob": logprob} for t in weighed]}
        choice = {"message": {"content": content}, "logprobs": {"content": [position]}}
        return web.json_response({"choices": [choice]}, status=status)

    return answer


def single(text: str) -> list[int]:
    return [ord(character) for character in text]


@pytest.mark.parametrize(
    ("server", "form"),
    [
        (answering(single), "prefilled"),
        (answering(lambda text: [29871, ord(text)]), "plain"),  # SentencePiece: a blank token before
        (answering(lambda text: [3]), "plain"),  # all labels are unknown tokens
        (answering(lambda text: []), "plain"),  # llama.cpp reads another field
        (answering(lambda text: "7"), "plain"),
        (answering(single, status=400), "plain"),  # a chat template that refuses a begun turn
        (answering(single, content=None), "prefilled"),  # a parser that takes the label for thinking
        (answering(single, content="The"), "plain"),  # allowed_token_ids is unknown
        (answering(single, weighed="2"), "plain"),  # logprob_token_ids is unknown
        (answering(single, weighed=""), "plain"),
        (answering(single, logprob=-3.0), "plain"),  # a chat template that trims the blank before the label
    ],
)
def test_the_form_is_used_where_it_was_seen_to_work(server: Server, form: Form) -> None:
    async def handler(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response({"data": [{"id": "a"}]})
        return server(request, await request.json())

    async def test(engine: HttpModel) -> None:
        assert (await engine.identify(later())).form == form

    run(against(handler, test))


@pytest.mark.parametrize(("status", "kind"), [(503, "overloaded"), (429, "overloaded"), (502, "unreachable")])
def test_a_server_without_its_tokenizer_for_the_moment_is_asked_again(status: int, kind: str) -> None:
    busy = ["/tokenize"]

    async def handler(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response({"data": [{"id": "a"}]})
        if request.path in busy:
            busy.clear()
            return web.Response(status=status)
        return answering(single)(request, await request.json())

    async def test(engine: HttpModel) -> None:
        assert (await failure(engine.identify(later()))).kind == kind
        assert (await engine.identify(later())).form == "prefilled"

    run(against(handler, test))


def test_a_label_that_a_parser_takes_for_a_thought_is_read(vllm: FakeJudge) -> None:
    async def test(engine: HttpModel) -> None:
        await engine.identify(later())
        vllm.fail_next(Fault.text(""))  # which has no log-probabilities: nothing was sampled
        assert (await engine.complete(BEGUN, later())).text == ""
        vllm.fail_next(Fault("swallowed", swallowed))
        assert read(await engine.complete(BEGUN, later())).label == 1.0

    run(with_engine(HttpModel(vllm.url), test))


async def swallowed(request: web.Request, body: dict[str, Any]) -> web.Response:
    body["choices"][0]["message"]["content"] = None
    return web.json_response(body)


@pytest.mark.parametrize("fault", [Fault.status(503), Fault.hang(), Fault.reset()], ids=lambda f: f.name)
def test_a_busy_vllm_is_believed_and_not_waited_for(vllm: FakeJudge, fault: Fault) -> None:
    vllm.fail_next(fault)

    async def test(engine: HttpModel) -> None:
        assert (await engine.identify(later(0.4))).form == "prefilled"

    run(with_engine(HttpModel(vllm.url), test))


def test_verdicts_of_one_form_are_not_those_of_the_other() -> None:
    question = Question((("user", "a"),), "b", "c")
    plain, prefilled = (Identity("model", "f", form) for form in ("plain", "prefilled"))
    assert cache_key(plain, "t", question) != cache_key(prefilled, "t", question)
