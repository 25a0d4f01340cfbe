"""The connection itself: half headers, half bodies, clients that do not read, and those who do all right."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.server import ServerState

from rubricate_service.http.protocol import GuardedProtocol
from rubricate_service.http.settings import Limits
from serving import running_server

LIMITS = {"header_s": 0.4, "body_s": 0.6, "write_s": 0.6, "header_bytes": 4000, "body_bytes": 100_000}
PATIENT = 10.0
gone: list[str] = []


async def echo(request: Request) -> Response:
    try:
        return PlainTextResponse(str(len(await request.body())))
    except ClientDisconnect:
        gone.append("echo")
        raise


async def headers(request: Request) -> Response:
    await request.body()
    return PlainTextResponse(" ".join(request.headers))


async def slow(request: Request) -> Response:
    await asyncio.sleep(0.3)
    return PlainTextResponse("slow")


async def large(request: Request) -> Response:
    return Response(b"x" * 30_000_000)


@contextmanager
def server(**limits: Any) -> Iterator[int]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        yield {"limits": Limits(**{**LIMITS, **limits})}

    routes = [
        Route("/echo", echo, methods=["GET", "POST"]),
        Route("/large", large),
        Route("/headers", headers, methods=["POST"]),
        Route("/slow", slow, methods=["GET", "POST"]),
    ]
    with running_server(Starlette(routes=routes, lifespan=lifespan)) as url:
        yield int(url.rpartition(":")[2])


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with server() as port:
        yield port


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENT)


def read_to_end(connection: socket.socket) -> bytes:
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def drip(connection: socket.socket, data: bytes, every_s: float) -> bytes:
    """Send a byte at a time until the server has enough; what it said."""
    connection.settimeout(every_s)
    for n in range(len(data)):
        try:
            connection.sendall(data[n : n + 1])
            if piece := connection.recv(65536):
                connection.settimeout(PATIENT)
                return piece + read_to_end(connection)
            return b""
        except TimeoutError:
            continue
        except OSError:
            return b""
    raise AssertionError("the server took it all")


def status_of(answer: bytes) -> int:
    found = re.match(rb"HTTP/1\.1 (\d+) ", answer)
    assert found, answer[:100]
    return int(found[1])


HALVES = {
    "no byte at all": b"",
    "half a line": b"GET /ec",
    "half a header": b"GET /echo HTTP/1.1\r\nHost: x\r\nX-Half: ",
    "half a body": b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
    "half a chunk": b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
}


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES)
def test_what_does_not_arrive_in_time_is_answered_and_closed(port: int, sent: bytes) -> None:
    with connect(port) as connection:
        began = time.monotonic()
        connection.sendall(sent)
        answer = read_to_end(connection)
        assert 0.3 < time.monotonic() - began < PATIENT
    assert status_of(answer) == 408
    error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert error["type"] == "invalid_request"
    assert "`limits." in error["message"]


@pytest.mark.parametrize(
    ("size", "status"), [(3_000, 200), (4_001, 431), (60_000, 431)], ids=["below", "above", "far above"]
)
@pytest.mark.parametrize("body", [b"", b"Content-Length: 4\r\n\r\nbody"], ids=["GET", "POST"])
def test_headers_that_come_in_one_piece_are_counted(port: int, size: int, status: int, body: bytes) -> None:
    method = b"POST" if body else b"GET"
    with connect(port) as connection:
        connection.sendall(
            method + b" /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: " + b"a" * size + b"\r\n"
        )
        connection.sendall(body or b"\r\n")
        answer = read_to_end(connection)
    assert status_of(answer) == status
    assert answer.count(b"HTTP/1.1 ") == 1
    if status == 431:
        assert (
            "`limits.header_bytes` is 4,000"
            in json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]
        )


@pytest.mark.parametrize(
    "head",
    [
        b"GET /echo HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"\r\n" * 3,
        b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n",  # and another one, slowly, on the same connection
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;x=",
    ],
)
def test_the_deadline_is_for_the_whole_and_not_for_each_byte(port: int, head: bytes) -> None:
    with connect(port) as connection:
        connection.sendall(head)
        if head.startswith(b"GET") and head.endswith(b"\r\n\r\n"):
            assert status_of(connection.recv(65536)) == 200
        began = time.monotonic()
        drip(connection, b"a" * 1000, 0.05)
        assert time.monotonic() - began < PATIENT


def test_an_app_that_waits_for_half_a_body_is_told_that_nobody_is_there(port: int) -> None:
    gone.clear()
    with connect(port) as connection:
        connection.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
        read_to_end(connection)
    until = time.monotonic() + PATIENT
    while not gone and time.monotonic() < until:
        time.sleep(0.01)
    assert gone == ["echo"]


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        (b"GET /echo HTTP/1.1\r\nHost: x\r\nX-Large: " + b"a" * 1_000_000, {431}),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\n" + b"X-Many: a\r\n" * 100_000, {431}),
        (b"GET /" + b"a" * 1_000_000, {431}),
        # bytes that are neither header nor body
        (
            b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;x=" + b"a" * 1_000_000,
            {413, 400},
        ),
        (
            b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
            + b"a" * 1_000_000,
            {413, 400, 200},
        ),
        (b"\x16\x03\x01\x02\x00\x01" + b"\x00" * 500, {400}),
        (b"GET /echo HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n", {400}),
        (
            b"POST /echo HTTP/1.1\r\nHost: x\r\n"
            b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            {400},
        ),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", {400}),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", {400}),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", {400}),
        (b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", {400}),
    ],
)
def test_floods_and_smuggling_end_the_connection(port: int, sent: bytes, statuses: set[int]) -> None:
    with connect(port) as connection:
        try:
            connection.sendall(sent)
        except OSError:
            return  # it was cut before it had said all
        answer = read_to_end(connection)
    if answer:  # a reset may overtake it
        assert status_of(answer) in statuses
        assert len(re.findall(rb"HTTP/1\.1 \d", answer)) == 1


@pytest.mark.parametrize(
    "after",
    [
        b"more than was announced",
        b"GET /echo HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: x\r\nX-Large: " + b"a" * 5_000 + b"\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["a body longer than its length", "no HTTP", "large headers", "a chunk that is none"],
)
@pytest.mark.parametrize("pause_s", [0.0, 0.1], ids=["at once", "later"])
def test_a_whole_request_is_answered_whatever_comes_after_it(port: int, after: bytes, pause_s: float) -> None:
    with connect(port) as connection:
        whole = b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"
        connection.sendall(whole if pause_s else whole + after)
        time.sleep(pause_s)
        connection.sendall(after if pause_s else b"and on")
        answer = read_to_end(connection)
    assert status_of(answer) == 200
    assert b"\r\nconnection: close\r\n" in answer
    assert re.findall(rb"HTTP/1\.1 \d+", answer) == [b"HTTP/1.1 200"]
    assert answer.endswith(b"slow")


def test_a_body_sent_ahead_has_time_to_come_while_it_is_not_read() -> None:
    """Of the next request no more is read than fits before this one's answer, which takes longer."""
    size = 800_000
    with server(body_s=0.15, body_bytes=size) as port, connect(port) as connection:
        connection.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.05)
        head = b"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        connection.sendall(head % size)
        time.sleep(0.05)
        connection.sendall(b"a" * size)
        answer = read_to_end(connection)
    assert re.findall(rb"HTTP/1\.1 \d+", answer) == [b"HTTP/1.1 200"] * 2
    assert answer.endswith(str(size).encode())


