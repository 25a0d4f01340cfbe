"""What clients do to each other; each test is named by its row of the fault or attack list.

F17 leaving clients, F18 retries, F24 idle connections, A17 tenants, A18 secrets, A23 fairness.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiohttp import web

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service import pipeline
from rubricate_service.http.auth import digest, new_token
from rubricate_service.http.settings import Limits, QueueSettings, TokenSettings
from rubricate_service.routes import score as score_route
from served import PATIENCE_S, body, leave, load, post, running, until


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="2") as judge:
        yield judge


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_f17_a_client_that_leaves_frees_its_places_and_one_that_leaves_the_queue_too(
    judge: FakeJudge, tmp_path: Path, accept: str
) -> None:
    judge.fail_when(Fault.hang(), lambda call: "stall here" in call.text)
    with running(tmp_path, judge, queue=QueueSettings(items=1)) as (app, url), ThreadPoolExecutor() as pool:
        gone = threading.Event()
        first = pool.submit(leave, url, body("stall here"), gone.is_set, Accept=accept)
        until(lambda: judge.in_flight == 1)
        leave(url, body("stall here, too"), lambda: load(app).waiting == 1, Accept=accept)
        assert until(lambda: load(app).waiting == 0) < 2.0
        gone.set()
        first.result()
        assert until(lambda: judge.in_flight == 0 and load(app).in_flight == 0) < 2.0
        assert len(judge.calls) == 1
        assert post(url, body("control")).json()["stats"]["judge"]["scored"] == 1


def test_f18_fifty_requests_of_one_key_cost_one_request(judge: FakeJudge, tmp_path: Path) -> None:
    judge.latency_s = 0.3
    with running(tmp_path, judge) as (_, url), ThreadPoolExecutor(50) as pool:
        payload = body("one", "two", cache="off")
        answers = list(pool.map(lambda _: post(url, payload, Idempotency_Key="k"), range(50)))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        assert len(judge.calls) == 2
        late = post(url, payload, Idempotency_Key="k")
        assert (late.content, late.headers["Idempotent-Replayed"]) == (answers[0].content, "true")
        other = post(url, body("three", cache="off"), Idempotency_Key="k")
        assert (other.status_code, other.json()["error"]["type"]) == (409, "conflict")
        assert len(judge.calls) == 2


def test_f18_the_first_client_leaves_and_the_second_gets_the_answer(judge: FakeJudge, tmp_path: Path) -> None:
    judge.latency_s = 1.0
    with running(tmp_path, judge) as (_, url), ThreadPoolExecutor() as pool:
        gone = threading.Event()
        first = pool.submit(leave, url, body("one"), gone.is_set, Idempotency_Key="k")
        until(lambda: judge.in_flight == 1)
        second = pool.submit(post, url, body("one"), Idempotency_Key="k")
        time.sleep(0.2)
        gone.set()
        first.result()
        assert second.result().json()["stats"]["judge"]["scored"] == 1
        assert len(judge.calls) == 1


def test_f18_what_was_refused_is_done_by_the_retry(judge: FakeJudge, tmp_path: Path) -> None:
    judge.fail_when(Fault.hang(), lambda call: "stall here" in call.text)
    queue = QueueSettings(items=1, wait_s=0)
    with running(tmp_path, judge, queue=queue) as (app, url), ThreadPoolExecutor() as pool:
        gone = threading.Event()
        first = pool.submit(leave, url, body("stall here"), gone.is_set)
        until(lambda: load(app).in_flight == 1)
        refused = post(url, body("one"), Idempotency_Key="k")
        assert (refused.status_code, refused.json()["error"]["type"]) == (429, "overloaded")
        assert "1 of 1 responses of this service" in refused.json()["error"]["message"]
        assert int(refused.headers["Retry-After"]) >= 1
        for path in ("/livez", "/readyz", "/startupz"):
            assert httpx2.get(url + path, timeout=PATIENCE_S, trust_env=False).status_code == 200
        gone.set()
        first.result()
        until(lambda: load(app).in_flight == 0)
        assert post(url, body("one"), Idempotency_Key="k").status_code == 200


def test_f24_idle_connections_leave_the_service_to_those_who_talk(tmp_path: Path) -> None:
    limits = Limits(connections=200, header_s=60)
    with running(tmp_path, limits=limits) as (_, url), ExitStack() as stack:
        host, _, port = url.removeprefix("http://").partition(":")
        for _ in range(400):
            half = stack.enter_context(socket.create_connection((host, int(port)), timeout=PATIENCE_S))
            half.sendall(b"POST /v1/score HTTP/1.1\r\nHost: ")
        for _ in range(20):
            began = time.monotonic()
            assert httpx2.get(f"{url}/livez", timeout=PATIENCE_S, trust_env=False).status_code == 200
            assert time.monotonic() - began < 2.0
        assert post(url, body("a")).status_code == 200


def test_a17_a_tenant_sees_nothing_of_another(judge: FakeJudge, tmp_path: Path) -> None:
    tokens = {name: new_token() for name in ("ann", "bob")}
    tables = {name: TokenSettings(hash=digest(token)) for name, token in tokens.items()}
    with running(tmp_path, judge, tokens=tables) as (_, url):
        for token in ("x", tokens["ann"].upper(), digest(tokens["ann"])):
            assert post(url, body("a"), Authorization=f"Bearer {token}").status_code == 401
        answers = [
            post(url, payload, Authorization=f"Bearer {tokens[name]}", Idempotency_Key="same")
            for name, payload in (("ann", body("a")), ("bob", body("a")), ("bob", body("a")))
        ]
        assert [a.status_code for a in answers] == [200] * 3
        assert [a.headers.get("Idempotent-Replayed") for a in answers] == [None, None, "true"]
        mine = {"Authorization": f"Bearer {tokens['ann']}", "Idempotency-Key": "same"}
        assert post(url, body("b"), **mine).status_code == 409


CANARIES = {name: f"canary-{name}-8d1f" for name in ("prompt", "response", "criterion", "kwarg", "judge-key")}


def echo(status: int) -> Fault:
    """A judge that repeats in its error what it was asked, and the key that it was asked with."""

    async def act(request: web.Request, completion: Any) -> web.StreamResponse:
        told = await request.text() + request.headers.get("Authorization", "")
        return web.json_response({"error": {"message": told, "code": status}}, status=status)

    return Fault(f"echo {status}", act)


def test_a18_nothing_that_was_sent_gets_into_logs_or_errors(
    judge: FakeJudge,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = new_token()
    group = {
        "prompt": CANARIES["prompt"],
        "rubrics": [
            {"check": "text:contains", "kwargs": {"values": [CANARIES["kwarg"]]}, "hard": False},
            {"check": "text:contains", "kwargs": {"valeus": [CANARIES["kwarg"]]}, "hard": False},
            {"criterion": CANARIES["criterion"]},
        ],
        "responses": [CANARIES["response"]],
    }
    good = {"groups": [group], "options": {"cache": "off", "deadline_s": 5}}
    faulty = {"groups": [{**group, "rubrics": [{"check": CANARIES["kwarg"], "criterion": "c"}]}]}
    errors: list[httpx2.Response] = []

    def broken(*_: Any) -> Any:
        raise ValueError(" ".join(CANARIES.values()))

    settings = {
        "tokens": {"ann": TokenSettings(hash=digest(token))},
        "judge_api_key": CANARIES["judge-key"],
        "limits": Limits(response_chars=1000, header_s=1),
    }
    with caplog.at_level(logging.DEBUG), running(tmp_path, judge, **settings) as (_, url):
        for logger in ("uvicorn", "uvicorn.error", "aiohttp", "asyncio", "httpx2"):
            logging.getLogger(logger).setLevel(1)

        def ask(payload: Any, **headers: str) -> httpx2.Response:
            return post(url, payload, **{"Authorization": f"Bearer {token}", **headers})

        assert ask(good).json()["stats"]["judge"]["scored"] == 1
        for status in (400, 401, 500):
            judge.fail_when(echo(status), lambda call: True)
            failed = ask(good)
            assert failed.json()["stats"]["judge"]["scored"] == 0
            assert CANARIES["judge-key"] not in failed.text
            judge.heal()
        errors += [ask(faulty), ask({"groups": [{**group, "responses": [CANARIES["response"] * 1000]}]})]
        errors += [ask({**good, CANARIES["response"][:6]: 1}), ask(good, Authorization=f"Basic {token}")]
        errors += [ask(good, Authorization=f"Bearer {token}x"), ask(good, Content_Encoding="gzip")]
        assert ask(good, Idempotency_Key="k").status_code == 200
        errors += [ask(faulty, Idempotency_Key="k"), ask(body("other"), Idempotency_Key="k")]
        leave(url, good, lambda: bool(judge.calls), Authorization=f"Bearer {token}")
        with monkeypatch.context() as patch:
            patch.setattr(pipeline, "judge_group", broken)
            assert ask(good).status_code == 200
            patch.setattr(score_route, "groups_json", broken)
            errors.append(ask(good))
        assert errors[-1].status_code == 500
    assert all(answer.status_code >= 400 for answer in errors)
    written = capfd.readouterr()
    logged = caplog.text + "".join(repr(record.__dict__) for record in caplog.records)
    assert "ValueError in" in logged  # the log was captured, and says where it broke
    for place, text in {
        "logs": logged,
        "output": written.out + written.err,
        "errors": "".join(answer.text for answer in errors),
    }.items():
        for name, canary in {**CANARIES, "token": token}.items():
            assert canary not in text, f"the {name} is in the {place}"


def test_a23_a_tenant_with_much_work_does_not_hold_up_one_with_little(
    judge: FakeJudge, tmp_path: Path
) -> None:
    judge.latency_s = 0.05
    tokens = {name: new_token() for name in ("much", "little")}
    tables = {name: TokenSettings(hash=digest(token)) for name, token in tokens.items()}
    done: list[str] = []

    def ask(url: str, tenant: str, n: int, items: int) -> None:
        payload = body(*(f"{tenant} {n} {i}" for i in range(items)))
        answer = post(url, payload, Authorization=f"Bearer {tokens[tenant]}")
        assert answer.json()["stats"]["judge"]["scored"] == items
        done.append(tenant)

    settings = {"queue": QueueSettings(items=20, tenant_items=10), "judge_concurrency": 8}
    with running(tmp_path, judge, tokens=tables, **settings) as (app, url), ThreadPoolExecutor(64) as pool:
        much = [pool.submit(ask, url, "much", n, 10) for n in range(20)]
        until(lambda: load(app).waiting > 100)
        for n in range(10):
            ask(url, "little", n, 1)
        assert done.count("little") == 10
        assert done.count("much") < 15  # of 20: the others still wait
        for request in much:
            request.result()
    assert len(done) == 30
