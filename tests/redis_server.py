"""A Redis of its own for a test: on a free port of 127.0.0.1, in a folder of its own, without persistence."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

needs_redis = pytest.mark.skipif(
    shutil.which("redis-server") is None, reason="there is no redis-server on the PATH"
)


class RedisServer:
    """A redis-server process that can be killed, frozen and started again on the same port."""

    def __init__(self, folder: Path, *flags: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1"]
        self._command += ["--dir", str(folder), "--save", "", *flags]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 10
        while not self._answers():
            assert time.monotonic() < until, "redis-server did not start"
            time.sleep(0.02)

    def _answers(self) -> bool:
        """Whether it speaks, be it to say that it wants a password; while it loads it says -LOADING."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1.0) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(100).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def freeze(self) -> None:
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()  # also ends one that is stopped
            self._process.wait(10)
            self._process = None

    def command(self, *words: bytes | str | int) -> Any:
        """What the server answers to a command."""
        with Redis.from_url(self.url, socket_timeout=5.0) as client:
            return client.execute_command(*words)

    def calls(self, name: str) -> int:
        """How often a command was given since the start."""
        return int(self.command("INFO", "commandstats").get(f"cmdstat_{name}", {"calls": 0})["calls"])


@contextmanager
def running_redis(folder: Path, *flags: str) -> Iterator[RedisServer]:
    server = RedisServer(folder, *flags)
    try:
        server.start()
        yield server
    finally:
        server.kill()
