"""The key of the judge prompt's delimiters: given by a setting, else made once and kept."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from rubricate_service.cache.redis import PATIENCE_S
from rubricate_service.settings import Settings

_BYTES = 32
_NAME = "rubricate:secret"


def delimiter_key(settings: Settings) -> bytes:
    """The key, the same for every process that shares the cache.

    Where it cannot be kept (a read-only file system, a Redis that is down) it lives as long as the process.
    The price is the engine's prefix cache, which then has other prefixes from each process.
    """
    if settings.secret is not None:
        return settings.secret.get_secret_value().encode()
    if settings.cache_is_redis:
        return _kept_in_redis(settings.cache)
    return _kept_in_file(Path(settings.cache).with_suffix(".key"))


def _kept_in_redis(url: str) -> bytes:
    fresh = secrets.token_bytes(_BYTES)
    timeouts = {"socket_timeout": PATIENCE_S, "socket_connect_timeout": PATIENCE_S}
    try:
        with Redis.from_url(url, retry=Retry(NoBackoff(), 1), **timeouts) as redis:
            # of replicas that start together one is first, and all take what is there then
            redis.set(_NAME, fresh, nx=True)
            return bytes(redis.get(_NAME) or fresh)
    except (OSError, RedisError):
        return fresh


def _kept_in_file(path: Path) -> bytes:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # written aside and linked into place, so that two processes that start together agree on one
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_bytes(secrets.token_bytes(_BYTES))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_bytes()
    except OSError:
        return secrets.token_bytes(_BYTES)
