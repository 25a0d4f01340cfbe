"""The embedded store: one SQLite file, shared by the processes of one machine.

Measured against LMDB 3.0 (``benchmarks/cache_stores.py``; 2 cores, ext4, batches of 1,000, 100,000 keys of
32 bytes; keys per second put / found / missed, and bytes on disk per key):

==================  ==============================  ================================
store               60-byte values                  1,024-byte values
==================  ==============================  ================================
SQLite, WAL         64 k / 383 k / 523 k, 195 B     11 k / 57 k / 63 k, 4,834 B
LMDB, sync          116 k / 1.1 M / 1.4 M, 230 B    46 k / 851 k / 1.2 M, 2,209 B
LMDB, no sync       388 k / 1.2 M / 2.1 M, 230 B    174 k / 932 k / 1.4 M, 2,209 B
==================  ==============================  ================================

LMDB is faster and SQLite is kept. A sealed verdict has 33 bytes, and a training step looks up a few
thousand of them: 10 ms either way, beside judge calls of 50 ms each. SQLite needs no package, grows without
a size fixed in advance, and in WAL mode with ``synchronous = NORMAL`` a crash of the process loses nothing,
a power cut loses the last batches and never the file (LMDB's fast column gives that up).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

_BATCH = 1000  # variables in one statement; old SQLites take 999, those since 2020 take 32,766
_BUSY_S = 1.0  # wait for another process that is writing


class Store(Protocol):
    """Bytes under bytes, outside the process; used by one thread at a time, in batches.

    The methods may raise anything: the cache takes that for a miss.
    """

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there."""

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values, in place of older ones."""

    def close(self) -> None:
        """Give back what the store holds open."""


class SqliteStore:
    """A table of keys and values in one file.

    Args:
        path: The file; it and its folder are made at the first use.
    """

    def __init__(self, path: Path):
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
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
            found.update(connection.execute(f"SELECT * FROM verdicts WHERE key IN ({marks})", batch))  # noqa: S608
        return found

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values, in place of older ones; all of them or, with an error, none.

        Raises:
            sqlite3.Error: The file cannot be written.
            OSError: Its folder cannot be made.
        """
        with self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", values.items())

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # the cache's thread opens it, and whoever closes the cache may be another
            connection = sqlite3.connect(self.path, timeout=_BUSY_S, check_same_thread=False)
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
