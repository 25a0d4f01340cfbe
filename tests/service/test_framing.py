"""Where a request begins and ends: floods, smuggling, requests sent ahead, and what comes after the last."""

from __future__ import annotations

import re
import socket
import time

import pytest

from raw_http import connect, read_to_end, server, status_of


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


def test_requests_sent_ahead_are_answered_in_order(port: int) -> None:
    with connect(port) as connection:
        one = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
        connection.sendall(b"".join(one % (n, b"a" * n) for n in range(5)))
        connection.sendall(b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = read_to_end(connection)
    assert re.findall(rb"\r\n\r\n(\d)", answer) == [b"0", b"1", b"2", b"3", b"4", b"0"]
