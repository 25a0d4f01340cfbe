"""A small server behind the protocol with short limits, and bytes sent to it by hand."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

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
