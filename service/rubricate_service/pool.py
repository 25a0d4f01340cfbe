"""A pool of check workers that survives what checks do to a process.

Work is handed over by chunks of responses. A worker that dies costs only the check it was running:
the rest of its chunk runs again on a fresh worker, and so does that check, once. A check that runs
longer than the time limit has its worker killed and is settled without a second try.

The standard library's executor breaks as a whole when one worker dies, and none with a fitting
licence kills a stuck worker, hence this small one.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import queue
import threading
import time
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

from rubricate_service.worker import CheckFault, Chunk, Outcome, main

log = logging.getLogger("rubricate.pool")

_POLL_S = 0.02
_START_LIMIT_S = 120.0
_START_ATTEMPTS = 5
_NOT_BEGUN = -1
_LOSSES = 5

Findings = list[list[Outcome]]


@dataclass(slots=True)
class _Job:
    chunk: Chunk
    deadline: float
    settled: dict[tuple[int, int], Outcome] = field(default_factory=dict)
    crashes: dict[tuple[int, int], int] = field(default_factory=dict)
    losses: int = 0
    result: Future[Findings] = field(default_factory=Future)


class _Died(Exception):
    """The worker stopped answering while it ran pair `number`, or before it began."""

    def __init__(self, number: int, too_slow: float | None) -> None:
        super().__init__(number)
        self.number = number
        self.too_slow = too_slow


class _Worker:
    """One worker process and this end of its pipe."""

    def __init__(self, context: Any, time_limit_s: float) -> None:
        self._progress = context.RawValue("q", 0)
        self._pipe: Connection
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=main, args=(theirs, self._progress, time_limit_s), daemon=True, name="rubricate-checks"
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

    def run(self, chunk: Chunk, time_limit_s: float) -> list[list[Outcome | None]]:
        """Findings of a chunk; raises `_Died` when the worker dies or one check is too slow."""
        self._progress.value = number = _NOT_BEGUN
        since = time.monotonic()
        try:
            self._pipe.send(chunk)
            while not self._pipe.poll(_POLL_S):
                if self._progress.value != number:
                    number, since = self._progress.value, time.monotonic()
                elif (ran := time.monotonic() - since) > time_limit_s:
                    self.kill()
                    raise _Died(number, too_slow=ran)
            findings: list[list[Outcome | None]] = self._pipe.recv()
        except (EOFError, OSError):
            number = self._progress.value
            self.kill()
            raise _Died(number, too_slow=None) from None
        return findings

    def kill(self) -> None:
        """End the process now, whatever it does."""
        self._pipe.close()
        self._process.kill()
        self._process.join()


class CheckPool:
    """`workers` processes that run checks; `time_limit_s` bounds a single check on a single response."""

    def __init__(self, workers: int, time_limit_s: float = 5.0) -> None:
        self.workers = workers
        self.restarts = 0
        self._time_limit_s = time_limit_s
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._ready = threading.Semaphore(0)
        self._alive = 0
        # Forking a process that has threads is unsafe, and spawning pays for all imports each time.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["rubricate_service.worker"])

    async def start(self) -> None:
        """Start the workers and wait until each has its data loaded."""
        for number in range(self.workers):
            thread = threading.Thread(target=self._serve, name=f"checks-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)
        for _ in range(self.workers):
            await asyncio.to_thread(self._ready.acquire)
        if self._alive == 0:
            raise RuntimeError("no check worker could be started; the log says why")

    async def close(self) -> None:
        """Stop all workers; chunks that wait are abandoned."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    @property
    def alive(self) -> int:
        """Number of workers that take work."""
        return self._alive

    async def run(self, chunk: Chunk, deadline: float) -> Findings:
        """Findings of every check of a chunk, in its order.

        A check that could not be decided is a `CheckFault`: `crashed` when it killed two workers,
        `too_slow` past the time limit. `deadline` is on the event loop's clock: a single check may use
        at most a quarter of what is left until then, so that the rest of its chunk arrives in time.
        """
        left = deadline - asyncio.get_running_loop().time()
        job = _Job(chunk, time.monotonic() + left)
        self._jobs.put(job)
        try:
            return await asyncio.wrap_future(job.result)
        finally:
            job.result.cancel()  # nobody waits any more: a dispatcher drops it

    def _serve(self) -> None:
        """Body of a dispatcher thread: one worker's life, and its successors'."""
        worker: _Worker | None = None
        try:
            worker = self._new_worker()
            self._alive += 1
        except Exception:
            log.exception("a check worker could not be started")
        finally:
            self._ready.release()
        while (job := self._jobs.get()) is not None:
            if job.result.cancelled():
                continue
            try:
                worker = worker or self._new_worker()
                self._run(worker, job)
            except _Died as death:
                worker = None
                self.restarts += 1
                self._settle(job, death)
                if job.losses < _LOSSES:
                    self._jobs.put(job)
            except Exception as error:
                worker = None
                log.exception("a chunk of checks was lost")
                with suppress(InvalidStateError):  # nobody waits any more
                    job.result.set_exception(error)
        if worker is not None:
            worker.kill()

    def _new_worker(self) -> _Worker:
        """A worker that is ready; one that dies while it starts gets a few successors."""
        for attempt in range(1, _START_ATTEMPTS + 1):
            worker = _Worker(self._context, self._time_limit_s)
            try:
                worker.wait_ready(_START_LIMIT_S)
            except RuntimeError:
                if attempt == _START_ATTEMPTS:
                    raise
                log.warning("a check worker died while it started")
            else:
                break
        return worker

    def _run(self, worker: _Worker, job: _Job) -> None:
        left = max(0.0, job.deadline - time.monotonic())
        chunk = replace(job.chunk, skip=frozenset(job.settled))
        found = worker.run(chunk, max(0.05, min(self._time_limit_s, left / 4)))
        findings = [
            [job.settled[(i, p)] if outcome is None else outcome for p, outcome in enumerate(row)]
            for i, row in enumerate(found)
        ]
        with suppress(InvalidStateError):  # nobody waits any more
            job.result.set_result(findings)

    def _settle(self, job: _Job, death: _Died) -> None:
        if death.number == _NOT_BEGUN:  # killed while it was idle, say: no check is to blame
            log.warning("a check worker was lost before it began")
            job.losses += 1
            if job.losses == _LOSSES:
                with suppress(InvalidStateError):
                    job.result.set_exception(RuntimeError(f"{_LOSSES} workers were lost on one chunk"))
            return
        pair = list(job.chunk.pairs())[death.number]
        check = job.chunk.specs[job.chunk.items[pair[0]].specs[pair[1]]].id
        if death.too_slow is not None:
            job.settled[pair] = CheckFault("too_slow", f"{check} took longer than {death.too_slow:.1f} s")
            log.warning("%s took longer than %.1f s on one response and was stopped", check, death.too_slow)
            return
        job.crashes[pair] = job.crashes.get(pair, 0) + 1
        log.warning("a check worker died while it ran %s", check)
        if job.crashes[pair] > 1:
            job.settled[pair] = CheckFault("crashed", f"{check} ended its worker process twice")
