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

from rubricate_clients.faults import ErrorDetail
from rubricate_service.compat.barrier import Barrier
from rubricate_service.compat.errors import Unscored, invalid_at
from rubricate_service.compat.place import LocalPlace, Place
from rubricate_service.compat.redis_place import RedisPlace
from rubricate_service.compat.result import Result, rate
from rubricate_service.compat.settings import CompatSettings
from rubricate_service.compat.task import Context
from rubricate_service.compat.waits import Member
from rubricate_service.errors import InvalidRequest
from rubricate_service.http.admission import Admission
from rubricate_service.http.auth import tenant_of
from rubricate_service.http.idempotency import key_of
from rubricate_service.http.limits import check_shape
from rubricate_service.http.settings import Limits
from rubricate_service.pipeline import Scorer
from rubricate_service.routes.body import while_connected
from rubricate_service.settings import Settings

_LONG_BYTES = 256 << 10  # some 10 ms of reading

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
        self, request: Request, read: Callable[[Context], Sequence[Member]]
    ) -> Sequence[Member]:
        """What `read` makes of the request's rows; off the event loop, when they are long.

        The query's `run` keeps the groups of two runs apart.

        Raises:
            InvalidRequest: A row cannot be read, or is over a limit.
        """
        settings, limits = self._settings, request.app.state.limits
        run = request.query_params.get("run", "")
        context = Context(settings.group_size, settings.options, tenant_of(request), run, limits)

        def work() -> Sequence[Member]:
            members = read(context)
            for member in members:
                _check_limits(member, limits)
            return members

        is_long = len(await request.body()) > _LONG_BYTES
        return await asyncio.to_thread(work) if is_long else work()

    async def answer(self, request: Request, members: Sequence[Member], render: Render) -> Response:
        """The answer to a request with these members, once for each `Idempotency-Key`.

        Raises:
            Unscored: One is undecided, and the setting `compat.unscored` is `error`.
            ApiError: A group cannot meet.
        """
        state = request.app.state
        key = key_of(request, tenant_of(request))

        async def work() -> bytes:
            return to_json(render(await self._results(members)))  # a row may hold integers beyond 64 bits

        if key is None:
            body = await while_connected(request, work())
            return Response(body, media_type="application/json")
        once = await while_connected(request, state.idempotency.once(key, await request.body(), work))
        headers = {"Idempotent-Replayed": "true"} if once.is_replayed else None
        return Response(once.body, media_type="application/json", headers=headers)

    async def _results(self, members: Sequence[Member]) -> list[Result]:
        work = [asyncio.ensure_future(self.barrier.result(member)) for member in members]
        try:
            results = await asyncio.gather(*work)
            if self._settings.unscored == "error":
                _refuse_undecided(results)
        except BaseException:  # the client leaving, too
            await self._put_aside(members, work)
            raise
        return results

    async def _put_aside(self, members: Sequence[Member], work: Sequence[asyncio.Future[Result]]) -> None:
        """Keep what will not be handed over for the next try of this request."""
        for future in work:
            future.cancel()
        done = await asyncio.gather(*work, return_exceptions=True)
        for member, result in zip(members, done, strict=True):
            if isinstance(result, Result):
                await self.barrier.put_aside(member, result)


def _check_limits(member: Member, limits: Limits) -> None:
    try:
        check_shape(member.task.request([member.text]), limits)
    except InvalidRequest as fault:
        # told by the names of a group, which this body has under others
        raise invalid_at(
            "", *((d.path.removeprefix("groups[0]."), d.message) for d in fault.details)
        ) from None


def _refuse_undecided(results: Sequence[Result]) -> None:
    details = [
        ErrorDetail(
            path=fault.path if len(results) == 1 else f"[{index}].{fault.path}", message=fault.message
        )
        for index, result in enumerate(results)
        for fault in result.undecided
    ]
    if details:
        where = f"{details[0].path}: " if details[0].path else ""
        more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
        raise Unscored(f"the response could not be scored: {where}{details[0].message}{more}", details)


@asynccontextmanager
async def running_compat(settings: Settings, scorer: Scorer, admission: Admission) -> AsyncIterator[Compat]:
    """A `Compat` that is closed at the end."""
    barrier = Barrier(
        partial(rate, scorer, admission),
        _place(settings),
        timeout_s=settings.compat.group_timeout_s,
        settle_s=settings.deadline_s,
        most=settings.compat.group_waiting,
    )
    await barrier.open()
    try:
        yield Compat(barrier, settings.compat)
    finally:
        await barrier.close()


def _place(settings: Settings) -> Place | None:
    if settings.cache_is_redis:
        return RedisPlace(settings.cache, settings.compat.group_timeout_s)
    return LocalPlace(settings.compat.group_waiting) if settings.workers == 1 else None


def compat_of(request: Request) -> Compat:
    """The app's."""
    compat: Compat = request.app.state.compat
    return compat
