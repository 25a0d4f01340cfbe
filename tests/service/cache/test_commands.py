"""`rubricate cache stats|purge`, and the settings that name the cache."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from redis_server import needs_redis, running_redis
from rubricate_service.cache import LmdbStore, RedisStore, Store
from rubricate_service.cache.build import build_store
from rubricate_service.settings import Settings


def command(action: str, cache: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rubricate_service", "cache", action],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "RUBRICATE_CACHE": cache},
    )


def put_three(store: Store) -> None:
    async def put() -> None:
        await store.put_many({bytes([n]) * 32: b"v" for n in range(3)})
        await store.close()

    asyncio.run(put())


def check_commands(cache: str, name: str) -> None:
    for action, says in (
        ("stats", "3 verdicts, "),
        ("purge", "3 verdicts removed"),
        ("stats", "0 verdicts, "),
    ):
        done = command(action, cache)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{name}: {says}")


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    put_three(LmdbStore(path))
    check_commands(str(path), str(path))


@needs_redis
def test_a_redis(tmp_path: Path) -> None:
    with running_redis(tmp_path, "--requirepass", "s3cret") as redis:
        url = redis.url.replace("redis://", "redis://:s3cret@")
        put_three(RedisStore(url))
        check_commands(url, redis.url)


@pytest.mark.parametrize(
    ("action", "cache"),
    [
        ("stats", "redis://:s3cret@127.0.0.1:1"),
        ("stats", "{tmp}/notes.txt"),
        ("purge", "{tmp}/notes.txt/v.db"),
    ],
)
def test_a_cache_that_cannot_be_used_is_explained_in_a_line(action: str, cache: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are my notes. " * 300)
    done = command(action, cache.format(tmp=tmp_path))
    assert done.returncode == 2
    assert "the cache cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
    assert "s3cret" not in done.stderr


@pytest.mark.parametrize(
    "cache",
    [
        "redis://",
        "redis://:s3cret@",
        "redis://:s3cret@host:port",
        "redis://:s3cret@host:70000",
        "redis://:s3cret@host/db",
        "redis://:s3/cret@host",
        "http://s3cret@host",
    ],
)
def test_a_url_that_is_none_is_refused_without_being_shown(cache: str) -> None:
    with pytest.raises(ValidationError, match=r"redis://\[\[user\]:password@\]host") as caught:
        Settings(cache=cache)
    assert "s3" not in str(caught.value)


@pytest.mark.parametrize(
    ("cache", "store"),
    [
        ("verdicts.db", LmdbStore),
        ("/var/cache/verdicts.db", LmdbStore),
        ("redis://cache", RedisStore),
        ("redis://:s%2Fcret@cache:7000/3", RedisStore),
        ("rediss://user:pass@[::1]:7000", RedisStore),
    ],
)
def test_which_store_a_setting_means(cache: str, store: type) -> None:
    settings = Settings(cache=cache)
    assert type(build_store(settings)) is store
    assert "pass" not in repr(settings)
