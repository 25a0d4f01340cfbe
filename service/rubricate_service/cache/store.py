"""The embedded store: one LMDB file, shared by the processes of one machine.

Measured against SQLite (``benchmarks/cache_stores.py``; 2 cores, ext4, batches of 1,000, 100,000 keys of
32 bytes; keys per second put / found / missed, and bytes on disk per key):

===================  ==============================  ================================
store                60-byte values                  1,024-byte values
===================  ==============================  ================================
LMDB, as used here   119 k / 1.0 M / 1.3 M, 230 B    47 k / 846 k / 1.2 M, 2,209 B
SQLite, WAL, NORMAL  64 k / 383 k / 523 k, 195 B     11 k / 57 k / 63 k, 4,834 B
===================  ==============================  ================================

A batch is one transaction: a crash of the process loses nothing that was put, a power cut the last batch
at most, and the file stays whole. The file must lie on a local disk.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import lmdb

_MOST_BYTES = 16 << 30  # some 70 million verdicts; address space, not disk: the file grows as it fills


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


class LmdbStore:
    """A file of keys and values, with its lock file ``<path>-lock`` beside it.

    Args:
        path: The file; it and its folder are made at the first use.
    """

    def __init__(self, path: Path):
        self.path = path
        self._environment: lmdb.Environment | None = None

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there.

        Raises:
            lmdb.Error: The file cannot be read.
            OSError: Its folder cannot be made.
        """
        with self._open().begin() as transaction:
            return dict(transaction.cursor().getmulti(keys))

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values, in place of older ones; all of them or, with an error, none.

        Raises:
            lmdb.Error: The file cannot be written, or is full.
            OSError: Its folder cannot be made.
        """
        with self._open().begin(write=True) as transaction:
            transaction.cursor().putmulti(values.items())

    def close(self) -> None:
        """Close the file."""
        if self._environment is not None:
            _give_back(self.path)
            self._environment = None

    def _open(self) -> lmdb.Environment:
        if self._environment is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._environment = _take(self.path)
        return self._environment


# LMDB wants a file opened once in a process, and two services in one process may name the same.
_lock = threading.Lock()
_environments: dict[Path, lmdb.Environment] = {}
_users: Counter[Path] = Counter()


def _take(path: Path) -> lmdb.Environment:
    path = path.resolve()
    with _lock:
        if path not in _environments:
            environment = lmdb.open(str(path), subdir=False, map_size=_MOST_BYTES, metasync=False)
            environment.reader_check()  # gives back the places of processes that were killed
            _environments[path] = environment
        _users[path] += 1
        return _environments[path]


def _give_back(path: Path) -> None:
    path = path.resolve()
    with _lock:
        _users[path] -= 1
        if not _users[path]:
            _environments.pop(path).close()
