"""Where verdicts are kept: in the process, and in one file."""

from rubricate_service.cache.cache import Cache
from rubricate_service.cache.store import LmdbStore, Store

__all__ = ["Cache", "LmdbStore", "Store"]
