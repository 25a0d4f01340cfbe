"""How the service stops without losing a request, and how its processes are run.

    serving ──SIGTERM──> draining ──prestop_s──> stopping ──all answered, or drain_s──> exit status 0

While it drains it serves on, new requests too: whoever sends them learns with a delay that `/readyz` says no.
Another SIGTERM ends that wait; Ctrl-C skips it, and a second Ctrl-C also cuts off what is under way. One of
several processes whose first one was killed stops by itself, and at once: nobody would ever tell it to.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from rubricate_service.http.exposure import is_loopback
from rubricate_service.settings import Settings

log = logging.getLogger("rubricate.lifecycle")

State = Literal["serving", "draining", "stopping"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_PRESTOP_S = 5.0
_GRACE_S = 10.0  # for a process to close what it holds, once its requests have ended


def prestop_time_s(settings: Settings) -> float:
    """How long to serve on after SIGTERM, seconds: who sends work from elsewhere must learn of it first."""
    if settings.prestop_s is not None:
        return settings.prestop_s
    return 0.0 if is_loopback(settings.host) else _PRESTOP_S


class Lifecycle:
    """Where one process stands between its start and its end.

    Args:
        prestop_s: How long it goes on serving after SIGTERM, seconds.

    Attributes:
        state: `serving`; `draining`, while it still takes new requests; `stopping`, when it does no more.
    """

    def __init__(self, prestop_s: float) -> None:
        self.state: State = "serving"
        self._prestop_s = prestop_s
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def handling_signals(self, on_stopping: Callable[[], None]) -> AsyncIterator[None]:
        """Take the signals in the server's place, and have it stop when the time has come.

        Where no uvicorn has taken them (in a thread, under another server) they are left alone.

        Args:
            on_stopping: Called when no new requests are taken any more.
        """
        is_main = threading.current_thread() is threading.main_thread()
        server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
        if not is_main or not isinstance(server, uvicorn.Server) or sys.platform == "win32":
            yield
            return
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._signalled, number, server, on_stopping)
        first = multiprocessing.parent_process()
        if first is not None:
            loop.add_reader(first.sentinel, self._orphaned, first.sentinel, server, on_stopping)
        try:
            yield
        finally:
            if first is not None:
                loop.remove_reader(first.sentinel)
            if self._timer is not None:
                self._timer.cancel()
            for number in _SIGNALS:
                loop.remove_signal_handler(number)
                # one that comes now is too late to mean anything
                signal.signal(number, signal.SIG_IGN)

    def _signalled(self, number: int, server: uvicorn.Server, on_stopping: Callable[[], None]) -> None:
        if self.state == "serving" and number == signal.SIGTERM and self._prestop_s > 0:
            self.state = "draining"
            log.info("stopping: /readyz says so, and requests are taken for %g s more", self._prestop_s)
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._prestop_s, self._stop, server, on_stopping)
        elif self.state != "stopping":
            self._stop(server, on_stopping)
        elif number == signal.SIGINT:
            log.warning("requests under way are cut off")
            server.force_exit = True

    def _orphaned(self, sentinel: int, server: uvicorn.Server, on_stopping: Callable[[], None]) -> None:
        asyncio.get_running_loop().remove_reader(sentinel)
        log.error("the first process is gone: this one stops too")
        self._stop(server, on_stopping)  # at once: its successor wants the port

    def _stop(self, server: uvicorn.Server, on_stopping: Callable[[], None]) -> None:
        if self.state == "stopping":
            return
        self.state = "stopping"
        log.info("no more requests are taken; those under way are answered")
        on_stopping()
        server.should_exit = True


class _Supervisor(Multiprocess):
    """uvicorn's, which here hands on signals also while it waits for its processes to end.

    Args:
        config: The server's.
        sockets: What it listens on.
        patience_s: How long a process may take to end.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket], patience_s: float) -> None:
        super().__init__(config, sockets)
        self._patience_s = patience_s

    def join_all(self) -> None:
        """Wait for all processes; one that does not end in time is killed."""
        until = time.monotonic() + self._patience_s
        while alive := [process for process in self.processes if process.process.is_alive()]:
            while self.signal_queue:
                number = self.signal_queue.pop(0)
                for process in alive:
                    if number in _SIGNALS and process.pid is not None:
                        os.kill(process.pid, number)
            if time.monotonic() > until:
                for process in alive:
                    log.error("process %s did not end in time and is killed", process.pid)
                    process.process.kill()
                break
            time.sleep(0.05)
        super().join_all()


def run(config: uvicorn.Config, settings: Settings) -> None:
    """Serve until a signal ends it, in this process or in as many as the settings say.

    Raises:
        SystemExit: It could not start.
    """
    if config.workers == 1:
        server = uvicorn.Server(config)
        # uvicorn raises a signal again that came before the service had started: it had nothing to lose
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        server.run()
        is_started = server.started
    else:
        patience_s = prestop_time_s(settings) + settings.drain_time_s + _GRACE_S
        supervisor = _Supervisor(config, [config.bind_socket()], patience_s)
        supervisor.run()
        is_started = all(process.exitcode != STARTUP_FAILURE for process in supervisor.processes)
    if not is_started:
        sys.exit(STARTUP_FAILURE)
