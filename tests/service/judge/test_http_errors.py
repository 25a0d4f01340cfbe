from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import orjson
import pytest
from aiohttp import web
from http_engine_helpers import MESSAGES, against, failure, later, with_engine
from scripted_engine import run

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.judge.http import HttpModel

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

    async def test(engine: HttpModel) -> None:
        failed = await failure(engine.complete(MESSAGES, later()))
        assert failed.kind == kind
        assert part in failed.message
        assert "herons" not in failed.message
        assert "k-123" not in failed.message

    run(against(handler, test, model="judge"))


@pytest.mark.parametrize(
    ("retry_after", "low", "high"),
    [
        ("2.5", 2.5, 2.5),
        ("-3", None, None),
        ("0", None, None),
        # as far away as a suite's slowest run could not change by much
        pytest.param(
            format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True),
            80_000.0,
            86_400.0,
            id="tomorrow",
        ),
        ("Mon, 01 Jan 2001 00:00:00 GMT", None, None),
        ("Mon, 01 Jan 2001 00:00:00 +99999999999999999999", None, None),
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

    async def test(engine: HttpModel) -> None:
        seconds = (await failure(engine.complete(MESSAGES, later()))).retry_after
        if low is None or high is None:
            assert seconds is None
        else:
            assert seconds is not None
            assert low <= seconds <= high

    run(with_engine(HttpModel(fake.url, "judge"), test))
