from __future__ import annotations

import base64
import logging

import pytest
from aiohttp import web
from http_engine_helpers import MESSAGES, against, failure, later, with_engine
from scripted_engine import run

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.judge.http import HttpModel


def test_what_is_sent_and_what_is_read(fake: FakeJudge) -> None:
    fake.answer = {"1": 0.6, " 2": 0.3, "You": 0.1}

    async def test(engine: HttpModel) -> None:
        identity = await engine.identify(later())
        completion = await engine.complete(MESSAGES, later())
        assert identity.model == completion.model == "judge"
        assert (completion.text, completion.finish_reason, completion.system_fingerprint) == (
            "1",
            "stop",
            "fp-fake",
        )
        assert completion.tokens is not None
        assert [text for text, _ in completion.tokens[0].labels or ()] == ["1", " 2"]
        assert completion.prompt_tokens > 0
        assert completion.completion_tokens == 1

    run(with_engine(HttpModel(fake.url, api_key="k1"), test))
    (call,) = fake.calls
    assert call.headers["authorization"] == "Bearer k1"
    assert call.body == {
        "model": "judge",
        "messages": MESSAGES,
        "temperature": 0,
        "seed": 0,
        "max_tokens": 32,
        "structured_outputs": {"choice": ["0", "1", "2"]},
        "logprobs": True,
        "top_logprobs": 20,
    }


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_a_url_with_or_without_v1(fake: FakeJudge, suffix: str) -> None:
    async def test(engine: HttpModel) -> None:
        assert (await engine.complete(MESSAGES, later())).text == "2"

    run(with_engine(HttpModel(fake.url + suffix), test))


@pytest.mark.parametrize(
    "url", ["", "judge", "localhost:8000", "ftp://judge/v1", "http://", "unix:/judge.sock"]
)
def test_what_is_no_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="http://host:8000"):
        HttpModel(url)


# what the engine does once, without retries
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.status(500), "unreachable"),
        (Fault.status(502), "unreachable"),
        (Fault.status(504), "unreachable"),
        (Fault.reset(), "unreachable"),
        (Fault.status(429), "overloaded"),
        (Fault.status(503), "overloaded"),
        (Fault.status(401), "unauthorized"),
        (Fault.status(402), "unauthorized"),
        (Fault.status(403), "unauthorized"),
        (Fault.status(400), "refused"),
        (Fault.status(404), "refused"),
        (Fault.status(422), "refused"),
        (Fault.status(413), "too_long"),
        (Fault.too_long(), "too_long"),
        (Fault.hang(), "timeout"),
        (Fault.drip(5, 0.1), "timeout"),
        (Fault.slow(2.0), "timeout"),
        (Fault.garbage("html"), "unreadable"),
        (Fault.garbage("json"), "unreadable"),
        (Fault.garbage("utf8"), "unreadable"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_each_fault_has_its_kind_in_time(fake: FakeJudge, fault: Fault, kind: str) -> None:
    fake.fail_next(fault)

    async def test(engine: HttpModel) -> None:
        began = later(0)
        failed = await failure(engine.complete(MESSAGES, later(0.4)))
        assert failed.kind == kind
        assert later(0) - began < 0.8
        assert "herons" not in failed.message
        assert (await engine.complete(MESSAGES, later())).text == "2"

    run(with_engine(HttpModel(fake.url, "judge"), test))


def test_proxies_of_the_environment_get_nothing(fake: FakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async def test(engine: HttpModel) -> None:
        assert (await engine.complete(MESSAGES, later())).text == "2"

    run(with_engine(HttpModel(fake.url), test))


def test_a_redirect_is_not_followed(fake: FakeJudge) -> None:
    async def redirect(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect(f"{fake.url}{request.path}")

    async def test(engine: HttpModel) -> None:
        failed = await failure(engine.complete(MESSAGES, later()))
        assert failed.kind == "refused"
        assert "redirect" in failed.message

    run(against(redirect, test, model="judge"))
    assert not fake.calls


def test_an_answer_without_end_is_cut() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 65536)

    async def test(engine: HttpModel) -> None:
        assert (await failure(engine.complete(MESSAGES, later(5.0)))).kind == "unreadable"

    run(against(endless, test, model="judge"))


def test_secrets_of_the_address_are_sent_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        return web.Response(status=500)

    messages: list[str] = []

    async def test(engine: HttpModel) -> None:
        port = engine._connection._base.port
        secret = HttpModel(f"http://anna:pa%20ss@127.0.0.1:{port}/v1", "judge")
        closed = HttpModel("http://anna:pa%20ss@127.0.0.1:9/v1", "judge")
        for other in (secret, closed):
            messages.append((await failure(other.complete(MESSAGES, later()))).message)
            await other.close()

    with caplog.at_level(logging.DEBUG):
        run(against(handler, test))
    assert seen == ["Basic " + base64.b64encode(b"anna:pa ss").decode()]
    assert len(messages) == 2
    for text in (*messages, caplog.text):
        assert "anna" not in text
        assert "pa ss" not in text
        assert "pa%20ss" not in text
