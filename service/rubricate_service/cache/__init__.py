"""Where verdicts are kept: in the process, and in one file or a shared Redis."""

from rubricate_service.cache.cache import Cache
from rubricate_service.cache.file import LmdbStore
from rubricate_service.cache.leases import Leases
from rubricate_service.cache.redis import RedisStore
from rubricate_service.cache.store import Store, StoreDown, StoreError, StoreStats

__all__ = ["Cache", "Leases", "LmdbStore", "RedisStore", "Store", "StoreDown", "StoreError", "StoreStats"]
