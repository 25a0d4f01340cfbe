"""Whatever the OpenAPI document allows, and what it does not: never a 5xx, never a hang.

Generated requests miss what no JSON generator writes, so a corpus of bytes made by hand stands beside them.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.compat.settings import CompatSettings
from rubricate_service.settings import Settings
from serving import running_server

PATIENCE_S = 30.0
EXAMPLES = 6
CONFORMS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
JSON_ROUTES = (
    "/v1/score", "/v1/explain", "/v1/advantages", "/v1/import", "/v1/rubrics/lint", "/compat/slime",
    "/compat/openrlhf/get_reward", "/compat/nemo_gym/verify", "/compat/nemo_gym/seed_session",
    "/compat/nemo_gym/aggregate_metrics",
)  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with FakeJudge() as judge:
        made = Settings(
            judge=judge.url,
            cache=str(tmp_path_factory.mktemp("fuzz") / "v.db"),
            check_workers=2,
            check_timeout_s=1.0,
            deadline_s=5.0,
            # a group that nobody completes, and a verdict that nobody can reach, are no faults of the service
            compat=CompatSettings(group_timeout_s=0.1, unscored="mask"),
        )
        with running_server(create_app(made)) as url:
            yield url


def fuzz(operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, url: str) -> None:
    """Send generated requests of one route and method; each is answered as the document says."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def one(case: Case[Any]) -> None:
        answer = case.call(base_url=url, timeout=PATIENCE_S)
        case.validate_response(answer, checks=CONFORMS)

    one()


