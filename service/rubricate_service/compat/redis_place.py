"""Where members meet who came to different processes: a Redis that all of them share.

A group that waits is a hash of seats, and each process has a list of answers that it reads. What must happen
at once (the last seat is taken and all of them are handed out) is a script. Nothing stays: a group that
nobody takes, as its processes died, is gone a little after its time-out.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar, cast
from uuid import uuid4

from pydantic import BaseModel, TypeAdapter
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from rubricate_service.cache.redis import redis_name
from rubricate_service.compat.errors import Unavailable
from rubricate_service.compat.place import RETRY_S, Answered, Seat
from rubricate_service.compat.result import Result
from rubricate_service.errors import told_without_texts

log = logging.getLogger("rubricate.compat")

T = TypeVar("T")

_GROUP, _ANSWERS, _ASIDE = "rubricate:group:", "rubricate:answers:", "rubricate:aside:"
_ROUND = "rubricate:round:"
_CONNECTIONS = 16
_PATIENCE_S = 5.0  # of one command; waiting for its turn at the connections included
_LISTEN_S = 1  # of one wait for answers
_RETRY_S = round(RETRY_S)  # the server counts whole seconds
_ANSWERS_S = 600  # after which answers for a process that died are gone

_JOIN = """
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('HLEN', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  return false
end
local seats = redis.call('HVALS', KEYS[1])
redis.call('DEL', KEYS[1])
return seats
"""
_TAKE = """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return {} end
local seats = redis.call('HVALS', KEYS[1])
redis.call('DEL', KEYS[1])
return seats
"""


class _Answer(BaseModel):
    name: str
    result: Result


_ANSWERS_OF = TypeAdapter(list[_Answer])
_TEXTS = TypeAdapter(list[str])


class RedisPlace:
    """A place in a Redis; see `Place`, whose methods it has.

    Args:
        url: ``redis://[[user]:password@]host[:port][/db]``, or ``rediss://`` for TLS.
        timeout_s: How long members wait for their group.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        self.host = uuid4().hex
        self._name = redis_name(url)
        self._ttl_ms = round((timeout_s + 2 * _PATIENCE_S) * 1000)
        self._redis = _client(url, _CONNECTIONS)
        # of its own: it waits at the server, and would keep others from their turn
        self._ear = _client(url, 1)
        self._join, self._take = map(self._redis.register_script, (_JOIN, _TAKE))
        self._listener: asyncio.Task[None] | None = None

    async def open(self, answered: Answered) -> None:  # noqa: D102
        self._listener = asyncio.create_task(self._listen(answered))

    async def join(self, key: str, seat: Seat, size: int) -> list[Seat] | None:  # noqa: D102
        arguments: list[str | int] = [seat.name, seat.model_dump_json(), size, self._ttl_ms]
        seats = await self._told(self._join(keys=[_GROUP + key], args=arguments))
        return None if seats is None else _seats(seats)

    async def take(self, key: str, seat: Seat) -> list[Seat]:  # noqa: D102
        return _seats(await self._told(self._take(keys=[_GROUP + key], args=[seat.name])))

    async def leave(self, key: str, seat: Seat) -> bool:  # noqa: D102
        return bool(await self._told(self._redis.hdel(_GROUP + key, seat.name)))

    async def deliver(self, answers: Sequence[tuple[Seat, Result]]) -> None:  # noqa: D102
        by_host: defaultdict[str, list[_Answer]] = defaultdict(list)
        for seat, result in answers:
            by_host[seat.host].append(_Answer(name=seat.name, result=result))
        async with self._redis.pipeline(transaction=False) as pipe:
            for host, own in by_host.items():
                pipe.rpush(_ANSWERS + host, _ANSWERS_OF.dump_json(own))
                pipe.expire(_ANSWERS + host, _ANSWERS_S)
            await self._told(pipe.execute())

    async def put(self, name: str, result: Result) -> None:  # noqa: D102
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.rpush(_ASIDE + name, result.model_dump_json())
            pipe.expire(_ASIDE + name, _RETRY_S)
            await self._told(pipe.execute())

    async def pop(self, name: str) -> Result | None:  # noqa: D102
        value = await self._told(cast("Awaitable[bytes | None]", self._redis.lpop(_ASIDE + name)))
        return None if value is None else Result.model_validate_json(value)

    async def keep(self, round: str, texts: Sequence[str]) -> None:  # noqa: D102
        value = _TEXTS.dump_json(list(texts))
        await self._told(self._redis.set(_ROUND + round, value, ex=_RETRY_S))

    async def kept(self, round: str) -> list[str] | None:  # noqa: D102
        getting = self._redis.getex(_ROUND + round, ex=_RETRY_S)
        value = await self._told(cast("Awaitable[bytes | None]", getting))
        return None if value is None else _TEXTS.validate_json(value)

    async def close(self) -> None:  # noqa: D102
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.wait({self._listener})
        await self._redis.aclose()
        await self._ear.aclose()

    async def _listen(self, answered: Answered) -> None:
        """Read the answers for this process, as long as it lives."""
        while not _is_cancelled():
            try:
                waiting = cast("Awaitable[Any]", self._ear.blpop([_ANSWERS + self.host], timeout=_LISTEN_S))
                async with asyncio.timeout(_LISTEN_S + _PATIENCE_S):
                    item = await waiting
                for answer in _ANSWERS_OF.validate_json(item[1]) if item else ():
                    answered(answer.name, answer.result)
            except (OSError, RedisError, TimeoutError) as error:
                log.warning("%s gives no answers for groups: %s", self._name, error)
                await asyncio.sleep(1.0)
            except Exception as error:  # its text may quote a response
                log.error("an answer for a group could not be read: %s", told_without_texts(error))  # noqa: TRY400

    async def _told(self, asked: Awaitable[T]) -> T:
        """What the server says, within the time that it has.

        Raises:
            Unavailable: It says nothing, or that it will not.
        """
        try:
            async with asyncio.timeout(_PATIENCE_S):
                answer = await asked
        except (OSError, RedisError, TimeoutError) as error:
            why = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise Unavailable(
                f"the members of a group meet in {self._name}, which does not answer ({why}); "
                "send the response again"
            ) from error
        if _is_cancelled():
            raise asyncio.CancelledError
        return answer


def _is_cancelled() -> bool:
    """Whether this task is to end: a cancellation while the client opens a connection is swallowed there."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _client(url: str, connections: int) -> Redis:
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=_PATIENCE_S,
        socket_connect_timeout=_PATIENCE_S,
        # the one retry is for a connection that was closed while it lay in the pool
        retry=Retry(NoBackoff(), 1),
    )
    return Redis.from_pool(pool)


def _seats(values: Sequence[bytes]) -> list[Seat]:
    return [Seat.model_validate_json(value) for value in values]
