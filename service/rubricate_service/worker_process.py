"""One check worker's process, and the service's end of its pipe."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from rubricate_service.worker import Chunk, Results, main

NOT_BEGUN = -1
_POLL_S = 0.02
_HAS_PROC = Path("/proc/self/stat").exists()
_STALLED = 3
"""A worker that has not moved on for so many time limits, and hardly ran in that time, is stuck."""
_GRACE_S = 0.1
"""How long a worker may go on with a check that nobody waits for: most end sooner than a worker starts."""

Cause = Literal["killed", "too_slow", "late", "unwanted"]


class Died(Exception):
    """The worker stopped answering while it ran pair `number`, or before it began."""

    def __init__(self, number: int, cause: Cause, seconds: float = 0.0) -> None:
        super().__init__(number, cause, seconds)
        self.number = number
        self.cause = cause
        self.seconds = seconds


class WorkerProcess:
    """A worker process, started; it is fed and watched by one thread."""

    def __init__(self, context: Any, time_limit_s: float) -> None:
        self._progress = context.RawValue("q", 0)
        self._unwanted = context.RawValue("b", 0)
        self._pipe: Connection
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=main,
            args=(theirs, self._progress, self._unwanted, time_limit_s),
            daemon=True,
            name="rubricate-checks",
        )
        self._process.start()
        theirs.close()

    def wait_ready(self, timeout_s: float) -> None:
        """Block until the worker has loaded its data; raises `RuntimeError` when it does not."""
        try:
            if self._pipe.poll(timeout_s):
                self._pipe.recv()
                return
        except (EOFError, OSError):
            pass
        self.kill()
        raise RuntimeError("a check worker did not start; its own message is in the log above")

    def run(
        self,
        chunk: Chunk,
        limit_s: float,
        patience_s: float,
        take: Callable[[Results], None],
        is_wanted: Callable[[], bool],
    ) -> list[float]:
        """Give each part of a chunk's results to `take`; the seconds of each of its specs.

        Raises:
            Died: one check used more than `limit_s` of the processor (`too_slow`) or kept the others
                waiting for more than `patience_s` (`late`), or the worker died or stood still (`killed`),
                or did not end the check under way when it was not wanted any more (`unwanted`).
        """
        self._progress.value = NOT_BEGUN
        self._unwanted.value = 0
        try:
            self._pipe.send(chunk)
            while True:
                self._watch(limit_s, patience_s, is_wanted)
                results, seconds = self._pipe.recv()
                take(results)
                if seconds is not None:
                    return list(seconds)
        except (EOFError, OSError):
            raise Died(self._progress.value, "killed") from None

    def _watch(self, limit_s: float, patience_s: float, is_wanted: Callable[[], bool]) -> None:
        """Wait for a part of the answer, or for a reason to wait no longer (see `run`)."""
        if self._pipe.poll(_POLL_S):
            return  # nearly always
        number, began, burned = NOT_BEGUN, time.monotonic(), self._burned()
        left_at: float | None = None
        while not self._pipe.poll(_POLL_S):
            if left_at is None and not is_wanted():
                self._unwanted.value = 1
                left_at = time.monotonic()
            ran, used = time.monotonic() - began, self._burned() - burned
            if left_at is not None and time.monotonic() - left_at > _GRACE_S:
                raise Died(number, "unwanted")
            if self._progress.value != number:
                number, began, burned = self._progress.value, time.monotonic(), self._burned()
            elif used > limit_s:
                raise Died(number, "too_slow", used)
            elif ran > patience_s:
                raise Died(number, "late", ran)
            elif ran > _STALLED * limit_s and used < ran / 50:
                raise Died(number, "killed")

    def _burned(self) -> float:
        """Seconds of processor time that the process has used; where nobody tells, those of the clock.

        Raises:
            OSError: It is gone: killed, which says nothing about what it ran.
        """
        if not _HAS_PROC:
            return time.monotonic()
        fields = Path(f"/proc/{self._process.pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End the process now, whatever it does."""
        self._pipe.close()
        self._process.kill()
        self._process.join()
