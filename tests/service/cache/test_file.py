from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Awaitable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import pytest

from rubricate_service.cache import LmdbStore, StoreError, StoreStats

T = TypeVar("T")


def do(call: Awaitable[T]) -> T:
    """Result of one call, each in an event loop of its own: a store is bound to none."""

    async def wait() -> T:
        return await asyncio.wait_for(call, 30)

    return asyncio.run(wait())


def get(store: LmdbStore, *keys: bytes) -> dict[bytes, bytes]:
    return do(store.get_many(keys))


def put(store: LmdbStore, values: Mapping[bytes, bytes]) -> None:
    do(store.put_many(values))


def keys(begin: int, end: int) -> list[bytes]:
    """As the judge makes them: digests."""
    return [hashlib.sha256(str(n).encode()).digest() for n in range(begin, end)]


def test_values_come_back_and_the_last_one_wins(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path / "folder" / "verdicts.db")
    put(store, {b"a": b"1", b"b": b"2"})
    put(store, {b"b": b"3", b"\x00": b""})
    assert get(store, b"a", b"b", b"c", b"\x00") == {b"a": b"1", b"b": b"3", b"\x00": b""}
    assert get(store) == {}
    do(store.close())
    again = LmdbStore(tmp_path / "folder" / "verdicts.db")
    assert get(again, b"b") == {b"b": b"3"}
    do(again.close())
    do(again.close())
    assert get(again, b"b") == {b"b": b"3"}  # a closed one opens again
    do(again.close())


def test_two_stores_in_one_process_share_a_file(tmp_path: Path) -> None:
    """LMDB refuses to open a file twice in one process."""
    first, second = LmdbStore(tmp_path / "v.db"), LmdbStore(tmp_path / "folder" / ".." / "v.db")
    (tmp_path / "folder").mkdir()
    put(first, {b"k": b"v"})
    assert get(second, b"k") == {b"k": b"v"}
    do(first.close())
    put(second, {b"l": b"w"})
    do(second.close())
    third = LmdbStore(tmp_path / "v.db")
    assert get(third, b"k", b"l") == {b"k": b"v", b"l": b"w"}
    do(third.close())


SCRIPT = """
import asyncio, os, sys
from pathlib import Path
from rubricate_service.cache import LmdbStore
store = LmdbStore(Path(sys.argv[1]))
"""


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    store = LmdbStore(path)
    put(store, {b"mine": b"1"})
    script = SCRIPT + (
        "mine = asyncio.run(store.get_many([b'mine']))[b'mine']\n"
        "asyncio.run(store.put_many({b'theirs': mine}))\n"
        "asyncio.run(store.close())"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script, str(path)], check=True, timeout=30)
    assert get(store, b"theirs") == {b"theirs": b"1"}
    do(store.close())


def test_a_writer_does_not_hold_up_readers(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path / "v.db")
    put(store, {b"k": b"v"})
    with store._open().begin(write=True) as transaction:
        transaction.delete(b"k")
        assert get(store, b"k") == {b"k": b"v"}
    assert get(store, b"k") == {}
    do(store.close())


def test_a_killed_process_loses_nothing_it_had_put(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    script = SCRIPT + "asyncio.run(store.put_many({b'k': b'v'})); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=30)
    assert done.returncode == -9
    store = LmdbStore(path)
    assert get(store, b"k") == {b"k": b"v"}
    do(store.close())


def test_a_file_of_another_kind_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes. " * 100)
    store = LmdbStore(path)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        get(store, b"k")
    do(store.close())
    assert path.read_text().startswith("These are my notes.")


def test_a_value_is_a_miss_once_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, times = LmdbStore(tmp_path / "v.db", ttl_s=100), iter([0, 60, 60, 98, 101, 158, 161])
    # the store's alone: whoever logs looks at the clock, too
    clock = SimpleNamespace(time=lambda: 1_800_000_000.0 + next(times))
    monkeypatch.setattr("rubricate_service.cache.file.time", clock)
    put(store, {b"k": b"v", b"l": b"w"})
    put(store, {b"l": b"w"})
    found = [sorted(get(store, b"k", b"l")) for _ in range(5)]
    assert found == [[b"k", b"l"], [b"k", b"l"], [b"l"], [b"l"], []]
    do(store.close())


def test_stats_and_purge(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path / "v.db", most_bytes=1 << 20)
    assert do(store.stats()) == StoreStats(0, 0, 1 << 20)
    assert list(tmp_path.iterdir()) == []  # looking makes no file
    put(store, dict.fromkeys(keys(0, 1000), b"v" * 33))
    stats = do(store.stats())
    assert stats.entries == 1000
    assert 70_000 < stats.bytes < 200_000
    assert do(store.purge()) == 1000
    assert do(store.stats()) == StoreStats(0, 0, 1 << 20)
    assert get(store, *keys(0, 1000)) == {}
    put(store, {b"k": b"v"})
    assert get(store, b"k") == {b"k": b"v"}
    do(store.close())


def test_a_full_file_drops_some_at_random_and_keeps_taking_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    store = LmdbStore(path, most_bytes=1 << 20)
    for begin in range(0, 40_000, 500):
        put(store, dict.fromkeys(keys(begin, begin + 500), b"v" * 33))
        assert do(store.stats()).bytes < 1.2 * (1 << 20)
    assert path.stat().st_size < 4 << 20  # a batch writes new pages beside those that it replaces
    assert do(store.stats()).entries > 4_000
    shares = [len(get(store, *keys(begin, begin + 5_000))) for begin in range(0, 40_000, 5_000)]
    assert shares[-1] > 1_500  # the newest were in the way of fewer
    assert max(shares) == shares[-1] > 3 * shares[0]
    do(store.close())


def test_a_lowered_bound_is_reached_step_by_step(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    store = LmdbStore(path, most_bytes=64 << 20)
    put(store, dict.fromkeys(keys(0, 30_000), b"v" * 33))
    do(store.close())
    lower = LmdbStore(path, most_bytes=1 << 20)
    for begin in range(100_000, 140_000, 1_000):
        put(lower, dict.fromkeys(keys(begin, begin + 1_000), b"v" * 33))
    assert do(lower.stats()).bytes < 1.2 * (1 << 20)
    do(lower.close())


def test_a_file_that_lacks_its_end_is_put_aside(tmp_path: Path) -> None:
    """Reading a page beyond the end of a mapped file is SIGBUS, which no handler survives."""
    path = tmp_path / "v.db"
    store = LmdbStore(path)
    put(store, dict.fromkeys(keys(0, 3000), b"v" * 30))
    do(store.close())
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 3)
    script = SCRIPT + (
        "keys = [bytes.fromhex(key) for key in sys.argv[2].split()]\n"
        "assert asyncio.run(store.get_many(keys)) == {}\n"
        "asyncio.run(store.put_many({keys[0]: b'new'}))\n"
        "assert asyncio.run(store.get_many(keys)) == {keys[0]: b'new'}\n"
        "asyncio.run(store.close())"
    )
    wanted = " ".join(key.hex() for key in keys(0, 1000))
    command = [sys.executable, "-c", script, str(path), wanted]
    done = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "v.db.damaged").exists()
