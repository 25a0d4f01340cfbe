"""An aiohttp application served from a thread of its own, for tests that are not async themselves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Self

from aiohttp import web

# aiohttp reads 0 as "wait for ever"; a stopping server should drop what it holds, like one that dies.
_SHUTDOWN_S = 0.01


class ServerThread:
    """Serves an application on 127.0.0.1, on a port that it keeps over `stop` and `start`.

    Args:
        make_app: Builds the application; called at every start, as aiohttp binds one to its loop.
        port: Port to bind; 0 takes a free one.
    """

    def __init__(self, make_app: Callable[[], web.Application], port: int = 0) -> None:
        self.port = port
        self._make_app = make_app
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._halted: asyncio.Event

    @property
    def url(self) -> str:
        """Base address, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Serve until `stop`; returns once the port takes connections.

        Raises:
            OSError: The port is taken.
            RuntimeError: The server runs already.
        """
        if self._thread is not None:
            raise RuntimeError(f"the server on {self.url} runs already; stop it before starting it again")
        bound: Future[int] = Future()
        thread = threading.Thread(target=lambda: asyncio.run(self._serve(bound)), daemon=True)
        thread.start()
        self.port = bound.result()
        self._thread = thread

    def stop(self) -> None:
        """Cut every connection and free the port; does nothing when the server does not run."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._halted.set)
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    async def _serve(self, bound: Future[int]) -> None:
        self._loop, self._halted = asyncio.get_running_loop(), asyncio.Event()
        runner = web.AppRunner(
            self._make_app(), access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_S
        )
        try:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", self.port, backlog=4096).start()
        except BaseException as error:
            await runner.cleanup()
            bound.set_exception(error)
            return
        bound.set_result(runner.addresses[0][1])
        await self._halted.wait()
        await runner.cleanup()
