"""The service among hostile and careless clients; each test is named by its row of the fault and attack list.

F17 leaving clients, F18 retries, F24 idle connections, A7 size, A8 JSON, A9 bombs, A10 slowness,
A11 smuggling, A17 tokens, A18 secrets, A23 quotas.
"""

from __future__ import annotations

import gzip
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiohttp import web
from fastapi import FastAPI
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service import pipeline
from rubricate_service.app import create_app
from rubricate_service.http.admission import Load
from rubricate_service.http.auth import digest, new_token
from rubricate_service.http.settings import Limits, QueueSettings, TokenSettings
from rubricate_service.routes import score as score_route
from rubricate_service.settings import Settings
from serving import running_server

COMMA = {"check": "punctuation:no_comma"}
KIND = {"criterion": "The answer is kind."}
PATIENCE_S = 20.0


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="2") as judge:
        yield judge


@contextmanager
def running(folder: Path, judge: FakeJudge | None = None, **settings: Any) -> Iterator[tuple[FastAPI, str]]:
    app = create_app(
        Settings(cache=str(folder / "v.db"), check_workers=1, judge=judge.url if judge else None, **settings)
    )
    with running_server(app) as url:
        yield app, url


def body(*responses: str, prompt: str = "Say something.", **options: Any) -> dict[str, Any]:
    group = {"prompt": prompt, "rubrics": [COMMA, KIND], "responses": list(responses)}
    return {"groups": [group], "options": options}


def post(url: str, payload: Any, **headers: str) -> httpx2.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    content = json.dumps(payload)  # the very bytes that `leave` sends
    return httpx2.post(f"{url}/v1/score", content=content, headers=names, timeout=PATIENCE_S, trust_env=False)


def until(condition: Callable[[], bool]) -> float:
    """Seconds until it held."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < PATIENCE_S
        time.sleep(0.005)
    return time.monotonic() - began


def leave(url: str, payload: Any, when: Callable[[], bool], **headers: str) -> None:
    """Send a request, and close the connection once `when` holds."""
    host, _, port = url.removeprefix("http://").partition(":")
    content = json.dumps(payload).encode()
    lines = ["POST /v1/score HTTP/1.1", f"Host: {host}", f"Content-Length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
        until(when)


def load(app: FastAPI) -> Load:
    return app.state.admission.load  # type: ignore[no-any-return]


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


def rubric(**fields: Any) -> dict[str, Any]:
    return {"groups": [{"prompt": "p", "rubrics": [fields], "responses": ["r"]}]}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    cache = str(tmp_path_factory.mktemp("attacks") / "v.db")
    with TestClient(create_app(Settings(cache=cache, check_workers=1))) as client:
        yield client


@pytest.mark.parametrize(
    ("payload", "limit"),
    [
        (rubric(id="x" * 1_000_000, **COMMA), "id_chars"),
        (rubric(check="x" * 1_000_000), "id_chars"),
        (rubric(criterion="x" * 1_000_000), "criterion_chars"),
        (rubric(check="text:contains", kwargs={"values": ["x" * 2_000_000]}), "kwargs_chars"),
        ({"groups": [{"prompt": "p", "rubrics": [COMMA] * 10_000, "responses": ["r"]}]}, "rubrics"),
        ({"groups": [{"prompt": "p", "rubrics": [COMMA], "responses": ["r"] * 10_000}]}, "responses"),
        ({"groups": [{"prompt": "p", "rubrics": [COMMA], "responses": ["r"]}] * 10_000}, "groups"),
        ({"groups": [{"prompt": "p", "rubrics": [COMMA] * 256, "responses": ["r"] * 4096}]}, "verdicts"),
        ({"groups": [{"prompt": "p", "rubrics": [COMMA], "responses": ["r" * 2_000_000]}]}, "response_chars"),
        ({"groups": [{"prompt": "p" * 2_000_000, "rubrics": [COMMA], "responses": ["r"]}]}, "prompt_chars"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a7_what_is_too_large_is_422_and_names_the_limit(
    client: TestClient, payload: dict[str, Any], limit: str
) -> None:
    answer = client.post("/v1/score", json=payload)
    assert answer.status_code == 422
    assert f"`limits.{limit}` is" in answer.json()["error"]["message"]
    assert len(answer.content) < 100_000  # what was too long is not sent back


RAW = {
    "NaN": b'{"x": NaN}',
    "lone surrogate": b'{"groups":[{"prompt":"\\ud800","rubrics":[{"check":"c"}],"responses":["r"]}]}',
    "deep": b'{"groups":' * 100_000,
    "duplicate keys": b'{"groups":[],"groups":[]}',
    "5,000 digits": b'{"options":{"deadline_s":' + b"9" * 5000 + b"}}",
    "1e400": b'{"options":{"deadline_s":1e400}}',
    "not UTF-8": b'{"groups":"\xff\xfe"}',
    "NUL": b"\x00" * 1000,
    "objects without end": b'{"groups":[' + b"{}," * 1_000_000,
    "numbers without end": b'{"groups":[' + b"1," * 1_000_000,
    "texts without end": b'{"groups":[' + b'"",' * 1_000_000,
    "gzip": gzip.compress(b'{"groups":[]}'),
}


@pytest.mark.parametrize("content", RAW.values(), ids=RAW)
@pytest.mark.parametrize("path", ["/v1/score", "/v1/advantages", "/v1/import"])
def test_a8_json_of_all_kinds_is_422_and_never_500(client: TestClient, path: str, content: bytes) -> None:
    answer = client.post(path, content=content)
    assert answer.status_code == 422
    assert answer.json()["error"]["type"] == "invalid_request"


def test_a9_a_bomb_is_not_inflated(client: TestClient) -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    answer = client.post("/v1/score", content=bomb, headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 422
    assert "gzip" in answer.json()["error"]["message"]


def test_a9_a_body_of_50_mb_costs_what_the_limit_allows(tmp_path: Path) -> None:
    limits = Limits(body_bytes=1_000_000)
    with TestClient(create_app(Settings(cache=str(tmp_path / "v.db"), check_workers=1, limits=limits))) as c:
        answer = c.post("/v1/score", content=b" " * 50_000_000)
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "invalid_request")


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /v1/score HTTP/1.1\r\nHost: x\r\nX-Half: ",
        b'POST /v1/score HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"groups',
    ],
    ids=["header", "body"],
)
def test_a10_slow_clients_are_closed_and_hold_up_nobody(tmp_path: Path, sent: bytes) -> None:
    limits = Limits(header_s=1, body_s=1)
    with running(tmp_path, limits=limits) as (_, url), ExitStack() as stack:
        host, _, port = url.removeprefix("http://").partition(":")
        slow = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=PATIENCE_S))
            for _ in range(200)
        ]
        for connection in slow:
            connection.sendall(sent)
        assert post(url, body("a")).status_code == 200
        for connection in slow:
            assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    "sent",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}{}",
        b"X: " + b"a" * 1_000_000 + b"\r\n\r\n",
        b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 36\r\n\r\n",
        b"Host: y\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ids=["CL and TE", "TE and CL", "two lengths", "header of 1 MB", "an upgrade with a body", "two hosts"],
)
def test_a11_what_two_readers_could_read_in_two_ways_is_refused(tmp_path: Path, sent: bytes) -> None:
    with running(tmp_path) as (_, url):
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
            try:
                connection.sendall(b"POST /v1/score HTTP/1.1\r\nHost: x\r\n" + sent)
                connection.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
                answer = connection.recv(65536)
            except ConnectionError:
                answer = b""
            assert answer == b"" or answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))
            assert b"HTTP/1.1 200" not in answer


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
