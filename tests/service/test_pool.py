"""The worker pool: what a check does to its process costs that check alone."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing import active_children
from multiprocessing.connection import Connection
from typing import Any

import pytest

from rubricate_service.pool import CheckPool, Findings, _Worker
from rubricate_service.worker import CheckFault, CheckItem, CheckSpec, Chunk, Finding

NO_COMMA = CheckSpec("punctuation:no_comma", b"{}")
# backtracks for ages on a run of a's that a b ends
ENDLESS = CheckSpec("keywords:existence", b'{"keywords":["(a+)+$"]}')
BAIT = "a" * 40 + "b"


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


def signal_workers(number: signal.Signals) -> None:
    for worker in active_children():
        if worker.name == "rubricate-checks" and worker.pid is not None:
            os.kill(worker.pid, number)


WORKERS: list[_Worker] = []


@pytest.fixture(scope="module", autouse=True)
def _known_workers() -> Iterator[None]:
    """Keep every worker that is made, so that a test can tell which one runs what."""
    run_chunk = _Worker.run

    def run(self: _Worker, *args: Any) -> Any:
        if self not in WORKERS:
            WORKERS.append(self)
        return run_chunk(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Worker, "run", run)
        yield


@pytest.fixture(scope="module")
def pool(loop: asyncio.AbstractEventLoop) -> Iterator[CheckPool]:
    pool = CheckPool(2, time_limit_s=1.0)
    loop.run_until_complete(pool.start())
    yield pool
    loop.run_until_complete(pool.close())


def chunk(texts: list[str], *specs: CheckSpec) -> Chunk:
    return Chunk(specs, tuple(CheckItem(t, "", tuple(range(len(specs)))) for t in texts), "strict", False)


def run(loop: asyncio.AbstractEventLoop, pool: CheckPool, work: Chunk, limit_s: float = 20.0) -> Findings:
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
