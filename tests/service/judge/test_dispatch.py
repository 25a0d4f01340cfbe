"""Turns at a replica that wants to be left alone: whoever waits is called once that is over."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from rubricate_service.judge.concurrency import Limit
from rubricate_service.judge.dispatch import Dispatcher, Replica
from rubricate_service.judge.errand import Errand
from rubricate_service.judge.outlier import Outliers
from rubricate_service.judge.served import Manner
from rubricate_service.judge.usage import Usage

PATIENT = 20.0


@pytest.mark.parametrize("reads", range(1, 12))
def test_nobody_waits_for_ever_when_the_pause_ends_while_it_is_looked_at(reads: int) -> None:
    """The clock passes the end of the pause after so many looks at it, so also between any two of them."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        looks = itertools.count()
        limit = Limit(4, lambda: -1.0 if next(looks) < reads else loop.time())
        outliers = Outliers(loop.time)
        outliers.join("r")
        dispatcher = Dispatcher(outliers)
        dispatcher.add(Replica("r", None, limit))  # type: ignore[arg-type]  # nothing is sent
        limit.resumes_at = 0.0
        deadline = loop.time() + PATIENT
        errands = [Errand(Manner(prefix), Usage()) for prefix in (b"p", b"q", b"r")]
        async with asyncio.timeout(PATIENT):
            await asyncio.gather(*(dispatcher.turn(errand, deadline) for errand in errands))

    asyncio.run(main())
