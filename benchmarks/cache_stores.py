"""Which file the verdict cache lives in: LMDB against SQLite, in batches as the cache sends them.

Run with ``python benchmarks/cache_stores.py [keys]``. Prints keys per second (wall) and bytes on disk per
key, for values as long as a sealed verdict and for values of 1 KB. The store that won is
``rubricate_service.cache.file``, whose docstring says why; the other one lives here alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from rubricate_service.cache import LmdbStore

BATCH = 1000
_BATCH = 1000  # variables in one statement; old SQLites take 999, those since 2020 take 32,766
_BUSY_S = 1.0  # wait for another process that is writing


class Measured(Protocol):
    """What is measured of a store."""

    async def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there."""

    async def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values, in place of older ones."""

    async def close(self) -> None:
        """Close the file."""


class SqliteStore:
    """A table of keys and values in one file.

    Args:
        path: The file; it and its folder are made at the first use.
    """

    def __init__(self, path: Path):
        self.path = path
        self._connection: sqlite3.Connection | None = None

    async def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there.

        Raises:
            sqlite3.Error: The file cannot be read.
            OSError: Its folder cannot be made.
        """
        connection = self._open()
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            found.update(connection.execute(f"SELECT * FROM verdicts WHERE key IN ({marks})", batch))
        return found

    async def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values, in place of older ones; all of them or, with an error, none.

        Raises:
            sqlite3.Error: The file cannot be written.
            OSError: Its folder cannot be made.
        """
        with self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", values.items())

    async def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_BUSY_S)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS verdicts"
                    " (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
                )
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
        return self._connection


def _batches(keys: int, tag: str) -> list[list[bytes]]:
    """Distinct keys as the cache makes them, in batches."""
    digests = [hashlib.sha256(f"{tag}{number}".encode()).digest() for number in range(keys)]
    return [digests[start : start + BATCH] for start in range(0, keys, BATCH)]


async def _rate(
    keys: int, call: Callable[[list[bytes]], Awaitable[object]], batches: list[list[bytes]]
) -> float:
    """Keys per second of a call that takes a batch."""
    began = time.perf_counter()
    for batch in batches:
        await call(batch)
    return keys / (time.perf_counter() - began)


def _bytes_on_disk(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.iterdir())


async def _measure(name: str, store: Measured, folder: Path, keys: int, size: int) -> None:
    """Put values of ``size`` bytes under ``keys`` keys, get them, and ask for as many that are not there."""
    value = hashlib.shake_128(b"value").digest(size)
    known, unknown = _batches(keys, "known"), _batches(keys, "unknown")
    put = await _rate(keys, lambda batch: store.put_many(dict.fromkeys(batch, value)), known)
    hit = await _rate(keys, store.get_many, known)
    miss = await _rate(keys, store.get_many, unknown)
    if len(await store.get_many(known[-1])) != len(known[-1]) or await store.get_many(unknown[0]):
        raise SystemExit(f"{name} does not hold what was put")
    disk = _bytes_on_disk(folder)
    print(
        f"{name:20} {size:5} B  put {put:9,.0f}/s  hit {hit:9,.0f}/s  miss {miss:9,.0f}/s  "
        f"{disk / keys:6,.0f} B/key"
    )
    await store.close()


def main() -> None:
    """Measure each store on values of both sizes."""
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    stores: dict[str, Callable[[Path], Measured]] = {
        "lmdb": lambda folder: LmdbStore(folder / "verdicts.db"),
        "sqlite, WAL, NORMAL": lambda folder: SqliteStore(folder / "verdicts.sqlite"),
    }
    for size in (60, 1024):
        for name, make in stores.items():
            with tempfile.TemporaryDirectory() as folder:
                asyncio.run(_measure(name, make(Path(folder)), Path(folder), keys, size))


if __name__ == "__main__":
    main()
