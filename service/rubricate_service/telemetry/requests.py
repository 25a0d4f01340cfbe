"""A request from outside: its id, its line in the log, its metrics and its span."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rubricate_service.compat.errors import Unavailable
from rubricate_service.errors import answer_to
from rubricate_service.http.auth import OPEN
from rubricate_service.lifecycle import Lifecycle
from rubricate_service.telemetry import metrics
from rubricate_service.telemetry.record import Record, current
from rubricate_service.telemetry.tracing import span

log = logging.getLogger("rubricate.request")

_QUIET = OPEN | {"/metrics"}
"""Asked every few seconds by machines: their lines are for debugging."""
_CLIENT_GONE = 499
_TRACE = (b"traceparent", b"tracestate")
_STOPPED = "the service stopped before this request was done; send it again"


class Requests:
    """ASGI middleware: sees every request first and its answer last.

    While the service stops, each answer ends its connection, so that clients look for another replica; and a
    request that the end of the drain cuts off is answered with a 503.
    """

    def __init__(self, app: ASGIApp, lifecycle: Lifecycle) -> None:
        self._app = app
        self._lifecycle = lifecycle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        headers = dict(scope["headers"])
        record = Record.of(headers, scope.setdefault("state", {}))
        scope["state"]["request_id"] = record.request_id
        current.set(record)  # for good: the task is this request's own, and ends with it
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answer = MutableHeaders(raw=message["headers"])
                answer["X-Request-Id"] = record.request_id
                if self._lifecycle.state != "serving":
                    answer["Connection"] = "close"
            await send(message)

        trace = {name.decode(): headers[name].decode("latin-1") for name in _TRACE if name in headers}
        try:
            with span("request", trace, method=scope["method"], **record.fields) as note:
                try:
                    await self._app(scope, receive, sending)
                finally:
                    note(route=_route(scope), status=status)
        except asyncio.CancelledError:
            if status or self._lifecycle.state == "serving":
                status = status or _CLIENT_GONE
                raise
            await answer_to(Unavailable(_STOPPED))(scope, receive, sending)
        except Exception:
            status = status or 500  # which `LastResort` answers
            raise
        finally:
            self._note(scope, record, status, time.monotonic() - began)

    def _note(self, scope: Scope, record: Record, status: int, seconds: float) -> None:
        route = _route(scope)
        metrics.HTTP_REQUESTS.labels(route, str(status)).inc()
        metrics.HTTP_SECONDS.labels(route).observe(seconds)
        level = logging.DEBUG if route in _QUIET else logging.WARNING if status >= 500 else logging.INFO
        if log.isEnabledFor(level):
            fields: dict[str, Any] = {"method": scope["method"], "route": route, "status": status}
            fields |= {"seconds": round(seconds, 6), **record.counts}
            log.log(level, "%s %s: %d", scope["method"], route, status, extra={"fields": fields})


def _route(scope: Scope) -> str:
    """The path as it was declared: the paths that are asked for are without bounds."""
    return getattr(scope.get("route"), "path", None) or "unknown"
