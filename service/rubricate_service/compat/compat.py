"""What the drop-in routes share: defaults from the settings, the barrier, what becomes of the undecided."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from pydantic_core import to_json

from rubricate_service.compat.barrier import Barrier
from rubricate_service.compat.place import LocalPlace, Place
from rubricate_service.compat.redis_place import RedisPlace
from rubricate_service.compat.refusals import check_count, check_members, refuse_undecided
from rubricate_service.compat.result import Result, rate
from rubricate_service.compat.room import Room
from rubricate_service.compat.settings import CompatSettings
from rubricate_service.compat.task import Context
from rubricate_service.compat.waits import Member
from rubricate_service.http.admission import Admission
from rubricate_service.http.auth import tenant_of
from rubricate_service.http.idempotency import key_of
from rubricate_service.pipeline import Scorer
from rubricate_service.routes.once import answer_once
from rubricate_service.settings import Settings

_LONG_BYTES = 256 << 10  # some 10 ms of reading
_AT_ONCE = 64  # members that begin to wait, before others have their turn: some 10 ms
_WAITING_BYTES = 512 << 20
"""How much may wait in one process; measured, the process then takes about twice that."""

Render = Callable[[Sequence[Result]], Any]
"""Makes the JSON of an answer."""


class Compat:
    """Scores what the drop-in routes are sent.

    Args:
        barrier: Where responses meet their group.
        settings: The service's.

    Attributes:
        barrier: The same, with its gauges.
    """

    def __init__(self, barrier: Barrier, settings: CompatSettings) -> None:
        self.barrier = barrier
        self._settings = settings

    async def members(
        self, request: Request, count: int, read: Callable[[int, Context], Member]
    ) -> Sequence[Member]:
        """What `read` makes of each of the request's rows; off the event loop, when they are long.

        The query's `run` keeps the groups of two runs apart.

        Args:
            request: The request, its body read.
            count: How many rows it has.
            read: Makes a member of the row at a position.

        Raises:
            InvalidRequest: A row cannot be read, or the request is over a limit.
        """
        settings, limits = self._settings, request.app.state.limits
        run = request.query_params.get("run", "")
        context = Context(settings.group_size, settings.options, tenant_of(request), run, limits)
        check_count(count, limits)

        def work() -> Sequence[Member]:
            members = [read(index, context) for index in range(count)]
            check_members(members, limits)
            return members

        is_long = len(await request.body()) > _LONG_BYTES
        return await asyncio.to_thread(work) if is_long else work()

    async def answer(self, request: Request, members: Sequence[Member], render: Render) -> Response:
        """The answer to a request with these members, once for each `Idempotency-Key`.

        Raises:
            FaultyRubrics: One cannot be decided by the fault of its rubrics, and the setting
                `compat.unscored` is `error`.
            Unscored: One is undecided for another reason, likewise.
            ApiError: A group cannot meet.
        """

        async def work() -> bytes:
            return to_json(render(await self._results(members)))  # a row may hold integers beyond 64 bits

        return await answer_once(request, key_of(request, tenant_of(request)), work)

    async def _results(self, members: Sequence[Member]) -> list[Result]:
        work = []
        try:
            for start in range(0, len(members), _AT_ONCE):
                some = members[start : start + _AT_ONCE]
                work += [asyncio.ensure_future(self.barrier.result(member)) for member in some]
                await asyncio.sleep(0)  # others have their turn
            results = await asyncio.gather(*work)
            if self._settings.unscored == "error":
                refuse_undecided(members, results)
        except BaseException:  # the client leaving, too
            await self._put_aside(members, work)
            raise
        return results

    async def _put_aside(self, members: Sequence[Member], work: Sequence[asyncio.Future[Result]]) -> None:
        """Keep what will not be handed over for the next try of this request."""
        for future in work:
            future.cancel()
        done = await asyncio.gather(*work, return_exceptions=True)
        for member, result in zip(members, done, strict=False):  # it may have ended before all had begun
            if isinstance(result, Result):
                await self.barrier.put_aside(member, result)


@asynccontextmanager
async def running_compat(settings: Settings, scorer: Scorer, admission: Admission) -> AsyncIterator[Compat]:
    """A `Compat` that is closed at the end."""
    barrier = Barrier(
        partial(rate, scorer, admission),
        _place(settings),
        Room(settings.compat.group_waiting, _WAITING_BYTES),
        timeout_s=settings.compat.group_timeout_s,
        settle_s=settings.deadline_s,
    )
    await barrier.open()
    try:
        yield Compat(barrier, settings.compat)
    finally:
        await barrier.close()


def _place(settings: Settings) -> Place | None:
    if settings.cache_is_redis:
        return RedisPlace(settings.cache, settings.compat.group_timeout_s)
    return LocalPlace(settings.compat.group_waiting, _WAITING_BYTES) if settings.workers == 1 else None


def compat_of(request: Request) -> Compat:
    """The app's."""
    compat: Compat = request.app.state.compat
    return compat
