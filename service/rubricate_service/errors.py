"""Errors on the wire: one shape for every 4xx and 5xx, one table from fault to status.

ApiError
├── InvalidRequest   422  the request is not what the contract says; every fault with its path
│   └── TooLarge     413  its body is larger than the service takes
├── NeedsAllScores   422  advantages were asked for that rest on scores gated away
├── Unauthorized     401  no token, or none that is known
├── Forbidden        403  the token lacks the scope
├── NotFound         404
├── Conflict         409  one idempotency key for two requests
├── Overloaded       429  no room within the time that the request may wait; with Retry-After
└── ClientGone       499  the client left; no answer is sent

What an exception says may quote a prompt, a response or a key, so no log line of ours has its text.
"""

from __future__ import annotations

import logging
import math
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rubricate_clients.faults import ErrorDetail, details_of
from rubricate_clients.wire import ErrorAnswer, ErrorBody

log = logging.getLogger("rubricate.http")

_TYPES = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "invalid_request",
    422: "invalid_request",
    429: "overloaded",
    503: "unavailable",
}


_MOST_DETAILS = 1000  # of a body that is wrong throughout; the message counts them all
_MOST_FAULTS = 10_000  # more are only counted: listing them takes more memory than the body itself

DOCUMENTED: dict[int | str, dict[str, Any]] = {"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}}
"""Error answers of every route, for the OpenAPI document."""


class ApiError(Exception):
    """An answer other than 200: `status`, a `type` of the contract, a message for people, headers."""

    status = 500
    type = "internal"
    headers: Mapping[str, str] = {}

    def __init__(self, message: str, details: Sequence[ErrorDetail] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)


class InvalidRequest(ApiError):
    """The request cannot be scored as it stands; `details` name every fault and its path."""

    status = 422
    type = "invalid_request"


class TooLarge(InvalidRequest):
    """The body is larger than the service takes; its rest is not read."""

    status = 413
    headers = {"Connection": "close"}  # noqa: RUF012 - never written to


class NeedsAllScores(ApiError):
    """A method rests on scores that the request's judging skips."""

    status = 422
    type = "needs_all_scores"


class Unauthorized(ApiError):
    """No token came, or none that is known."""

    status = 401
    type = "unauthorized"
    headers = {"WWW-Authenticate": 'Bearer realm="rubricate"'}  # noqa: RUF012 - never written to


class Forbidden(ApiError):
    """The caller is known and may not do this."""

    status = 403
    type = "forbidden"


class NotFound(ApiError):
    """There is no such thing."""

    status = 404
    type = "not_found"


class Conflict(ApiError):
    """An idempotency key was used before, for another request."""

    status = 409
    type = "conflict"


class Overloaded(ApiError):
    """There is no room for the request; `retry_after_s` is when there may be, in seconds."""

    status = 429
    type = "overloaded"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.headers = {"Retry-After": str(max(1, math.ceil(retry_after_s)))}


class ClientGone(ApiError):
    """Nobody is there to read the answer; the status is for the log."""

    status = 499
    type = "canceled"


def invalid_body(error: ValidationError) -> InvalidRequest:
    """Every fault of a body, each with its path; of a body that is wrong throughout, their number."""
    if error.error_count() > _MOST_FAULTS:
        message = f"the body has {error.error_count():,} faults, too many to list: is it of this route?"
        return InvalidRequest(message, [ErrorDetail(path="", message=message)])
    details = details_of(error)
    first = details[0]
    where = f"{first.path}: " if first.path else ""
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return InvalidRequest(f"{where}{first.message}{more}", details[:_MOST_DETAILS])


def _answer(status: int, type: str, message: str, details: Sequence[ErrorDetail] = ()) -> Response:
    body = ErrorAnswer(error=ErrorBody(type=type, message=message, details=list(details)))
    return Response(body.model_dump_json(), status, media_type="application/json")


def answer_to(error: ApiError) -> Response:
    """The answer that tells a client of an error."""
    answer = _answer(error.status, error.type, error.message, error.details)
    answer.headers.update(error.headers)
    return answer


def told_without_texts(error: BaseException) -> str:
    """An exception's type and where it was raised, without its text, which may quote a response or a key."""
    frames = traceback.extract_tb(error.__traceback__)[-5:]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames)]
    return f"{type(error).__name__} in " + " < ".join(places)


async def _api_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101 - registered for it alone
    return answer_to(error)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
    message = {
        404: f"there is no {request.url.path}; GET /openapi.json lists every route",
        405: f"{request.url.path} does not take {request.method}",
    }.get(error.status_code, str(error.detail))
    answer = _answer(error.status_code, _TYPES.get(error.status_code, "invalid_request"), message)
    answer.headers.update(error.headers or {})
    return answer


class LastResort:
    """ASGI middleware round all others: what nobody foresaw is a 500 that tells nothing, and a log line.

    The framework's own handler raises once more after its answer, and the server then logs the exception
    with its text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            log.error("a request to %s broke: %s", scope["path"], told_without_texts(error))  # noqa: TRY400
            if not has_begun:  # else the server cuts the connection, as the answer has no end
                answer = _answer(500, "internal", "the service broke on this request; its log says why")
                if (request_id := scope.get("state", {}).get("request_id")) is not None:
                    answer.headers["X-Request-Id"] = request_id
                await answer(scope, receive, send)


def install(app: FastAPI) -> None:
    """Give every error answer the one shape; call it after all middlewares are there."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_middleware(LastResort)
