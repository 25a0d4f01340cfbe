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
from collections.abc import Callable, Mapping, Sequence
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


def _batches(keys: int, tag: str) -> list[list[bytes]]:
    """Distinct keys as the cache makes them, in batches."""
    digests = [hashlib.sha256(f"{tag}{number}".encode()).digest() for number in range(keys)]
    return [digests[start : start + BATCH] for start in range(0, keys, BATCH)]


def _rate(keys: int, call: Callable[[list[bytes]], object], batches: list[list[bytes]]) -> float:
    """Keys per second of a call that takes a batch."""
    began = time.perf_counter()
    for batch in batches:
        call(batch)
    return keys / (time.perf_counter() - began)


def _measure(name: str, store: Store, folder: Path, keys: int, size: int) -> None:
    """Put values of ``size`` bytes under ``keys`` keys, get them, and ask for as many that are not there."""
    value = hashlib.shake_128(b"value").digest(size)
    known, unknown = _batches(keys, "known"), _batches(keys, "unknown")
    put = _rate(keys, lambda batch: store.put_many(dict.fromkeys(batch, value)), known)
    hit = _rate(keys, store.get_many, known)
    miss = _rate(keys, store.get_many, unknown)
    if len(store.get_many(known[-1])) != len(known[-1]) or store.get_many(unknown[0]):
        raise SystemExit(f"{name} does not hold what was put")
    disk = sum(file.stat().st_blocks * 512 for file in folder.iterdir())
    print(
        f"{name:20} {size:5} B  put {put:9,.0f}/s  hit {hit:9,.0f}/s  miss {miss:9,.0f}/s  "
        f"{disk / keys:6,.0f} B/key"
    )
    store.close()


def main() -> None:
    """Measure each store on values of both sizes."""
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    stores: dict[str, Callable[[Path], Store]] = {
        "lmdb, sync": lambda folder: LmdbStore(folder, sync=True),
        "lmdb, no sync": lambda folder: LmdbStore(folder, sync=False),
        "sqlite, WAL, NORMAL": lambda folder: SqliteStore(folder / "verdicts.sqlite"),
    }
    for size in (60, 1024):
        for name, make in stores.items():
            with tempfile.TemporaryDirectory() as folder:
                _measure(name, make(Path(folder)), Path(folder), keys, size)


if __name__ == "__main__":
    main()
