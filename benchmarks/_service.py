"""A service of its own for a benchmark: a process of `rubricate serve`, and what it and its children hold."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import httpx2

_START_S = 60.0


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Service:
    """`rubricate serve` on a free port of 127.0.0.1. Use it in a `with` statement.

    Args:
        flags: Of `rubricate serve`, without a port.
        log: File for what it writes; by default that is thrown away.
        variables: Of its environment, beside this process' own.
    """

    def __init__(self, *flags: str, log: Path | None = None, **variables: str) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "rubricate_service", "serve", "--port", str(port), *flags]
        self._log = log or Path(os.devnull)
        self._variables = variables
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of its first process, whose session all its others belong to."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it is ready; exits when it is not within a minute."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=log,
                env=os.environ | self._variables,
                start_new_session=True,
            )
        until = time.monotonic() + _START_S
        while not self.is_ready():
            if self._process.poll() is not None or time.monotonic() > until:
                self._process.kill()
                sys.exit(f"the service did not start: {' '.join(self._command)}; see {self._log}")
            time.sleep(0.05)

    def is_ready(self) -> bool:
        """Whether `/readyz` says so."""
        try:
            return httpx2.get(f"{self.url}/readyz", timeout=5, trust_env=False).status_code == 200
        except httpx2.TransportError:
            return False

    def stop(self, patience_s: float = 90.0) -> None:
        """End it as a supervisor does, and wait for its end; kill it when that does not come."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def children(pid: int) -> list[int]:
    """Processes that a process started, the oldest first."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        if (fields := _stat(int(folder.name))) and int(fields[1]) == pid:
            found.append((int(fields[19]), int(folder.name)))  # by start time
    return [child for _, child in sorted(found)]


def of_session(pid: int) -> list[int]:
    """Living processes of the session that a process leads or led."""
    numbers = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
    return [n for n in numbers if (fields := _stat(n)) and int(fields[3]) == pid and fields[0] != b"Z"]


def command_of(pid: int) -> bytes:
    """Its command line; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def memory_mb(pid: int) -> float:
    """Resident memory of a process, 0 when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(lines[0].split()[1]) / 1024 if lines else 0.0


def _stat(pid: int) -> list[bytes]:
    """Fields of `/proc/PID/stat` from the state on (proc(5), field 3); none when it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []
