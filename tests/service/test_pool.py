"""The worker pool: what a check does to its process costs that check alone."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import active_children
from multiprocessing.connection import Connection
from typing import Any

import pytest

from rubricate_service.pool import LATE, CheckPool, Findings
from rubricate_service.worker import CheckFault, CheckItem, CheckSpec, Chunk, Finding
from rubricate_service.worker_process import WorkerProcess

NO_COMMA = CheckSpec("punctuation:no_comma", b"{}")
# backtracks for ages on a run of a's that a b ends
ENDLESS = CheckSpec("keywords:existence", b'{"keywords":["(a+)+$"]}')
BAIT = "a" * 40 + "b"
SLOW = f"{'a' * 18}b"  # some 20 ms, or more on a busy machine


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


def signal_workers(number: signal.Signals) -> None:
    for worker in active_children():
        if worker.name == "rubricate-checks" and worker.pid is not None:
            with suppress(ProcessLookupError):  # it is dead already
                os.kill(worker.pid, number)


WORKERS: list[WorkerProcess] = []


@pytest.fixture(scope="module", autouse=True)
def _known_workers() -> Iterator[None]:
    """Keep every worker that is made, so that a test can tell which one runs what."""
    run_chunk = WorkerProcess.run

    def run(self: WorkerProcess, *args: Any) -> Any:
        if self not in WORKERS:
            WORKERS.append(self)
        return run_chunk(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerProcess, "run", run)
        yield


@pytest.fixture(scope="module")
def pool(loop: asyncio.AbstractEventLoop) -> Iterator[CheckPool]:
    pool = CheckPool(2, time_limit_s=1.0)
    loop.run_until_complete(pool.start())
    yield pool
    loop.run_until_complete(pool.close())


def chunk(texts: list[str], *specs: CheckSpec) -> Chunk:
    return Chunk(specs, tuple(CheckItem(t, "", tuple(range(len(specs)))) for t in texts), "strict", False)


def run(loop: asyncio.AbstractEventLoop, pool: CheckPool, work: Chunk, limit_s: float = 60.0) -> Findings:
    return loop.run_until_complete(pool.run(work, loop.time() + limit_s))


def holds(findings: Findings) -> list[list[bool | str]]:
    return [[f.holds if isinstance(f, Finding) else f.kind for f in row] for row in findings]


def test_findings_are_in_the_order_of_the_chunk(loop: asyncio.AbstractEventLoop, pool: CheckPool) -> None:
    assert holds(run(loop, pool, chunk(["a", "b, c"], NO_COMMA, NO_COMMA))) == [[True] * 2, [False] * 2]


def test_a_check_that_never_ends_costs_only_itself(loop: asyncio.AbstractEventLoop, pool: CheckPool) -> None:
    before = pool.restarts
    found = run(loop, pool, chunk(["a, b", BAIT, "c"], NO_COMMA, ENDLESS))
    assert holds(found) == [[False, False], [True, "too_slow"], [True, False]]
    assert pool.restarts == before + 1
    slow = found[1][1]
    assert isinstance(slow, CheckFault)
    assert "keywords:existence took longer than" in slow.message


def test_an_endless_check_leaves_the_rest_of_its_chunk_time(
    loop: asyncio.AbstractEventLoop, pool: CheckPool
) -> None:
    """With a deadline nearer than the time limit it is stopped early, which says nothing of the text."""
    began = time.monotonic()
    found = holds(run(loop, pool, chunk([BAIT, "c"], ENDLESS, NO_COMMA), limit_s=2.0))
    assert found == [["timeout", True], [False, True]]
    assert time.monotonic() - began < 2.0


def test_a_pattern_that_was_slow_twice_is_not_run_again(
    loop: asyncio.AbstractEventLoop, pool: CheckPool
) -> None:
    before = pool.restarts
    found = run(loop, pool, chunk([BAIT, f"a{BAIT}", f"aa{BAIT}", "c"], ENDLESS, NO_COMMA))
    assert holds(found) == [["too_slow", True]] * 4
    assert pool.restarts == before + 2
    assert isinstance(found[3][0], CheckFault)
    assert "not run again" in found[3][0].message


def test_a_killed_worker_loses_nothing(loop: asyncio.AbstractEventLoop, pool: CheckPool) -> None:
    async def kill_while_running() -> list[Findings]:
        texts = [f"text {i}, with more" for i in range(200)]
        jobs = [asyncio.ensure_future(pool.run(chunk(texts, NO_COMMA), loop.time() + 20)) for _ in range(20)]
        for _ in range(4):
            await asyncio.sleep(0.01)
            signal_workers(signal.SIGKILL)
        return await asyncio.gather(*jobs)

    before = pool.restarts
    for findings in loop.run_until_complete(kill_while_running()):
        assert holds(findings) == [[False]] * 200
    assert pool.restarts > before


def kill_during(pair: int, kills: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill the worker each time it runs that pair, up to so many times."""
    polled = Connection.poll
    left = [kills]

    def poll(pipe: Connection, timeout: float | None = 0.0) -> bool:
        for worker in list(WORKERS):
            if worker._pipe is pipe and worker._progress.value == pair and left[0]:
                left[0] -= 1
                worker._process.kill()
                worker._process.join()
        return polled(pipe, timeout)

    monkeypatch.setattr(Connection, "poll", poll)


