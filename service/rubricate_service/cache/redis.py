"""The shared store: a Redis that all replicas of the service use.

Whatever is asked for a batch is one round trip and takes 0.2 s at most. A server that is slow, frozen or
dead costs that once: from then on it is left alone until it answers a ping. Expiry is the server's, and so
is the bound on memory: ``maxmemory`` with the policy ``allkeys-lru`` drops what was not used for long; a
full server without such a policy refuses new verdicts and goes on giving the old ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from rubricate_service.cache.breaker import Breaker
from rubricate_service.cache.store import StoreDown, StoreError, StoreStats

PATIENCE_S = 0.2
"""Limit of everything that is asked of the server, connecting and the one retry included."""

_PARTS = 20  # in which that time is counted
# What goes in one round trip takes some 10 ms when all is well (2 cores, loopback; most of it is our side's)
_KEYS = 5_000  # of one command
_COMMANDS = 500
_VALUES = b"rubricate:value:"
_LEASES = b"rubricate:lease:"


class RedisStore:
    """Keys and values in a Redis; also leases on keys, for single-flight between replicas.

    All methods raise ``StoreDown`` when the server does not answer, and ``StoreError`` when it answers that
    it will not.

    Args:
        url: ``redis://[[user]:password@]host[:port][/db]``, or ``rediss://`` for TLS.
        ttl_s: Seconds after which the server forgets a value.
    """

    def __init__(self, url: str, *, ttl_s: int = 30 * 86400):
        self.name = redis_name(url)
        self._ttl_s = ttl_s
        self._redis = Redis.from_url(
            url,
            # `_patience` bounds all of it; these would take a busy event loop for a slow server
            socket_timeout=None,
            socket_connect_timeout=None,
            # the one retry is for a connection that was closed while it lay in the pool
            retry=Retry(NoBackoff(), 1),
        )
        self._breaker = Breaker(self._ping)

    async def get_many(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there."""
        found: dict[bytes, bytes] = {}
        for part in _parts(keys, _KEYS):
            (values,) = await self._trip([("MGET", *(_VALUES + key for key in part))])
            found |= {key: value for key, value in zip(part, values, strict=True) if value is not None}
        return found

    async def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values, in place of older ones; with an error, some may be kept."""
        for part in _parts(values, _COMMANDS):
            await self._trip([("SET", _VALUES + key, values[key], "EX", self._ttl_s) for key in part])

    async def claim(self, keys: Collection[bytes], seconds: float) -> dict[bytes, bool]:
        """Take leases that run out by themselves; says of each key whether it was free."""
        claimed: dict[bytes, bool] = {}
        for part in _parts(keys, _COMMANDS):
            answers = await self._trip(
                [("SET", _LEASES + key, b"", "NX", "PX", round(seconds * 1000)) for key in part]
            )
            claimed |= zip(part, map(bool, answers), strict=True)
        return claimed

    async def renew(self, keys: Collection[bytes], seconds: float) -> None:
        """Let leases run from now."""
        for part in _parts(keys, _COMMANDS):
            await self._trip([("PEXPIRE", _LEASES + key, round(seconds * 1000)) for key in part])

    async def release(self, keys: Collection[bytes]) -> None:
        """Give leases back before they run out."""
        for part in _parts(keys, _KEYS):
            await self._trip([("UNLINK", *(_LEASES + key for key in part))])

    async def stats(self) -> StoreStats:
        """What the server holds; its memory is that of all its users."""
        entries = sum([len(names) async for names in self._names()])
        (memory,) = await self._trip([("INFO", "memory")])
        return StoreStats(entries, memory["used_memory"], memory["maxmemory"] or None)

    async def purge(self) -> int:
        """Remove all values, and nothing else that the server keeps."""
        removed = 0
        async for names in self._names():
            removed += (await self._trip([("UNLINK", *names)]))[0]
        return removed

    async def close(self) -> None:
        """Close all connections."""
        await self._breaker.close()
        await self._redis.aclose()

    async def _names(self) -> AsyncIterator[list[bytes]]:
        """The names under which values lie, in batches. One that comes or goes meanwhile may be missed."""
        cursor = None
        while cursor != 0:
            command = ("SCAN", cursor or 0, "MATCH", _VALUES + b"*", "COUNT", _KEYS)
            ((cursor, names),) = await self._trip([command])
            if names:
                yield names

    async def _trip(self, commands: Sequence[tuple[bytes | str | int, ...]]) -> list[Any]:
        """The answers to some commands, sent together."""
        self._breaker.check()
        try:
            async with _patience(), self._redis.pipeline(transaction=False) as pipe:
                for command in commands:
                    pipe.execute_command(*command)
                answers = await pipe.execute(raise_on_error=False)
        except (OSError, RedisConnectionError, RedisTimeoutError) as error:
            why = f"{type(error).__name__}: {error}".removesuffix(": ")
            fault = f"{self.name} does not answer within {PATIENCE_S} s ({why})"
            self._breaker.trip(fault)
            raise StoreDown(fault) from error
        for answer in answers:
            if isinstance(answer, RedisError):
                raise StoreError(f"{self.name} refuses: {answer}")
        return answers

    async def _ping(self) -> None:
        async with _patience():
            await self._redis.ping()


@asynccontextmanager
async def _patience() -> AsyncIterator[None]:
    """Raise ``TimeoutError`` when what is done takes longer than ``PATIENCE_S``.

    The time is counted in parts, one after the other. A turn of the event loop, however long others make
    it, ends one part at most, and it takes some ten turns to connect, ask and read: what is our own doing
    is not taken for the server's.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer: asyncio.TimerHandle | None = None

        def count(parts: int) -> None:
            nonlocal timer
            if parts:
                timer = loop.call_later(PATIENCE_S / _PARTS, count, parts - 1)
            else:
                limit.reschedule(loop.time())

        count(_PARTS)
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()


def redis_name(url: str) -> str:
    """A Redis URL without its user and password."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or 6379}{parts.path}"


def _parts(keys: Collection[bytes], most: int) -> list[list[bytes]]:
    """The keys in as many batches as there are round trips."""
    ordered = list(keys)
    return [ordered[start : start + most] for start in range(0, len(ordered), most)]
