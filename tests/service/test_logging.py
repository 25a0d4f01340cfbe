"""Logs: one line per request, whose it was, and never a text."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import logging.config
import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate_service.app import create_app
from rubricate_service.http.auth import digest, new_token
from rubricate_service.http.settings import TokenSettings
from rubricate_service.routes import score as score_route
from rubricate_service.settings import Settings
from rubricate_service.telemetry import logs, metrics

GROUP = {"prompt": "p", "rubrics": [{"check": "punctuation:no_comma"}], "responses": ["a", "b, c"]}
CANARY = "canary-5b1e"


class Lines:
    """What the loggers of the service have written since the last look."""

    def __init__(self, style: logs.Style) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(logs.formatter(style))

    def take(self) -> list[str]:
        text = self.stream.getvalue()
        self.stream.seek(0)
        self.stream.truncate()
        return text.splitlines()

    def requests(self) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.take()]
        return [line for line in lines if line["logger"] == "rubricate.request"]


@pytest.fixture(params=["json"])
def lines(request: pytest.FixtureRequest) -> Iterator[Lines]:
    written = Lines(request.param)
    logger = logging.getLogger("rubricate")
    level = logger.level
    logger.addHandler(written.handler)
    logger.setLevel(logging.INFO)
    yield written
    logger.removeHandler(written.handler)
    logger.setLevel(level)


def test_a_request_is_one_line_with_its_counts(no_judge: TestClient, lines: Lines) -> None:
    headers = {"X-Request-Id": "q-1", "X-Run": "run/7", "X-Step": "12"}
    answer = no_judge.post("/v1/score", json={"groups": [GROUP]}, headers=headers)
    assert answer.headers["X-Request-Id"] == "q-1"
    (line,) = lines.requests()
    assert {name: line[name] for name in ("request_id", "run", "step", "method", "route", "status")} == {
        "request_id": "q-1",
        "run": "run/7",
        "step": "12",
        "method": "POST",
        "route": "/v1/score",
        "status": 200,
    }
    assert (line["responses"], line["checks_scored"], line["judge_calls"]) == (2, 2, 0)
    assert 0 < line["check_s"] <= line["seconds"]
    assert (line["level"], line["message"]) == ("info", "POST /v1/score: 200")


def test_a_request_without_an_id_gets_one_and_probes_get_no_line(no_judge: TestClient, lines: Lines) -> None:
    ids = {no_judge.get(path).headers["X-Request-Id"] for path in ("/livez", "/readyz", "/v1/checks")}
    assert len(ids) == 3
    (line,) = lines.requests()
    assert line["route"] == "/v1/checks"
    assert line["request_id"] in ids


@pytest.mark.parametrize("sent", ["two words", "a\tb", "é", "x" * 129, 'a"b', "{}"])
def test_what_is_no_word_is_no_id(no_judge: TestClient, lines: Lines, sent: str) -> None:
    header = {"X-Request-Id": sent.encode(), "X-Run": sent.encode()}
    given = no_judge.get("/v1/checks", headers=header).headers["X-Request-Id"]  # type: ignore[arg-type]
    assert given != sent
    (line,) = lines.requests()
    assert line["request_id"] == given
    assert "run" not in line


def test_each_line_of_a_request_says_whose_it_is(
    tmp_path: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError(CANARY)

    token = new_token()
    settings = Settings(
        cache=str(tmp_path / "v.db"),
        check_workers=1,
        tokens={"ann": TokenSettings(hash=digest(token), tenant="team-a")},
    )
    with TestClient(create_app(settings), raise_server_exceptions=False) as client:
        monkeypatch.setattr(score_route, "groups_json", broken)
        headers = {"Authorization": f"Bearer {token}", "X-Request-Id": "q-2"}
        answer = client.post("/v1/score", json={"groups": [GROUP]}, headers=headers)
        assert (answer.status_code, answer.headers["X-Request-Id"]) == (500, "q-2")
        assert client.post("/v1/score", json={}).status_code == 401
    told = [json.loads(line) for line in lines.take()]
    of_request = [line for line in told if line.get("request_id") == "q-2"]
    assert {line["logger"] for line in of_request} == {"rubricate.request", "rubricate.http"}
    assert {line["tenant"] for line in of_request} == {"team-a"}
    assert [line["status"] for line in told if line["logger"] == "rubricate.request"] == [500, 401]
    assert CANARY not in json.dumps(told)


@pytest.mark.parametrize("style", ["json", "text"])
def test_what_exceptions_say_is_taken_out_of_any_line(style: logs.Style) -> None:
    written = Lines(style)
    logger = logging.Logger("some.library")
    logger.addHandler(written.handler)
    try:
        raise ValueError(CANARY)
    except ValueError:
        logger.exception("it broke")
    asyncio_logger = logging.Logger("asyncio")
    asyncio_logger.addHandler(written.handler)
    asyncio_logger.error("Task exception was never retrieved\nfuture: <Task exception='%s'>", CANARY)
    text = "\n".join(written.take())
    assert "it broke" in text
    assert "ValueError in test_logging.py" in text
    assert "never retrieved" in text
    assert CANARY not in text


@pytest.mark.parametrize("value", ["\udc80", 2**70, Path("a")], ids=["surrogate", "integer", "object"])
def test_a_line_is_written_whatever_it_holds(value: object) -> None:
    record = logging.LogRecord("rubricate.x", logging.INFO, "f", 1, "said", None, None)
    record.fields = {"value": value}
    line = json.loads(logs.formatter("json").format(record))
    assert (line["message"], line["value"]) == ("said", str(value) if isinstance(value, Path) else value)


def test_text_for_people_keeps_an_entry_in_one_piece() -> None:
    written = Lines("text")
    logger = logging.Logger("rubricate.http")
    logger.addHandler(written.handler)
    logger.warning("a request to %s broke", "/x\x1b[2J\r\n2026-01-01T00:00:00Z [info] forged")
    first, second = written.take()
    assert "\x1b[2J" not in first
    assert second.startswith("    2026-01-01")


def test_a_reader_that_has_stalled_costs_lines_and_no_time() -> None:
    lost = metrics.LOG_LOST._value.get()
    full: queue.Queue[str | None] = queue.Queue(1)
    handler = logs.Handoff(full)
    handler.setFormatter(logs.formatter("json"))
    for number in range(3):
        handler.handle(logging.makeLogRecord({"name": "a", "msg": f"line {number}", "levelno": 20}))
    assert json.loads(full.get() or "")["message"] == "line 0"
    assert metrics.LOG_LOST._value.get() - lost == 2


def test_the_configuration_is_one_that_logging_takes(capfd: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    ours = [logging.getLogger(name) for name in ("rubricate", "uvicorn")]
    states = [(logger, logger.handlers[:], logger.level, logger.propagate) for logger in ours]
    try:
        logging.config.dictConfig(logs.log_config(None))
        logging.getLogger("rubricate.x").info("hello")
        logging.getLogger("other").info("not this")

        async def written() -> str:
            text = ""
            while "hello" not in text:
                text += capfd.readouterr().err
                await asyncio.sleep(0.01)
            return text

        text = asyncio.run(asyncio.wait_for(written(), 20))
    finally:
        root.handlers[:], root.level = before
        for logger, handlers, level, propagate in states:
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)
    assert json.loads(text.splitlines()[0])["message"] == "hello"
    assert "not this" not in text
