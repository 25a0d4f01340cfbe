"""HTTP/1.1 for a hostile network: uvicorn's protocol with deadlines and bounds that no app can hold.

An app sees a request once its headers are whole, and an answer no more once it is written, so half a header
and a client that does not read are dealt with here. The limits come with the app's lifespan state.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from rubricate_clients.wire import ErrorAnswer, ErrorBody
from rubricate_service.http.settings import Limits

_BESIDE = 4  # bytes of a header beside its name and value


class GuardedProtocol(HttpToolsProtocol):
    """A connection whose client has a time limit for headers, body and taking the answer.

    States of reading: idle between requests, in a header, in a body. The first is bounded by uvicorn's
    keep-alive time, the others by one timer here.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits: Limits = app_state.get("limits") or Limits()
        # of this server: connections without a whole header, oldest first
        self._unheard: dict[GuardedProtocol, None] = app_state.setdefault("unheard", {})
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._in_body = False
        self._is_deaf = False
        self._running: RequestResponseCycle | None = None
        self._received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; when there are too many, the one that said nothing for longest goes."""
        super().connection_made(transport)
        self._await_header()
        if len(self.connections) > self._limits.connections:
            next(iter(self._unheard)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_reading_timer()
        if self._writing is not None:
            self._writing.cancel()
        self._abandon()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; more than a request may have end the connection."""
        if self._is_deaf:
            return
        if self._reading is None:
            self._await_header()  # also for the empty lines that may come before a request
        self._received += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        limits = self._limits
        # in chunks of single bytes a body is longer than what it holds, but twice that is for nobody's good
        most = limits.header_bytes + 2 * limits.body_bytes if self._in_body else limits.header_bytes
        if self._reading is not None and self._received > most:
            self._refuse_large()

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client sends no more: who has work done has left, and a mere look is still answered.

        A client that closes its connection cannot be told from one that closes its own side of it.
        """
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return False  # the connection closes
        if self.pipeline or cycle.more_body or cycle.scope["method"] not in ("GET", "HEAD"):
            self._abandon()
            return False
        self._end_after(cycle)
        return True

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._await_header()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what comes behind a body is none (RFC 9110, section 6.5.1)."""
        if not self._in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Hand the request to the app, and wait for its body; unless it is none that can be read safely.

        The size is counted here as well: headers that come in one piece are whole before their bytes are.
        """
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            self._refuse(400, "a request has one Host header (RFC 9112, section 3.2)")
            raise ValueError("no host, or several")
        if self.parser.should_upgrade() and any(_announces_body(*header) for header in self.headers):
            # the parser reads no body after these headers, and would take it for the next request
            self._refuse(400, "this service speaks HTTP/1.1 only: leave out the header Upgrade")
            raise ValueError("an upgrade with a body")
        size = len(self.url) + sum(len(name) + len(value) + _BESIDE for name, value in self.headers)
        if size > self._limits.header_bytes:
            self._refuse_large()
            raise ValueError("headers too large")  # at which the parser reads no further
        self._wait(self._limits.body_s, in_body=True)
        super().on_headers_complete()
        if self.parser.should_upgrade():
            self._end_after(self.cycle)  # with this answer, as the parser reads no further

    def on_message_complete(self) -> None:
        """The body is whole."""
        self._stop_reading_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The answer is written: bound the time in which it is taken."""
        super().on_response_complete()
        self._await_taking()

    def pause_writing(self) -> None:
        """The client takes less than is written."""
        super().pause_writing()
        self._await_taking()

    def resume_writing(self) -> None:
        """The client has taken nearly all."""
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, in the contract's shape."""
        if not self.transport.is_closing():
            self._refuse(400, "this is not HTTP/1.1 as the service reads it")

    def _await_header(self) -> None:
        self._received = 0
        self._unheard[self] = None
        self._wait(self._limits.header_s, in_body=False)

    def _wait(self, seconds: float, *, in_body: bool) -> None:
        self._in_body = in_body
        if self._reading is not None:
            self._reading.cancel()
        if in_body:
            self._unheard.pop(self, None)
        self._reading = self.loop.call_later(seconds, self._too_slow)

    def _stop_reading_timer(self) -> None:
        self._unheard.pop(self, None)
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _too_slow(self) -> None:
        limit = "body_s" if self._in_body else "header_s"
        part, seconds = ("body" if self._in_body else "headers"), getattr(self._limits, limit)
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self.pipeline or (is_answering and not self._in_body):
            # a request that was sent ahead, which is not read on before the answer to the one before it
            self._wait(seconds, in_body=self._in_body)
            return
        self._refuse(408, f"the {part} did not arrive within {seconds:g} s (`limits.{limit}`)")

    def _refuse_large(self) -> None:
        status, name = (413, "body_bytes") if self._in_body else (431, "header_bytes")
        most = f"`limits.{name}` is {getattr(self._limits, name):,}"
        part = "body" if self._in_body else "headers"
        self._refuse(status, f"the {part} of the request are larger than this service takes ({most})")

    def _refuse(self, status: int, message: str) -> None:
        """Answer in the app's place and close; only close when it has begun to answer.

        Whole requests that came before get their answers, and then the connection ends.
        """
        cycle = self.cycle
        if cycle is not None and not cycle.more_body and not cycle.response_complete:
            self._end_after(cycle)
            return
        if self.pipeline and self._running is not None:
            self.pipeline.popleft()  # the one that is in trouble
            self._end_after(self.pipeline[0][0] if self.pipeline else self._running)
            return
        if cycle is None or (not cycle.response_started if self._in_body else cycle.response_complete):
            error = ErrorBody(type="invalid_request", message=message)
            body = ErrorAnswer(error=error).model_dump_json().encode()
            head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
            self.transport.write(STATUS_LINE[status] + head % len(body) + body)
        self._abandon()
        self.transport.close()
        self._await_taking()

    def _end_after(self, cycle: RequestResponseCycle) -> None:
        """Read no further, and let the connection end with the answer to this request."""
        self._is_deaf = True
        self._stop_reading_timer()
        cycle.keep_alive = False

    def _abandon(self) -> None:
        """Whatever the app says from now on is for nobody, and it is told so."""
        for cycle in (self._running, self.cycle):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle  # of requests sent ahead `self.cycle` is the last, which waits
        super()._start_asgi_task(cycle, app)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: it is not for operators, and what uvicorn would have them install is not used."""

    def _await_taking(self) -> None:
        if self._writing is None and self.transport.get_write_buffer_size():
            self._writing = self.loop.call_later(self._limits.write_s, self._give_up_writing)

    def _give_up_writing(self) -> None:
        self._writing = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()


def _announces_body(name: bytes, value: bytes) -> bool:
    return name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
