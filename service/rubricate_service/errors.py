"""Errors on the wire: one shape for every 4xx and 5xx, one table from fault to status.

ApiError
├── InvalidRequest   422 (413 for size)  the body is not what the contract says; every fault with its path
├── NeedsAllScores   422                 advantages were asked for that rest on scores gated away
├── NotFound         404
└── ClientGone       499                 the client left; no answer is sent
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException

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

DOCUMENTED: dict[int | str, dict[str, Any]] = {"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}}
"""Error answers of every route, for the OpenAPI document."""


class ApiError(Exception):
    """An answer other than 200: `status`, a `type` of the contract, and a message for people."""

    status = 500
    type = "internal"

    def __init__(self, message: str, details: Sequence[ErrorDetail] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)


class InvalidRequest(ApiError):
    """The request cannot be scored as it stands; `details` name every fault and its path."""

    status = 422
    type = "invalid_request"


class NeedsAllScores(ApiError):
    """A method rests on scores that the request's judging skips."""

    status = 422
    type = "needs_all_scores"


class NotFound(ApiError):
    """There is no such thing."""

    status = 404
    type = "not_found"


class ClientGone(ApiError):
    """Nobody is there to read the answer; the status is for the log."""

    status = 499
    type = "canceled"


def invalid_body(error: ValidationError) -> InvalidRequest:
    """Every fault of a body, each with its path."""
    details = details_of(error)
    first = details[0]
    where = f"{first.path}: " if first.path else ""
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return InvalidRequest(f"{where}{first.message}{more}", details[:_MOST_DETAILS])


def _answer(status: int, type: str, message: str, details: Sequence[ErrorDetail] = ()) -> Response:
    body = ErrorAnswer(error=ErrorBody(type=type, message=message, details=list(details)))
    return Response(body.model_dump_json(), status, media_type="application/json")


async def _api_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101 - registered for it alone
    return _answer(error.status, error.type, error.message, error.details)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
    message = {
        404: f"there is no {request.url.path}; GET /openapi.json lists every route",
        405: f"{request.url.path} does not take {request.method}",
    }.get(error.status_code, str(error.detail))
    answer = _answer(error.status_code, _TYPES.get(error.status_code, "invalid_request"), message)
    answer.headers.update(error.headers or {})
    return answer


async def _unforeseen(_: Request, error: Exception) -> Response:
    log.error("a request broke", exc_info=error)
    return _answer(500, "internal", "the service broke on this request; its log says why")


def install(app: FastAPI) -> None:
    """Give every error answer the one shape."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unforeseen)
