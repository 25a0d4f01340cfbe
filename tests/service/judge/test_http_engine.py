from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import orjson
import pytest
from aiohttp import web
from scripted_engine import QUESTION, ask, failure_of, judge_of, run

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.judge import Answer, JudgeFailure, Usage
from rubricate_service.judge.http import HttpEngine

MESSAGES = [{"role": "system", "content": "Grade."}, {"role": "user", "content": "A response about herons."}]


@pytest.fixture(scope="module")
def server() -> Iterator[FakeJudge]:
    with FakeJudge() as server:
        yield server


@pytest.fixture
def fake(server: FakeJudge) -> FakeJudge:
    server.reset()
    server.answer = "2"
    return server


def later(seconds: float = 2.0) -> float:
    return asyncio.get_running_loop().time() + seconds


async def failure(asked: Awaitable[object]) -> JudgeFailure:
    with pytest.raises(JudgeFailure) as caught:
        await asked
    return caught.value


async def with_engine(engine: HttpEngine, test: Callable[[HttpEngine], Awaitable[None]]) -> None:
    try:
        await test(engine)
    finally:
        await engine.close()


async def against(
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]], test: Any, **engine: Any
) -> None:
    """Run a test against a server that answers everything with one handler."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        await with_engine(HttpEngine(f"http://127.0.0.1:{runner.addresses[0][1]}", **engine), test)
    finally:
        await runner.cleanup()


def test_what_is_sent_and_what_is_read(fake: FakeJudge) -> None:
    fake.answer = {"1": 0.6, "2": 0.3, "You": 0.1}

    async def test(engine: HttpEngine) -> None:
        identity = await engine.identify(later())
        completion = await engine.complete(MESSAGES, later())
        assert identity.model == completion.model == "judge"
        assert (completion.text, completion.finish_reason, completion.system_fingerprint) == (
            "1",
            "stop",
            "fp-fake",
        )
        assert completion.tokens is not None
        assert [text for text, _ in completion.tokens[0].alternatives] == ["1", "2", "You"]
        assert completion.prompt_tokens > 0
        assert completion.completion_tokens == 1

    run(with_engine(HttpEngine(fake.url, api_key="k1"), test))
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
    async def test(engine: HttpEngine) -> None:
        assert (await engine.complete(MESSAGES, later())).text == "2"

    run(with_engine(HttpEngine(fake.url + suffix), test))


@pytest.mark.parametrize(
    "url", ["", "judge", "localhost:8000", "ftp://judge/v1", "http://", "unix:/judge.sock"]
)
def test_what_is_no_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="http://host:8000"):
        HttpEngine(url)


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

    async def test(engine: HttpEngine) -> None:
        began = later(0)
        failed = await failure(engine.complete(MESSAGES, later(0.4)))
        assert failed.kind == kind
        assert later(0) - began < 0.8
        assert "herons" not in failed.message
        assert (await engine.complete(MESSAGES, later())).text == "2"

    run(with_engine(HttpEngine(fake.url, "judge"), test))


# the same, and those of the answer's content, as a judge reports them after its retries
@pytest.mark.parametrize(
    ("fault", "kind", "calls"),
    [
        (Fault.status(500), "unreachable", 3),
        (Fault.reset(), "unreachable", 3),
        (Fault.hang(), "timeout", 1),
        (Fault.drip(5, 0.1), "timeout", 1),
        (Fault.garbage("html"), "unreadable", 2),
        (Fault.text("Surely 2."), "unreadable", 2),
        (Fault.truncated(), "truncated", 2),
        (Fault.refusal(), "refused", 1),
        (Fault.too_long(), "too_long", 1),
        (Fault.wrong_model("impostor"), "identity", 1),
        (Fault.status(401), "unauthorized", 1),
        (Fault.status(400), "refused", 1),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_judge_reports_each_fault_after_its_retries(
    fake: FakeJudge, fault: Fault, kind: str, calls: int
) -> None:
    fake.fail_when(fault, lambda call: True)

    async def test() -> None:
        judge, usage = judge_of(HttpEngine(fake.url)), Usage()
        assert (await failure_of(ask(judge, seconds=1.0, usage=usage))).kind == kind
        assert usage.calls == len(fake.calls) == calls
        fake.heal()
        assert (await ask(judge)).label == 1.0
        await judge.close()

    run(test())


def test_a_burst_of_rejections_is_waited_out(fake: FakeJudge) -> None:
    fake.fail_share(Fault.status(429, retry_after=0.05), 0.5)

    async def test() -> None:
        judge = judge_of(HttpEngine(fake.url))
        questions = [replace(QUESTION, criterion=f"Criterion {n}.") for n in range(40)]
        answers = await asyncio.gather(*(ask(judge, q, seconds=10.0) for q in questions))
        assert {answer.label for answer in answers} == {1.0}
        await judge.close()

    run(test())


def test_rubrics_of_a_response_share_their_prefix_at_the_engine(fake: FakeJudge) -> None:
    async def test() -> None:
        judge, usage = judge_of(HttpEngine(fake.url)), Usage()
        for n in range(4):
            await ask(
                judge,
                replace(QUESTION, response="A tall tower. " * 50, criterion=f"Criterion {n}."),
                usage=usage,
            )
        assert usage.cached_prompt_tokens > 0.6 * usage.prompt_tokens
        await judge.close()

    run(test())


def test_a_judge_that_is_refused_its_connection_fails_within_a_second() -> None:
    async def test() -> None:
        judge = judge_of(HttpEngine("http://127.0.0.1:9"))
        began = later(0)
        await judge.start()
        failed = await failure_of(ask(judge, seconds=60))
        assert failed.kind == "unreachable"
        assert "127.0.0.1:9" in failed.message
        assert later(0) - began < 1.0
        await judge.close()

    run(test())


def test_a_judge_that_comes_up_later_and_goes_away_again() -> None:
    fake = FakeJudge("1")
    fake.start()
    fake.stop()

    async def test() -> None:
        judge = judge_of(HttpEngine(fake.url))
        await judge.start()
        assert (await judge.status())["status"] == "failing"
        assert (await failure_of(ask(judge))).kind == "unreachable"
        await asyncio.to_thread(fake.start)
        assert await judge.status() == {"status": "ok", "model": "judge"}
        assert (await ask(judge)).label == 0.5
        await asyncio.to_thread(fake.stop)
        assert (await ask(judge)).cached
        assert (await failure_of(ask(judge, replace(QUESTION, criterion="x")))).kind == "unreachable"
        assert (await judge.status())["status"] == "failing"
        await judge.close()

    try:
        run(test())
    finally:
        fake.stop()


@pytest.mark.parametrize(
    ("retry_after", "low", "high"),
    [
        ("2.5", 2.5, 2.5),
        ("-3", 0.0, 0.0),
        (format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), 3500.0, 3600.0),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0.0, 0.0),
        ("soon", None, None),
        ("nan", None, None),
        ("inf", None, None),
        (None, None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(
    fake: FakeJudge, retry_after: str | None, low: float | None, high: float | None
) -> None:
    fake.fail_next(Fault.status(503, retry_after=retry_after))

    async def test(engine: HttpEngine) -> None:
        seconds = (await failure(engine.complete(MESSAGES, later()))).retry_after
        if low is None or high is None:
            assert seconds is None
        else:
            assert seconds is not None
            assert low <= seconds <= high

    run(with_engine(HttpEngine(fake.url, "judge"), test))


def test_proxies_of_the_environment_get_nothing(fake: FakeJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async def test(engine: HttpEngine) -> None:
        assert (await engine.complete(MESSAGES, later())).text == "2"

    run(with_engine(HttpEngine(fake.url), test))


def test_a_redirect_is_not_followed(fake: FakeJudge) -> None:
    async def redirect(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect(f"{fake.url}{request.path}")

    async def test(engine: HttpEngine) -> None:
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

    async def test(engine: HttpEngine) -> None:
        assert (await failure(engine.complete(MESSAGES, later(5.0)))).kind == "unreadable"

    run(against(endless, test, model="judge"))


ERRORS: list[tuple[int, Any, str, str]] = [
    # status, body, kind, a part of the message
    (
        400,
        {"error": {"message": "top_logprobs must be at most 5"}},
        "refused",
        "top_logprobs must be at most 5",
    ),
    (400, {"error": "logprobs are off"}, "refused", "logprobs are off"),
    (422, {"detail": [{"input": "A response about herons."}]}, "refused", "422"),
    (400, {"error": {"message": "cannot parse 'A response about herons.'"}}, "refused", "400"),
    (400, {"error": {"message": "no", "code": "context_length_exceeded"}}, "too_long", "context"),
    (400, {"message": "The prompt is longer than the maximum model length of 512."}, "too_long", "context"),
    (404, {"error": {"message": "The model `x` does not exist.", "param": "model"}}, "identity", "`x`"),
    (404, {"error": {"message": "no such model", "code": "model_not_found"}}, "identity", "no such model"),
    (404, {"detail": "Not Found"}, "refused", "URL"),
    (401, {"error": "Unauthorized key k-123"}, "unauthorized", "API key"),
    (400, None, "refused", "400"),
    (400, [1], "refused", "400"),
    (400, {"error": {"message": 7}}, "refused", "400"),
    (500, {"error": {"message": "CUDA error"}}, "unreachable", "500"),
]


@pytest.mark.parametrize(("status", "body", "kind", "part"), ERRORS)
def test_errors_in_any_shape(status: int, body: Any, kind: str, part: str) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=status, body=b"<html>" if body is None else orjson.dumps(body))

    async def test(engine: HttpEngine) -> None:
        failed = await failure(engine.complete(MESSAGES, later()))
        assert failed.kind == kind
        assert part in failed.message
        assert "herons" not in failed.message
        assert "k-123" not in failed.message

    run(against(handler, test, model="judge"))


def listing(*entries: Any, status: int = 200) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handler(request: web.Request) -> web.Response:
        assert request.path == "/v1/models"
        return web.json_response({"object": "list", "data": list(entries)}, status=status)

    return handler


def fingerprint(handler: Any, model: str | None = None) -> str | JudgeFailure:
    found: list[str | JudgeFailure] = []

    async def test(engine: HttpEngine) -> None:
        try:
            identity = await engine.identify(later())
        except JudgeFailure as failed:
            found.append(failed)
        else:
            found.append(f"{identity.model} {identity.fingerprint}")

    run(against(handler, test, model=model))
    return found[0]


def test_the_fingerprint_is_of_what_the_server_says_of_the_model() -> None:
    entry = {
        "id": "a",
        "created": 1,
        "root": "/models/a",
        "max_model_len": 4096,
        "permission": [{"id": "p1"}],
    }
    known = fingerprint(listing(entry))
    same = dict(reversed(entry.items())) | {"created": 2, "permission": [{"id": "p2"}]}
    assert fingerprint(listing(same, {"id": "b"})) == known
    assert fingerprint(listing({"id": "b"}, entry), "a") == known
    assert fingerprint(listing(entry | {"root": "/models/b"})) != known
    assert fingerprint(listing(entry | {"max_model_len": 8192})) != known


def test_a_named_model_that_is_not_listed_is_known_by_its_name(caplog: pytest.LogCaptureFixture) -> None:
    names = [fingerprint(handler, "a") for handler in (listing({"id": "b"}), listing(), listing(status=404))]
    assert len(set(map(str, names))) == 1
    assert str(names[0]).startswith("a sha256:")
    assert "does not list a" in caplog.text


@pytest.mark.parametrize(
    ("handler", "model", "kind"),
    [
        (listing(), None, "unreadable"),
        (listing("x", {"id": 3}), None, "unreadable"),
        (listing(status=404), None, "refused"),
        (listing(status=401), "a", "unauthorized"),
        (listing(status=500), "a", "unreachable"),
        (listing(status=503), "a", "overloaded"),
    ],
)
def test_a_server_that_does_not_say_who_it_is(handler: Any, model: str | None, kind: str) -> None:
    failed = fingerprint(handler, model)
    assert isinstance(failed, JudgeFailure)
    assert failed.kind == kind


def test_secrets_of_the_address_are_sent_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request.headers["Authorization"])
        return web.Response(status=500)

    messages: list[str] = []

    async def test(engine: HttpEngine) -> None:
        port = engine._chat.port
        secret = HttpEngine(f"http://anna:pa%20ss@127.0.0.1:{port}/v1", "judge")
        closed = HttpEngine("http://anna:pa%20ss@127.0.0.1:9/v1", "judge")
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


def test_one_judge_behind_two_hundred_questions(fake: FakeJudge) -> None:
    async def test() -> None:
        judge = judge_of(HttpEngine(fake.url), concurrency=16)
        questions = [replace(QUESTION, criterion=f"Criterion {n}.") for n in range(200)]
        answers = await asyncio.gather(*(ask(judge, q) for q in questions))
        assert {type(a) for a in answers} == {Answer}
        assert max(call.in_flight for call in fake.calls) <= 16
        await judge.close()

    fake.latency_s = 0.002
    run(test())
