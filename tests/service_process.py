"""The service as an operator starts it: a process of its own on a free port of 127.0.0.1."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx2

PATIENCE_S = 60.0


class ServiceProcess:
    """A running `rubricate serve`.

    Attributes:
        url: Its address.
        process: Its first process; with several workers, their supervisor.
    """

    def __init__(
        self, folder: Path, *flags: str, stderr: int | IO[bytes] | None = None, **variables: str
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "rubricate_service", "serve", "--port", str(port)]
        self._log = folder / "service.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--cache", str(folder / "verdicts.db"), "--check-workers", "1", *flags],
                env={**os.environ, "RUBRICATE_JUDGE_CANARIES": "false", **variables},
                stderr=log if stderr is None else stderr,
            )
        self.until(lambda: self.get("/readyz").status_code == 200)

    def get(self, path: str) -> httpx2.Response:
        """The answer to a GET."""
        return httpx2.get(self.url + path, timeout=PATIENCE_S, trust_env=False)

    def score(self, body: Mapping[str, Any]) -> httpx2.Response:
        """The answer to one attempt to score; a lost connection raises."""
        return httpx2.post(f"{self.url}/v1/score", json=body, timeout=PATIENCE_S, trust_env=False)

    def metric(self, name: str, **labels: str) -> float:
        """Sum of a metric's samples that have these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        samples = re.findall(rf"^{name}(\{{.*\}})? (\S+)$", self.get("/metrics").text, re.MULTILINE)
        return sum(float(value) for found, value in samples if all(label in found for label in wanted))

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until it holds; a lost connection means not yet."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if condition():
                    return
            except httpx2.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"it did not come about; exit status {self.process.poll()}\n{self.log()}")

    def workers(self) -> list[int]:
        """Process ids of its uvicorn processes, when there are several."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def log(self) -> str:
        """What it has logged."""
        return self._log.read_text(errors="replace")

    def terminate(self) -> None:
        """Send SIGTERM, as an orchestrator does."""
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def serving(
    folder: Path, *flags: str, stderr: int | IO[bytes] | None = None, **variables: str
) -> Iterator[ServiceProcess]:
    """A running service, which has ended afterwards."""
    service = ServiceProcess(folder, *flags, stderr=stderr, **variables)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.process.send_signal(signal.SIGINT)
            try:
                service.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                service.process.kill()
                service.process.wait()
