"""A server in a process group of its own: started, waited for, ended, or killed without warning."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx2


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """A server on a free port of 127.0.0.1.

    Args:
        command: What starts it; ``--host`` and ``--port`` are added.
        env: Variables beside those of this process.
        health: Path that answers 200 as soon as the server can work.
        start_s: Seconds that it may take until then.
        log: File that takes its output.
    """

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], *, health: str, start_s: float, log: Path
    ) -> None:
        self._port = free_port()
        self._command = [*command, "--host", "127.0.0.1", "--port", str(self._port)]
        self._env = {**os.environ, **env}
        self._health = health
        self._start_s = start_s
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it unless it runs, and wait until it can work."""
        if self._process is not None:
            return
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=self._env, stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + self._start_s
        while not self._answers():
            code = self._process.poll()
            if code is not None or time.monotonic() > until:
                self.kill()
                state = f"ended with {code}" if code is not None else f"was not ready in {self._start_s:g} s"
                raise RuntimeError(f"{self._command[0]} {state}; the end of {self._log}:\n{self._tail()}")
            time.sleep(0.2)

    def stop(self) -> None:
        """Ask it to end, and kill what is left of its group."""
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(30)
            self.kill()

    def kill(self) -> None:
        """End its whole group at once, as a machine that fails does."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):  # the last of them has ended by itself
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            return httpx2.get(self.url + self._health, trust_env=False, timeout=5).status_code == 200
        except httpx2.TransportError:
            return False

    def _tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-15:])
