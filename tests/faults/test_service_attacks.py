"""What clients send to break the service; each test is named by its row of the attack list.

A7 size, A8 JSON, A9 bombs, A10 slowness, A11 smuggling.
"""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate_service.app import create_app
from rubricate_service.http.settings import Limits
from rubricate_service.settings import Settings
from served import COMMA, PATIENCE_S, body, post, running


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