@pytest.mark.parametrize(("kills", "verdict"), [(1, "too_slow"), (2, "crashed")])
def test_a_check_is_given_up_when_two_workers_were_lost_with_it(
    loop: asyncio.AbstractEventLoop,
    pool: CheckPool,
    monkeypatch: pytest.MonkeyPatch,
    kills: int,
    verdict: str,
) -> None:
    kill_during(3, kills, monkeypatch)
    found = run(loop, pool, chunk(["a, b", BAIT, "c"], NO_COMMA, ENDLESS))
    assert holds(found) == [[False, False], [True, verdict], [True, False]]


def test_a_worker_that_is_killed_between_two_looks_at_it_is_no_slow_check(
    loop: asyncio.AbstractEventLoop, pool: CheckPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    burned = WorkerProcess._burned
    looks: Counter[WorkerProcess] = Counter()

    def killed(worker: WorkerProcess) -> float:
        looks[worker] += worker._progress.value == 2
        if looks[worker] == 5:  # by now each look is compared with one before
            worker._process.kill()
            worker._process.join()
        return burned(worker)

    monkeypatch.setattr(WorkerProcess, "_burned", killed)
    found = run(loop, pool, chunk(["c", BAIT], ENDLESS, NO_COMMA))
    assert holds(found) == [[False, True], ["crashed", True]]


@pytest.mark.parametrize("fate", [signal.SIGKILL, signal.SIGSTOP])
def test_idle_workers_that_are_lost_are_replaced_and_no_check_is_blamed(
    loop: asyncio.AbstractEventLoop, pool: CheckPool, fate: signal.Signals
) -> None:
    signal_workers(fate)
    assert holds(run(loop, pool, chunk(["c"], NO_COMMA))) == [[True]]


def test_the_loop_is_free_while_checks_run(loop: asyncio.AbstractEventLoop, pool: CheckPool) -> None:
    async def lag() -> float:
        job = asyncio.ensure_future(pool.run(chunk([BAIT], ENDLESS), loop.time() + 20))
        worst = 0.0
        while not job.done():
            began = loop.time()
            await asyncio.sleep(0.005)
            worst = max(worst, loop.time() - began)
        return worst

    # a loop that ran the check itself would stand still for its whole second
    assert loop.run_until_complete(lag()) < 0.9


def test_a_chunk_that_nobody_waits_for_does_not_keep_its_worker(
    loop: asyncio.AbstractEventLoop, pool: CheckPool
) -> None:
    """A client that left had its checks run to the end, for as long as they took."""

    async def leave() -> float:
        work = chunk([f"{n} {SLOW}" for n in range(400)], ENDLESS)
        jobs = [asyncio.ensure_future(pool.run(work, loop.time() + 100)) for _ in range(pool.workers)]
        await asyncio.sleep(0.3)
        for job in jobs:
            job.cancel()
        began = loop.time()
        assert holds(await pool.run(chunk(["a"], NO_COMMA), loop.time() + 60)) == [[True]]
        return loop.time() - began

    assert loop.run_until_complete(leave()) < 5.0


def test_a_stuck_check_that_nobody_waits_for_does_not_keep_its_worker(
    loop: asyncio.AbstractEventLoop,
) -> None:
    async def leave() -> float:
        pool = CheckPool(1, time_limit_s=60.0)
        await pool.start()
        try:
            job = asyncio.ensure_future(pool.run(chunk([BAIT], ENDLESS), loop.time() + 1000))
            await asyncio.sleep(0.3)
            job.cancel()
            began = loop.time()
            assert holds(await pool.run(chunk(["a"], NO_COMMA), loop.time() + 60)) == [[True]]
            return loop.time() - began
        finally:
            await pool.close()

    assert loop.run_until_complete(leave()) < 10.0


def test_what_is_decided_by_the_deadline_is_handed_over(
    loop: asyncio.AbstractEventLoop, pool: CheckPool
) -> None:
    """A chunk that was not whole by then was lost as a whole."""
    began = time.monotonic()
    found = run(loop, pool, chunk([f"{n} {SLOW}" for n in range(400)], NO_COMMA, ENDLESS), limit_s=2.0)
    assert time.monotonic() - began < 5.0
    assert holds(found)[0][0] is True
    assert found[-1] == [LATE, LATE]
    decided = [row for row in found if row[0] is not LATE]
    assert found[: len(decided)] == decided


def test_evidence_that_never_ends_leaves_the_verdict_and_the_evidence_of_others(
    loop: asyncio.AbstractEventLoop, pool: CheckPool
) -> None:
    """The first match decides quickly; to look for the others takes for ever."""
    first_is_quick = CheckSpec("keywords:existence", b'{"keywords":["x|(a+)+$"]}')
    work = chunk(["x y", f"x {BAIT}", "x, y"], NO_COMMA, first_is_quick)
    found = run(loop, pool, work)
    assert holds(found) == [[True, True], [True, True], [False, True]]
    evidence = loop.run_until_complete(pool.explain(work, found, loop.time() + 20))
    assert [[len(spans) for spans in row] for row in evidence] == [[0, 1], [0, 0], [1, 0]]
