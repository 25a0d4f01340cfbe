from __future__ import annotations

import asyncio

import pytest
from scripted_engine import run

from rubricate_service.judge.flight import Flight, Grounded, SingleFlight


class Work:
    """Counts how often it is begun and cancelled, and ends when it is told."""

    def __init__(self) -> None:
        self.begun = self.cancelled = 0
        self.release = asyncio.Event()

    async def __call__(self, flight: Flight[int]) -> int:
        self.begun += 1
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            await asyncio.sleep(0.005)  # as closing a connection may take
            raise
        return self.begun


async def fly(
    flights: SingleFlight[int], work: Work, seconds: float = 5.0, key: str = "key"
) -> tuple[int, bool]:
    deadline = asyncio.get_running_loop().time() + seconds
    flight, joined = flights.board(key, work, deadline)
    return await flight.wait(deadline), joined


def test_identical_work_is_done_once() -> None:
    async def test() -> None:
        flights, work = SingleFlight[int](), Work()
        asked = [asyncio.create_task(fly(flights, work)) for _ in range(50)]
        await asyncio.sleep(0)
        work.release.set()
        results = await asyncio.gather(*asked)
        assert results == [(1, False)] + [(1, True)] * 49
        assert await fly(flights, work) == (2, False)  # what has landed is not joined

    run(test())


def test_other_keys_are_other_work() -> None:
    async def test() -> None:
        flights, work = SingleFlight[int](), Work()
        work.release.set()
        assert await asyncio.gather(fly(flights, work, key="a"), fly(flights, work, key="b"))
        assert work.begun == 2

    run(test())


@pytest.mark.parametrize("first_leaves_by", ["cancellation", "deadline"])
def test_one_who_leaves_disturbs_no_other(first_leaves_by: str) -> None:
    async def test() -> None:
        flights, work = SingleFlight[int](), Work()
        first = asyncio.create_task(fly(flights, work, 0.05 if first_leaves_by == "deadline" else 5.0))
        await asyncio.sleep(0)
        other = asyncio.create_task(fly(flights, work))
        await asyncio.sleep(0)
        if first_leaves_by == "cancellation":
            first.cancel()
        (left,) = await asyncio.gather(first, return_exceptions=True)
        assert isinstance(left, asyncio.CancelledError if first_leaves_by == "cancellation" else TimeoutError)
        work.release.set()
        assert await other == (1, True)
        assert work.cancelled == 0

    run(test())


def test_the_last_to_leave_cancels_the_work_and_nobody_joins_it_then() -> None:
    async def test() -> None:
        flights, work = SingleFlight[int](), Work()
        asked = [asyncio.create_task(fly(flights, work)) for _ in range(3)]
        await asyncio.sleep(0)
        for task in asked:
            task.cancel()
        await asyncio.wait(asked[:1])
        work.release.set()
        assert await fly(flights, work) == (2, False)
        await asyncio.wait(asked)
        assert (work.begun, work.cancelled) == (2, 1)

    run(test())


def test_work_that_ends_late_does_not_unseat_its_successor() -> None:
    async def test() -> None:
        flights, work = SingleFlight[int](), Work()
        left = asyncio.create_task(fly(flights, work))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.wait([left])
        successor = asyncio.create_task(fly(flights, work))
        await asyncio.sleep(0.02)  # the work that was left ends meanwhile
        joiner = asyncio.create_task(fly(flights, work))
        await asyncio.sleep(0)
        work.release.set()
        assert await successor == (2, False)
        assert await joiner == (2, True)

    run(test())


def test_work_that_never_began_can_be_left() -> None:
    async def test() -> None:
        flights, work = SingleFlight[int](), Work()
        with pytest.raises(TimeoutError):
            await fly(flights, work, seconds=-1)
        work.release.set()
        assert await fly(flights, work) == (work.begun, False)

    run(test())


def test_a_longer_deadline_moves_that_of_the_work() -> None:
    async def test() -> None:
        flights, work = SingleFlight[int](), Work()
        first, _ = flights.board("key", work, 10.0)
        second, _ = flights.board("key", work, 20.0)
        waiting = [asyncio.create_task(f.wait(d)) for f, d in ((first, 1e9), (second, 2e9))]
        await asyncio.sleep(0)
        assert first is second
        assert first.deadline == 2e9
        work.release.set()
        assert await asyncio.gather(*waiting) == [1, 1]

    run(test())


def test_closing_is_not_the_waiters_own_cancellation() -> None:
    async def test() -> None:
        flights, work = SingleFlight[int](), Work()
        asked = asyncio.create_task(fly(flights, work))
        await asyncio.sleep(0.01)
        await flights.close()
        with pytest.raises(Grounded):
            await asked
        assert work.cancelled == 1

    run(test())
