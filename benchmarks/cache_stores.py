"""Which file the verdict cache lives in: SQLite against LMDB, in batches as the cache sends them.

Run with ``python benchmarks/cache_stores.py [keys]``. Prints keys per second (wall) and bytes on disk per
key, for values as long as a sealed verdict and for values of 1 KB. The store that won is
``rubricate_service.cache.store``, whose docstring says why; the other one lives here alone.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import lmdb

from rubricate_service.cache.store import SqliteStore, Store

BATCH = 1000
LMDB_MAP_BYTES = 8 << 30  # LMDB wants to know at the start how large it may ever become


class LmdbStore:
    """The same interface over an LMDB environment.

    Args:
        path: Its folder.
        sync: Whether every commit reaches the disk before it counts.
    """

    def __init__(self, path: Path, *, sync: bool):
        self._env = lmdb.open(str(path), map_size=LMDB_MAP_BYTES, sync=sync, metasync=sync)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there."""
        with self._env.begin() as transaction:
            return {key: value for key in keys if (value := transaction.get(key)) is not None}

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values."""
        with self._env.begin(write=True) as transaction:
            for key, value in values.items():
                transaction.put(key, value)

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


def _key(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(8, "big")).digest()


def _measure(name: str, store: Store, path: Path, keys: int, size: int) -> None:
    """Put ``keys`` values of ``size`` bytes in batches, read them back, and ask for as many that are not there."""
    value = hashlib.shake_128(b"value").digest(size)
    batches = [[_key(n) for n in range(start, start + BATCH)] for start in range(0, keys, BATCH)]
    absent = [
        [_key(-1 - n & (1 << 64) - 1) for n in range(start, start + BATCH)] for start in range(0, keys, BATCH)
    ]
    began = time.perf_counter()
    for batch in batches:
        store.put_many(dict.fromkeys(batch, value))
    put = time.perf_counter() - began
    began = time.perf_counter()
    for batch in batches:
        if len(store.get_many(batch)) != BATCH:
            raise SystemExit(f"{name} lost keys")
    hit = time.perf_counter() - began
    began = time.perf_counter()
    for batch in absent:
        store.get_many(batch)
    miss = time.perf_counter() - began
    files = [path] if path.is_file() else []
    files += [p for p in path.parent.glob(f"{path.name}*") if p.is_file() and p != path] + list(
        path.glob("*")
    )
    disk = sum(p.stat().st_blocks * 512 for p in files)
    print(
        f"{name:24} {size:5} B  put {keys / put:9,.0f}/s  hit {keys / hit:9,.0f}/s  "
        f"miss {keys / miss:9,.0f}/s  {disk / keys:6,.0f} B/key"
    )
    store.close()


def main() -> None:
    """Measure each store on values of both sizes."""
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for size in (60, 1024):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for sync in (True, False):
                path = root / f"lmdb-{sync}"
                path.mkdir()
                _measure(f"lmdb, sync={sync}", LmdbStore(path, sync=sync), path, keys, size)
            path = root / "verdicts.sqlite"
            _measure("sqlite, WAL, NORMAL", SqliteStore(path), path, keys, size)


if __name__ == "__main__":
    main()