@pytest.mark.parametrize("mode", GenerationMode)
def test_generated_requests_are_answered_as_the_document_says(url: str, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    assert {operation.path for operation in operations} >= {*JSON_ROUTES}
    for operation in operations:
        if operation.body or mode is GenerationMode.POSITIVE:  # else there is nothing to send wrongly
            fuzz(operation, mode, url)


def nested(depth: int, opening: str, closing: str) -> bytes:
    return ('{"groups": ' + opening * depth + closing * depth + "}").encode()


GROUP = {"prompt": "p", "rubrics": [{"check": "punctuation:no_comma"}], "responses": ["r"]}
WHOLE = json.dumps({"groups": [GROUP]}).encode()
BODIES = {
    "empty": b"",
    "blank": b" \r\n\t",
    "null": b"null",
    "a number": b"-0",
    "a text": b'"groups"',
    "a list": b"[]",
    "NUL": b"\x00",
    "NUL in a text": b'{"groups": "\x00"}',
    "escaped NUL": WHOLE.replace(b'"p"', b'"\\u0000"'),
    "byte order mark": b"\xef\xbb\xbf" + WHOLE,
    "UTF-16": WHOLE.decode().encode("utf-16"),
    "UTF-32": WHOLE.decode().encode("utf-32"),
    "Latin-1": '{"groups": "é"}'.encode("latin-1"),
    "overlong UTF-8": b'{"groups": "\xc0\xaf"}',
    "half a character": b'{"groups": "\xf0\x9f"}',
    "lone surrogate": WHOLE.replace(b'"p"', b'"\\udfff"'),
    "surrogate as UTF-8": WHOLE.replace(b'"p"', b'"\xed\xa0\x80"'),
    "not a character": WHOLE.replace(b'"p"', b'"\\uffff\\ufdd0"'),
    "NaN": WHOLE.replace(b'"p"', b"NaN"),
    "minus infinity": WHOLE.replace(b'"p"', b"-Infinity"),
    "1e999": WHOLE.replace(b'"p"', b"1e999"),
    "5,000 digits": WHOLE.replace(b'"p"', b"1" * 5000),
    "an exponent of 5,000 digits": WHOLE.replace(b'"p"', b"1e" + b"1" * 5000),
    "deep lists": nested(100_000, "[", "]"),
    "deep objects": nested(100_000, '{"a":', "}").replace(b":}", b":1}"),
    "never closed": nested(100_000, "[", ""),
    "cut short": WHOLE[:-1],
    "twice": WHOLE * 2,
    "a trailing comma": WHOLE[:-1] + b",}",
    "a comment": WHOLE[:-1] + b"/**/}",
    "single quotes": WHOLE.replace(b'"', b"'"),
    "duplicate keys": WHOLE[:-1] + b', "groups": []}',
    "a key of 1 MB": b'{"' + b"k" * 1_000_000 + b'": 1}',
    "a million keys": b"{" + b",".join(b'"%d":0' % n for n in range(1_000_000)) + b"}",
    "random bytes": bytes(n * n % 251 for n in range(4096)),
    "a form": b"groups=1&options=2",
    "multipart": b"--x\r\nContent-Disposition: form-data; name=groups\r\n\r\n1\r\n--x--\r\n",
    "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00cos\nsystem\n.",
    "YAML": b"groups: !!python/object/apply:os.system ['true']",
    "XML": b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
}


@pytest.mark.parametrize("content", BODIES.values(), ids=BODIES)
def test_bodies_made_by_hand_are_answered_without_a_5xx(url: str, content: bytes) -> None:
    with httpx2.Client(base_url=url, timeout=PATIENCE_S, trust_env=False) as client:
        for path in JSON_ROUTES:
            answer = client.post(path, content=content)
            assert answer.status_code < 500, (path, answer.text[:500])
            if answer.status_code >= 400:
                assert answer.json()["error"]["message"], path
                # what was sent may be quoted once, and not once for each of its faults
                assert len(answer.content) < 200_000 + len(content), path


@pytest.mark.parametrize("path", ["/v1/score", "/compat/slime"])
def test_many_faults_below_a_long_name_do_not_repeat_it(url: str, path: str) -> None:
    """Once 86 kB of NaN below a name of 50 kB were an answer of 50 MB, and took 1.4 GB to write."""
    name, numbers = "k" * 50_000, ", ".join(["NaN"] * 9_000)
    values = f'{{"{name}": [{numbers}]}}'
    rubric = f'{{"check": "text:contains", "kwargs": {values}}}'
    body = {
        "/v1/score": f'{{"groups": [{{"prompt": "p", "rubrics": [{rubric}], "responses": ["r"]}}]}}',
        "/compat/slime": f'{{"prompt": "p", "response": "r", "label": {values}}}',
    }[path]
    answer = httpx2.post(url + path, content=body, timeout=PATIENCE_S, trust_env=False)
    assert answer.status_code == 422
    assert "NaN" in answer.text or "nan" in answer.text
    assert len(answer.content) < 200_000


HEAD = b"POST /v1/score HTTP/1.1\r\nHost: x\r\n"
SENT = {
    "no request line": b"\r\n\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": b"GET /livez\r\n\r\n",
    "HTTP/9.9": b"GET /livez HTTP/9.9\r\nHost: x\r\n\r\n",
    "no host": b"GET /livez HTTP/1.1\r\n\r\n",
    "another host's address": b"GET http://169.254.169.254/livez HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT": b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n",
    "TRACE": b"TRACE /livez HTTP/1.1\r\nHost: x\r\n\r\n",
    "OPTIONS *": b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method nobody knows": b"FLY /v1/score HTTP/1.1\r\nHost: x\r\n\r\n",
    "a path outside": b"GET /docs/../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "the same, encoded": b"GET /docs/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1\r\nHost: x\r\n\r\n",
    "NUL in a path": b"GET /v1/checks/%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "no UTF-8 in a path": b"GET /v1/checks/%ff%fe HTTP/1.1\r\nHost: x\r\n\r\n",
    "no UTF-8 in a query": b"GET /v1/checks?key=%ff&run=%ed%a0%80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "raw bytes in a path": b"GET /v1/checks/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    "raw bytes in a header": HEAD + b"X-Run: \xff\xfe\r\nContent-Length: 2\r\n\r\n{}",
    "raw bytes in a token": HEAD + b"Authorization: Bearer \xff\r\nContent-Length: 2\r\n\r\n{}",
    "raw bytes in a key": HEAD + b"Idempotency-Key: \xff\r\nContent-Length: 2\r\n\r\n{}",
    "a key without end": HEAD + b"Idempotency-Key: " + b"k" * 60_000 + b"\r\nContent-Length: 2\r\n\r\n{}",
    "a header folded": HEAD + b"X-A: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
    "a header without a colon": HEAD + b"nothing\r\nContent-Length: 2\r\n\r\n{}",
    "a negative length": HEAD + b"Content-Length: -1\r\n\r\n{}",
    "a length of 2^64": HEAD + b"Content-Length: 18446744073709551616\r\n\r\n{}",
    "a length that is none": HEAD + b"Content-Length: two\r\n\r\n{}",
    "a chunk of no size": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk of 2^64": HEAD + b"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n{}",
    "an encoding nobody knows": HEAD + b"Transfer-Encoding: rot13\r\n\r\n{}",
    "an upgrade": HEAD.replace(b"POST", b"GET") + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "an expectation": HEAD + b"Expect: the unexpected\r\nContent-Length: 2\r\n\r\n{}",
    "a type with a strange charset": HEAD + b"Content-Type: a/b; charset=\xff\r\nContent-Length: 2\r\n\r\n{}",
    "an accept that is none": HEAD + b"Accept: ;;;,,,\xff\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_bytes_that_are_hardly_http_are_refused_or_answered_without_a_5xx(url: str, sent: bytes) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)  # nothing more will come
        answer = bytearray()
        try:
            while part := connection.recv(65536):
                answer += part
        except ConnectionError:
            pass
    for line in answer.split(b"\r\n"):
        if line.startswith(b"HTTP/1.1 "):
            assert int(line.split()[1]) < 500, bytes(answer[:500])
    assert b"root:" not in answer
    assert httpx2.get(f"{url}/livez", timeout=PATIENCE_S, trust_env=False).status_code == 200
