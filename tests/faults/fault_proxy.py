"""A proxy between the service and its judge that does to the answers what networks do to them."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass

Pass = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Passes an answer on, until either side is done; the connection is closed afterwards."""


@dataclass(frozen=True)
class Mode:
    """What happens to answers, by the name of it."""

    name: str
    act: Pass


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


OK = Mode("ok", _pass_on)


def latency(seconds: float) -> Mode:
    """Each part of an answer is late."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await asyncio.sleep(seconds)
            writer.write(data)

    return Mode("latency", act)


def hang() -> Mode:
    """The connection stands, and nothing ever comes back."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            pass
        await asyncio.Event().wait()

    return Mode("hang", act)


def limit(size: int) -> Mode:
    """The connection ends after so many bytes, as when the server dies."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            writer.write(await reader.readexactly(size))

    return Mode("limit", act)


def reset() -> Mode:
    """The connection is reset in the middle of an answer."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read(65536))[:100])
        await writer.drain()
        transport = writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.abort()

    return Mode("reset", act)


def slices(size: int, pause_s: float) -> Mode:
    """An answer drips, so many bytes at a time."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(size):
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return Mode("slices", act)


def corrupt() -> Mode:
    """The head of an answer is whole, every byte of its body has another bit, and the connection ends."""

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        assert size is not None
        body = await reader.readexactly(int(size[1]))
        writer.write(head + bytes(byte ^ 0x80 for byte in body))

    return Mode("corrupt", act)


class FaultProxy:
    """A proxy on 127.0.0.1 in a thread of its own; its ``mode`` may be changed at any time.

    Args:
        port: Port on 127.0.0.1 to which it leads.

    Attributes:
        mode: What happens to what comes back, from the next connection on.
        connections: How many were made.
    """

    def __init__(self, port: int) -> None:
        self.mode = OK
        self.connections = 0
        self._target = port
        self._loop: asyncio.AbstractEventLoop
        self._stopped: asyncio.Event
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, bound: Future[str]) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        bound.set_result(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await self._stopped.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._connect(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            try:
                back, forth = await asyncio.open_connection("127.0.0.1", self._target)
                try:
                    ways = {
                        asyncio.create_task(_quietly(_pass_on(reader, forth))),
                        asyncio.create_task(_quietly(self.mode.act(back, writer))),
                    }
                    try:
                        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        for way in ways:
                            way.cancel()
                        await asyncio.gather(*ways, return_exceptions=True)
                finally:
                    forth.close()
            finally:
                writer.close()


async def _quietly(work: Awaitable[None]) -> None:
    with suppress(OSError, asyncio.IncompleteReadError):
        await work


@contextmanager
def fault_proxy(target: str) -> Iterator[tuple[FaultProxy, str]]:
    """A proxy that leads to a URL, and its own URL."""
    proxy, bound = FaultProxy(int(target.rpartition(":")[2])), Future[str]()
    thread = threading.Thread(target=lambda: asyncio.run(proxy.serve(bound)))
    thread.start()
    try:
        yield proxy, bound.result(10)
    finally:
        proxy.stop()
        thread.join()
