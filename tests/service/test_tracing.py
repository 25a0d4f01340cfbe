"""Spans: what was done for a request, under the caller's own span, and never a text."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.settings import Settings
from rubricate_service.telemetry.tracing import span, spans_of

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CANARY = "canary-77c2"
BODY = {
    "groups": [
        {
            "prompt": CANARY,
            "rubrics": [{"check": "punctuation:no_comma"}, {"criterion": CANARY}],
            "responses": [CANARY],
        }
    ]
}


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with spans_of(provider):
        yield exporter


def test_a_request_has_its_spans(
    client: TestClient, judge: FakeJudge, exporter: InMemorySpanExporter
) -> None:
    judge.answer = "2"
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-Id": "q-9"}
    assert client.post("/v1/score", json=BODY, headers=headers).status_code == 200
    spans: dict[str, ReadableSpan] = {found.name: found for found in exporter.get_finished_spans()}
    assert spans.keys() == {"request", "check", "cache", "judge call"}
    assert {f"{found.context.trace_id:032x}" for found in spans.values() if found.context} == {TRACE}
    request = spans["request"]
    assert request.parent
    assert f"{request.parent.span_id:016x}" == PARENT
    assert request.attributes
    assert dict(request.attributes) == {
        "rubricate.method": "POST",
        "rubricate.request_id": "q-9",
        "rubricate.route": "/v1/score",
        "rubricate.status": 200,
    }
    for name in ("check", "cache", "judge call"):
        parent = spans[name].parent
        assert parent is not None
        assert request.context
        assert parent.span_id == request.context.span_id, name
    assert CANARY not in "".join(found.to_json() for found in spans.values())


def test_a_call_that_fails_is_an_error_without_its_text(
    client: TestClient, judge: FakeJudge, exporter: InMemorySpanExporter
) -> None:
    judge.fail_when(Fault.status(401), lambda call: True)
    client.post("/v1/score", json={**BODY, "options": {"cache": "off"}})
    (call,) = (found for found in exporter.get_finished_spans() if found.name == "judge call")
    assert (call.status.is_ok, call.status.description) == (False, "JudgeFailure")
    assert not call.events


def test_without_an_endpoint_nothing_of_it_is_imported() -> None:
    program = (
        "import asyncio, sys\n"
        "from rubricate_service.app import create_app\n"
        "from rubricate_service.telemetry.tracing import tracing\n"
        "async def main():\n"
        "    async with tracing(): pass\n"
        "asyncio.run(main())\n"
        # redis looks for the rest of the SDK by itself
        "names = ('opentelemetry.exporter', 'opentelemetry.sdk.trace')\n"
        "sys.exit(any(name.startswith(names) for name in sys.modules))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    with span("nothing") as note:
        note(done=True)


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """Where spans are sent by OTLP over HTTP: its address, and the bodies that came."""
    bodies: list[bytes] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", bodies
        finally:
            server.shutdown()
            thread.join()


def test_spans_go_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as (url, bodies):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with TestClient(create_app(Settings(cache=str(tmp_path / "v.db"), check_workers=1))) as client:
            client.post("/v1/score", json=BODY)
    sent = b"".join(bodies)
    assert b"request" in sent
    assert b"check" in sent
    assert CANARY.encode() not in sent


def test_an_endpoint_without_the_packages_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9/v1/traces")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with TestClient(create_app(Settings(cache=str(tmp_path / "v.db"), check_workers=1))) as client:
        assert client.post("/v1/score", json=BODY).status_code == 200
    assert "pip install 'rubricate[otel]'" in caplog.text