def test_what_comes_behind_a_body_is_no_header(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"POST /headers HTTP/1.1\r\nHost: x\r\nConnection: close\r\n")
        connection.sendall(
            b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n"
        )
        answer = read_to_end(connection)
    assert status_of(answer) == 200
    assert b"connection" in answer
    assert b"authorization" not in answer


SMUGGLED = b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "status", "part"),
    [
        (
            b"Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: %d\r\n" % len(SMUGGLED),
            400,
            b"Upgrade",
        ),
        (
            b"Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n",
            400,
            b"Upgrade",
        ),
        (b"Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n", 200, b"close"),
        (b"Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: websocket\r\n", 200, b"close"),
        (b"Host: x\r\nHost: y\r\n", 400, b"Host"),
        (b"X: x\r\n", 400, b"Host"),
    ],
)
@pytest.mark.parametrize("pause_s", [0.0, 0.1], ids=["at once", "later"])
def test_a_body_is_never_taken_for_a_request(
    port: int, head: bytes, status: int, part: bytes, pause_s: float
) -> None:
    with connect(port) as connection:
        connection.sendall(b"POST /echo HTTP/1.1\r\n" + head + b"\r\n" + (b"" if pause_s else SMUGGLED))
        time.sleep(pause_s)
        if pause_s:
            connection.sendall(SMUGGLED)
        answer = read_to_end(connection)
    assert status_of(answer) == status
    assert part in answer
    assert answer.count(b"HTTP/1.1 ") == 1 + answer.count(b"speaks HTTP/1.1")


