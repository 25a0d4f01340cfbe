"""The store that the settings name."""

from __future__ import annotations

from pathlib import Path

from rubricate_service.cache.cache import Cache
from rubricate_service.cache.file import LmdbStore
from rubricate_service.cache.leases import Leases
from rubricate_service.cache.redis import RedisStore
from rubricate_service.cache.store import Store
from rubricate_service.settings import Settings


def build_cache(settings: Settings) -> Cache:
    """The cache over that store; processes that share a Redis also share the making of verdicts."""
    store = build_store(settings)
    return Cache(store, Leases(store) if isinstance(store, RedisStore) else None)


def build_store(settings: Settings) -> Store:
    """The store of the settings; neither opens a file nor connects."""
    if settings.cache_is_redis:
        return RedisStore(settings.cache, ttl_s=settings.cache_ttl_s)
    return LmdbStore(Path(settings.cache), ttl_s=settings.cache_ttl_s, most_bytes=settings.cache_most_bytes)
