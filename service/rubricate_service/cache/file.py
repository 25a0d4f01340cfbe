"""The embedded store: one LMDB file, shared by the processes of one machine.

Measured against SQLite (``benchmarks/cache_stores.py``; 2 cores, ext4, batches of 1,000, 100,000 keys of
32 bytes; keys per second put / found / missed, and bytes on disk per key):

===================  ==============================  ================================
store                60-byte values                  1,024-byte values
===================  ==============================  ================================
LMDB, as used here   119 k / 1.0 M / 1.3 M, 237 B    47 k / 846 k / 1.2 M, 2,211 B
SQLite, WAL, NORMAL  64 k / 383 k / 523 k, 195 B     11 k / 57 k / 63 k, 4,834 B
===================  ==============================  ================================

A batch is one transaction: a crash of the process loses nothing that was put, a power cut the last batch
at most, and the file stays whole. The file must lie on a local disk.

A value lies behind the time at which it expires (4 bytes, seconds of the Unix epoch). Expired values are
misses; their room comes back when they are put again or their turn comes to be dropped. What exceeds the
size bound is dropped from a random place on: keys are digests, so that is a random choice, and every batch
pays for its own room instead of one paying for all.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import lmdb

from rubricate_service.cache.store import StoreError, StoreStats

log = logging.getLogger("rubricate.cache")

T = TypeVar("T")

_STAMP_BYTES = 4
_MAP_SLACK = 64 << 20  # address space, not disk


class LmdbStore:
    """A file of keys and values, with its lock file ``<path>-lock`` beside it; all work is done in a thread.

    The methods raise ``StoreError`` when the file cannot be used or its folder cannot be made.

    Args:
        path: The file; it and its folder are made at the first use.
        ttl_s: Seconds after which a value is a miss.
        most_bytes: Bound on the pages in use. The file may be larger by pages that wait to be used again.
    """

    name = "file"

    def __init__(self, path: Path, *, ttl_s: int = 30 * 86400, most_bytes: int = 4 << 30):
        self.path = path
        self._ttl_s = ttl_s
        self._most_bytes = most_bytes
        self._environment: lmdb.Environment | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there and not expired."""
        return await self._in_thread(self._get, keys)

    async def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values, in place of older ones; all of them or, with an error, none."""
        await self._in_thread(self._put, values)

    async def stats(self) -> StoreStats:
        """What the file holds; one that does not exist is not made."""
        return await self._in_thread(self._stats)

    async def purge(self) -> int:
        """Remove everything; the file keeps its size, and its pages are used again."""
        return await self._in_thread(self._purge)

    async def close(self) -> None:
        """Close the file."""
        if self._environment is not None:
            self._environment = None
            await self._in_thread(_give_back, self.path)
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None

    async def _in_thread(self, call: Callable[..., T], *args: object) -> T:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="rubricate-cache")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call, *args)
        except (lmdb.Error, OSError) as error:
            raise StoreError(f"{error}; mend or remove the file, or name another") from error

    def _get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        now = _stamp(time.time())
        with self._open().begin() as transaction:
            found = transaction.cursor().getmulti(keys)
        return {key: value[_STAMP_BYTES:] for key, value in found if value[:_STAMP_BYTES] > now}

    def _put(self, values: Mapping[bytes, bytes]) -> None:
        environment, expires = self._open(), _stamp(time.time() + self._ttl_s)
        is_full = _bytes_used(environment) > self._most_bytes
        with environment.begin(write=True) as transaction:
            cursor = transaction.cursor()
            if is_full:
                _drop_some(cursor, 2 * len(values))  # more than come, so that a lowered bound is reached too
            cursor.putmulti([(key, expires + value) for key, value in values.items()])

    def _stats(self) -> StoreStats:
        if not self.path.exists():
            return StoreStats(0, 0, self._most_bytes)
        environment = self._open()
        return StoreStats(environment.stat()["entries"], _bytes_used(environment), self._most_bytes)

    def _purge(self) -> int:
        environment = self._open()
        entries: int = environment.stat()["entries"]
        database = environment.open_db()
        with environment.begin(write=True) as transaction:
            transaction.drop(database, delete=False)
        return entries

    def _open(self) -> lmdb.Environment:
        if self._environment is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._environment = _take(self.path, self._most_bytes)
        return self._environment


def _stamp(seconds: float) -> bytes:
    return int(seconds).to_bytes(_STAMP_BYTES, "big")  # until 2106; compares as the number does


def _bytes_used(environment: lmdb.Environment) -> int:
    stat = environment.stat()
    return stat["psize"] * (stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"])


def _drop_some(cursor: Any, count: int) -> None:
    cursor.set_range(os.urandom(32))
    for _ in range(count):
        # a deletion moves on to the next key; behind the last one the first follows
        if not cursor.key() and not cursor.first():
            return
        cursor.delete()


# LMDB wants a file opened once in a process, and two services in one process may name the same.
_lock = threading.Lock()
_environments: dict[Path, lmdb.Environment] = {}
_users: Counter[Path] = Counter()


def _take(path: Path, most_bytes: int) -> lmdb.Environment:
    path = path.resolve()
    with _lock:
        if path not in _environments:
            # twice the bound: a page that is replaced is free only when its transaction is over
            map_size = 2 * most_bytes + _MAP_SLACK
            environment = _open_whole(path, map_size)
            environment.reader_check()  # gives back the places of processes that were killed
            _environments[path] = environment
        _users[path] += 1
        return _environments[path]


def _open_whole(path: Path, map_size: int) -> lmdb.Environment:
    """The file, or a new one where it lacks its end: reading a page that is not there kills a process."""
    environment = lmdb.open(str(path), subdir=False, map_size=map_size, metasync=False)
    pages = environment.info()["last_pgno"] + 1
    if path.stat().st_size >= pages * environment.stat()["psize"]:
        return environment
    environment.close()
    aside = path.with_name(f"{path.name}.damaged")
    path.replace(aside)
    log.warning("the verdict cache %s lacks its end; it is put aside as %s", path, aside.name)
    return lmdb.open(str(path), subdir=False, map_size=map_size, metasync=False)


def _give_back(path: Path) -> None:
    path = path.resolve()
    with _lock:
        _users[path] -= 1
        if not _users[path]:
            _environments.pop(path).close()
