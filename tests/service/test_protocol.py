"""The connection itself: half headers, half bodies, clients that do not read, and those who do all right."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import ExitStack

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from raw_http import LIMITS, PATIENT, connect, drip, gone, read_to_end, server, status_of
from rubricate_service.http.protocol import GuardedProtocol
from rubricate_service.http.settings import Limits

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
