"""One answer for all requests of one `Idempotency-Key`: a retry neither scores nor pays again.

Requests of one key that meet share one piece of work, which ends when the last of their clients has left,
not when the first has. A finished answer is kept for a while, in this process and, where the cache is a
Redis, there for the other processes too. Refusals are never kept: a retry is to do better.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from cachetools import TTLCache
from starlette.requests import Request

from rubricate_clients.faults import ErrorDetail
from rubricate_service.cache.leases import Leases
from rubricate_service.cache.redis import RedisStore
from rubricate_service.cache.seal import seal, unseal
from rubricate_service.cache.store import StoreError
from rubricate_service.errors import Conflict, InvalidRequest
from rubricate_service.http.settings import IdempotencySettings
from rubricate_service.settings import Settings

HEADER = "Idempotency-Key"
_MOST_CHARS = 255
_DIGEST_BYTES = hashlib.sha256().digest_size
_CONFLICT = f"this {HEADER} was used before, for another request: draw a new key for each request"
_POLL_S = 0.1  # of another process's answer
_LARGEST_SHARE = 4
"""An answer of more than this part of the memory is not kept: it would push out all others."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A finished answer and the digest of the request that it belongs to."""

    fingerprint: bytes
    body: bytes


class Answer(NamedTuple):
    """A body, and whether an earlier request made it."""

    body: bytes
    is_replayed: bool


@dataclass(eq=False, slots=True)
class _Flight:
    fingerprint: bytes
    task: asyncio.Task[Answer]
    waiters: int = 0


def key_of(request: Request, tenant: str) -> bytes | None:
    """Digest of who asks where under which key; None where the request names no key.

    Behind it stands a digest of the query, if there is one: that is part of what the key was used for.

    Raises:
        InvalidRequest: The header is no key.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not (0 < len(key) <= _MOST_CHARS and key.isascii() and key.isprintable()):
        message = f"the header {HEADER} takes 1 to {_MOST_CHARS} printable ASCII characters"
        raise InvalidRequest(message, [ErrorDetail(path="", message=message)])
    parts = [part.encode() for part in (tenant, request.url.path, key)]
    name = hashlib.sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).digest()
    query: bytes = request.scope["query_string"]
    return name + hashlib.sha256(query).digest() if query else name


class SharedAnswers:
    """Answers in a Redis, for all processes; one that is slow, full or gone is as if it held nothing."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._leases = Leases(store)

    async def get(self, key: bytes) -> Kept | None:
        """The answer of a key."""
        with suppress(StoreError):
            found = await self._store.get_many([key])
            if key in found and (value := unseal(key, found[key])) is not None:
                return Kept(value[:_DIGEST_BYTES], value[_DIGEST_BYTES:])
        return None

    async def put(self, key: bytes, kept: Kept) -> None:
        """Keep an answer."""
        with suppress(StoreError):
            await self._store.put_many({key: seal(key, kept.fingerprint + kept.body)})

    async def claim(self, key: bytes) -> bool:
        """Whether this process shall make the answer, and then `release` the key."""
        return await self._leases.claim(key)

    def release(self, key: bytes) -> None:
        """Let others make it, if this process was to."""
        self._leases.release([key])

    async def close(self) -> None:
        """Give back the leases and close all connections."""
        await self._leases.close()
        await self._store.close()


class Idempotency:
    """The answers of one process, finished and under way.

    Args:
        settings: How long and how many are kept.
        shared: Answers of all processes; None keeps them apart.
    """

    def __init__(self, settings: IdempotencySettings, shared: SharedAnswers | None = None) -> None:
        self._largest = settings.memory_bytes // _LARGEST_SHARE
        self._kept: TTLCache[bytes, Kept] = TTLCache(
            settings.memory_bytes, settings.ttl_s, getsizeof=lambda kept: len(kept.body)
        )
        self._flights: dict[bytes, _Flight] = {}
        self._shared = shared

    async def once(
        self, key: bytes, request: bytes, work: Callable[[], Coroutine[Any, Any, bytes]]
    ) -> Answer:
        """The answer to a request, by `work` unless the key's first request has made or is making it.

        Args:
            key: What `key_of` said.
            request: The body.
            work: Makes the answer.

        Raises:
            Conflict: The key belongs to another request.
            ApiError: What `work` raises, to all who wait for it.
        """
        key, query = key[:_DIGEST_BYTES], key[_DIGEST_BYTES:]
        fingerprint = hashlib.sha256(query + request).digest()
        if (kept := self._kept.get(key)) is not None:
            return _replayed(kept, fingerprint)
        flight = self._flights.get(key)
        if flight is None:
            task = asyncio.ensure_future(self._make(key, fingerprint, work))
            flight = self._flights[key] = _Flight(fingerprint, task)
        elif flight.fingerprint != fingerprint:
            raise Conflict(_CONFLICT)
        flight.waiters += 1
        try:
            await asyncio.wait([flight.task])
        finally:
            flight.waiters -= 1
            if not flight.waiters:
                if self._flights.get(key) is flight:
                    del self._flights[key]
                flight.task.cancel()
        return flight.task.result()

    async def aclose(self) -> None:
        """Close what is shared."""
        if self._shared is not None:
            await self._shared.close()

    async def _make(
        self, key: bytes, fingerprint: bytes, work: Callable[[], Coroutine[Any, Any, bytes]]
    ) -> Answer:
        shared = self._shared
        if shared is None:
            kept = self._keep(key, Kept(fingerprint, await work()))
            return Answer(kept.body, is_replayed=False)
        try:
            # while another process is at it, there is nothing that could wake this one
            while (others := await shared.get(key)) is None and not await shared.claim(key):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_S)
            # once more, as it may have finished between the look and the claim
            if (others := others or await shared.get(key)) is not None:
                return _replayed(self._keep(key, others), fingerprint)
            kept = self._keep(key, Kept(fingerprint, await work()))
            if len(kept.body) <= self._largest:
                await shared.put(key, kept)
            return Answer(kept.body, is_replayed=False)
        finally:
            shared.release(key)

    def _keep(self, key: bytes, kept: Kept) -> Kept:
        if len(kept.body) <= self._largest:
            self._kept[key] = kept
        return kept


def _replayed(kept: Kept, fingerprint: bytes) -> Answer:
    if kept.fingerprint != fingerprint:
        raise Conflict(_CONFLICT)
    return Answer(kept.body, is_replayed=True)


def build_idempotency(settings: Settings) -> Idempotency:
    """The answers as the settings say; neither connects nor opens anything."""
    shared = None
    if settings.cache_is_redis:
        # a store of its own: an answer that takes it too long to send does not stop the verdicts' store
        shared = SharedAnswers(RedisStore(settings.cache, ttl_s=settings.idempotency.ttl_s))
    return Idempotency(settings.idempotency, shared)