@pytest.mark.parametrize(("method", "is_answered"), [(b"GET", True), (b"POST", False)])
@pytest.mark.parametrize("pause_s", [0.0, 0.1], ids=["at once", "later"])
def test_of_those_who_send_no_more_only_who_wants_a_look_is_answered(
    port: int, method: bytes, is_answered: bool, pause_s: float
) -> None:
    """A client that posts work and closes its side cannot be told from one that has left."""
    with connect(port) as connection:
        connection.sendall(method + b" /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        time.sleep(pause_s)
        connection.shutdown(socket.SHUT_WR)
        assert read_to_end(connection).endswith(b"slow") == is_answered


def test_a_client_that_does_not_read_is_cut(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(3 * LIMITS["write_s"])
        with pytest.raises(OSError, match=r"reset|pipe"):  # noqa: PT012 - the first byte provokes the reset
            connection.sendall(b"\r")
            time.sleep(0.2)
            connection.sendall(b"\n")


class Unread(asyncio.Transport):
    """A connection whose client leaves the last few bytes unread, too few for writing to be paused."""

    def __init__(self) -> None:
        super().__init__()
        self.aborted = asyncio.Event()

    def write(self, data: bytes | bytearray | memoryview) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 10

    def is_closing(self) -> bool:
        return self.aborted.is_set()

    def abort(self) -> None:
        self.aborted.set()

    close = resume_reading = lambda self: None


def test_the_last_few_bytes_do_not_keep_a_connection_for_ever() -> None:
    async def script() -> None:
        config = uvicorn.Config(PlainTextResponse("short"), lifespan="off")
        transport = Unread()
        protocol = GuardedProtocol(config, ServerState(), {"limits": Limits(write_s=0.2)})
        protocol.connection_made(transport)
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.wait_for(transport.aborted.wait(), PATIENT)
        protocol.connection_lost(None)

    asyncio.run(script())


def test_a_client_that_reads_slowly_but_steadily_gets_all() -> None:
    with server(write_s=PATIENT) as port, connect(port) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = 0
        while piece := connection.recv(1 << 20):
            received += len(piece)
            time.sleep(0.02)
    assert received > 30_000_000


def test_a_connection_is_kept_for_many_requests_with_pauses_between(port: int) -> None:
    with connect(port) as connection:
        for _ in range(3):
            connection.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n")
            time.sleep(0.2)
            connection.sendall(b"body")
            assert status_of(connection.recv(65536)) == 200
            time.sleep(0.8)  # longer than any deadline: an idle connection is waiting for nothing


def test_requests_sent_ahead_are_answered_in_order(port: int) -> None:
    with connect(port) as connection:
        one = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
        connection.sendall(b"".join(one % (n, b"a" * n) for n in range(5)))
        connection.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = read_to_end(connection)
    assert re.findall(rb"\r\n\r\n(\d)", answer) == [b"0", b"1", b"2", b"3", b"4", b"0"]


def test_the_connection_that_says_nothing_for_longest_makes_room() -> None:
    with server(connections=5, header_s=60) as port, ExitStack() as stack:
        busy = stack.enter_context(connect(port))
        busy.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n")
        time.sleep(0.1)
        idle = [stack.enter_context(connect(port)) for _ in range(4)]
        time.sleep(0.1)
        fresh = stack.enter_context(connect(port))
        fresh.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
        assert status_of(fresh.recv(65536)) == 200
        assert read_to_end(idle[0]) == b""
        idle[1].sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
        assert status_of(idle[1].recv(65536)) == 200
        busy.sendall(b"body")
        assert status_of(busy.recv(65536)) == 200
