"""A pool of check workers that survives what checks do to a process.

Work is handed over by chunks of responses. A worker that dies, or stands still, costs only the check it
was running: the rest of its chunk runs again on a fresh worker, and so does that check, once. A check
that has used up its time (of the processor: a busy machine is not the response's fault) has its worker
killed and is settled without a second try. What is decided comes back in parts, so that a deadline costs
only what is not, and work that nobody waits for any more is stopped.

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
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from rubricate_service.errors import told_without_texts
from rubricate_service.telemetry.metrics import CHECK_SECONDS
from rubricate_service.telemetry.tracing import span
from rubricate_service.worker import (
    CheckFault,
    CheckSpec,
    Chunk,
    Evidence,
    Finding,
    Outcome,
    Results,
    built,
)
from rubricate_service.worker_process import NOT_BEGUN, Died, WorkerProcess

log = logging.getLogger("rubricate.pool")

_START_LIMIT_S = 120.0
_START_ATTEMPTS = 5
_LOSSES = 5
_SLOW_TWICE = 2
"""A pattern or rule that was too slow on so many responses of a request is not run on the others."""
Findings = list[list[Outcome]]
LATE = CheckFault("timeout", "no verdict by the deadline")
"""What stands in findings where the deadline came first."""


@dataclass(slots=True)
class _Job:
    chunk: Chunk
    deadline: float
    slow: Counter[CheckSpec]
    settled: Results = field(default_factory=dict)
    crashes: Counter[int] = field(default_factory=Counter)
    losses: int = 0
    done: Future[None] = field(default_factory=Future)


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
        self._context.set_forkserver_preload(["rubricate_service.preload", "rubricate_service.worker"])

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

    async def run(self, chunk: Chunk, deadline: float, slow: Counter[CheckSpec] | None = None) -> Findings:
        """Findings of every check of a chunk, in its order.

        A check that could not be decided is a `CheckFault`: `crashed` when it killed two workers,
        `too_slow` past the time limit, `timeout` when it kept the others waiting, `LATE` when the deadline
        came first.

        Args:
            chunk: Responses and their checks.
            deadline: On the event loop's clock, and when this returns at the latest. A single check may take
                at most a quarter of what is left until then, so that the rest of its chunk arrives in time.
            slow: How often each check was too slow, shared by the chunks of one request.
        """
        settled = await self._settled(chunk, deadline, slow)
        return _by_item(chunk, [settled.get(number, LATE) for number, _ in enumerate(chunk.pairs())])

    async def explain(self, chunk: Chunk, findings: Findings, deadline: float) -> list[list[Evidence]]:
        """Evidence for the findings of a chunk, none where there is nothing to show or it took too long.

        A verdict that a variant or a fault of the text decided does not come from the text as it is, so
        that spans of it would tell otherwise.
        """
        outcomes = [outcome for row in findings for outcome in row]
        skip = frozenset(number for number, outcome in enumerate(outcomes) if not _is_of_the_text(outcome))
        settled = await self._settled(replace(chunk, explain=True, skip=skip), deadline)
        return _by_item(chunk, [settled.get(number, ()) for number, _ in enumerate(outcomes)])

    async def _settled(
        self, chunk: Chunk, deadline: float, slow: Counter[CheckSpec] | None = None
    ) -> dict[int, Any]:
        """The results of a chunk that are there in time."""
        left = deadline - asyncio.get_running_loop().time()
        job = _Job(chunk, time.monotonic() + left, Counter() if slow is None else slow)
        self._jobs.put(job)
        try:
            with span("check", responses=len(chunk.items), checks=len(chunk.specs)):
                async with asyncio.timeout_at(deadline):
                    await asyncio.wrap_future(job.done)
        except TimeoutError:
            pass
        finally:
            job.done.cancel()  # nobody waits any more: a dispatcher drops it, or stops its worker
        return dict(job.settled)

    def _serve(self) -> None:
        """Body of a dispatcher thread: one worker's life, and its successors'."""
        worker: WorkerProcess | None = None
        try:
            worker = self._new_worker()
            self._alive += 1
        except Exception as error:
            log.error("a check worker could not be started: %s", told_without_texts(error))  # noqa: TRY400
        finally:
            self._ready.release()
        while (job := self._jobs.get()) is not None:
            if job.done.cancelled():
                continue
            try:
                worker = worker or self._new_worker()
                self._run(worker, job)
            except Died as death:
                if worker is not None:
                    worker.kill()
                worker = None
                self.restarts += 1
                self._settle(job, death)
                if job.losses < _LOSSES and not job.done.cancelled():
                    self._jobs.put(job)
            except Exception as error:
                if worker is not None:
                    worker.kill()
                worker = None
                log.error("a chunk of checks was lost: %s", told_without_texts(error))  # noqa: TRY400
                with suppress(InvalidStateError):  # nobody waits any more
                    job.done.set_exception(error)
        if worker is not None:
            worker.kill()

    def _new_worker(self) -> WorkerProcess:
        """A worker that is ready; one that dies while it starts gets a few successors."""
        for attempt in range(1, _START_ATTEMPTS + 1):
            worker = WorkerProcess(self._context, self._time_limit_s)
            try:
                worker.wait_ready(_START_LIMIT_S)
            except RuntimeError:
                if attempt == _START_ATTEMPTS:
                    raise
                log.warning("a check worker died while it started")
            else:
                break
        return worker

    def _run(self, worker: WorkerProcess, job: _Job) -> None:
        self._give_up_slow(job)
        left = max(0.0, job.deadline - time.monotonic())
        chunk = replace(job.chunk, skip=job.chunk.skip.union(job.settled))
        seconds = worker.run(
            chunk,
            self._time_limit_s,
            max(0.05, left / 4),
            job.settled.update,
            lambda: not job.done.cancelled(),
        )
        _count_seconds(chunk, seconds)
        with suppress(InvalidStateError):  # nobody waits any more
            job.done.set_result(None)

    def _settle(self, job: _Job, death: Died) -> None:
        if death.cause == "unwanted":
            return
        number = death.number
        if number == NOT_BEGUN or number in job.settled:  # killed between checks: none is to blame
            log.warning("a check worker was lost between checks")
            job.losses += 1
            if job.losses == _LOSSES:
                with suppress(InvalidStateError):
                    job.done.set_exception(RuntimeError(f"{_LOSSES} workers were lost on one chunk"))
            return
        pairs = list(job.chunk.pairs())
        _, spec = pairs[number]
        if job.chunk.explain:  # not looked for elsewhere either: it must not cost more than the verdicts
            log.warning("the evidence of %s was given up", spec.id)
            job.settled.update(
                {n: () for n, pair in enumerate(pairs) if pair[1] == spec and n not in job.settled}
            )
            return
        if death.cause == "too_slow":
            job.slow[spec] += 1
            job.settled[number] = CheckFault("too_slow", f"{spec.id} took longer than {death.seconds:.1f} s")
            log.warning("%s took longer than %.1f s on one response and was stopped", spec.id, death.seconds)
        elif death.cause == "late":
            job.slow[spec] += death.seconds >= self._time_limit_s
            message = f"{spec.id} was stopped after {death.seconds:.1f} s, as the request's deadline is near"
            job.settled[number] = CheckFault("timeout", message)
        else:
            job.crashes[number] += 1
            log.warning("a check worker was lost while it ran %s", spec.id)
            if job.crashes[number] > 1:
                job.settled[number] = CheckFault("crashed", f"two workers were lost while they ran {spec.id}")

    @staticmethod
    def _give_up_slow(job: _Job) -> None:
        """Settle what a rubric's own pattern or rule would take too long for once more.

        A check of ours is run on every response all the same: each is slow or not by its own text.
        """
        slow = {spec for spec, times in job.slow.items() if times >= _SLOW_TWICE and built(spec).raw_regex}
        for number, (_, spec) in enumerate(job.chunk.pairs()) if slow else ():
            if number not in job.settled and spec in slow:
                message = f"{spec.id} took too long on other responses of this request, and was not run again"
                job.settled[number] = CheckFault("too_slow", message)


def _count_seconds(chunk: Chunk, seconds: Sequence[float]) -> None:
    spent: dict[str, float] = {}
    for spec, of_spec in zip(chunk.specs, seconds, strict=True):
        suite = built(spec).suite
        spent[suite] = spent.get(suite, 0.0) + of_spec
    for suite, of_suite in spent.items():
        CHECK_SECONDS.labels(suite).inc(of_suite)


def _by_item(chunk: Chunk, results: Sequence[Any]) -> list[list[Any]]:
    left = iter(results)
    return [[next(left) for _ in item.specs] for item in chunk.items]


def _is_of_the_text(outcome: Outcome) -> bool:
    return isinstance(outcome, Finding) and outcome.reason is None and outcome.variant is None
