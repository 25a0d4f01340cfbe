from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lmdb
import pytest

from rubricate_service.cache import LmdbStore


def keys(n: int) -> list[bytes]:
    return [i.to_bytes(32, "big") for i in range(n)]


def test_values_come_back_and_the_last_one_wins(tmp_path: Path) -> None:
    store = LmdbStore(tmp_path / "folder" / "verdicts.db")
    store.put_many({b"a": b"1", b"b": b"2"})
    store.put_many({b"b": b"3", b"\x00": b""})
    assert store.get_many([b"a", b"b", b"c", b"\x00"]) == {b"a": b"1", b"b": b"3", b"\x00": b""}
    assert store.get_many([]) == {}
    store.close()
    again = LmdbStore(tmp_path / "folder" / "verdicts.db")
    assert again.get_many([b"b"]) == {b"b": b"3"}
    again.close()
    again.close()


def test_two_stores_in_one_process_share_a_file(tmp_path: Path) -> None:
    """LMDB refuses to open a file twice in one process."""
    first, second = LmdbStore(tmp_path / "v.db"), LmdbStore(tmp_path / "folder" / ".." / "v.db")
    (tmp_path / "folder").mkdir()
    first.put_many({b"k": b"v"})
    assert second.get_many([b"k"]) == {b"k": b"v"}
    first.close()
    second.put_many({b"l": b"w"})
    second.close()
    assert LmdbStore(tmp_path / "v.db").get_many([b"k", b"l"]) == {b"k": b"v", b"l": b"w"}


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    store = LmdbStore(path)
    store.put_many({b"mine": b"1"})
    script = (
        "import sys; from pathlib import Path; from rubricate_service.cache import LmdbStore\n"
        "store = LmdbStore(Path(sys.argv[1]))\n"
        "store.put_many({b'theirs': store.get_many([b'mine'])[b'mine']})\n"
        "store.close()"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script, str(path)], check=True, timeout=30)
    assert store.get_many([b"theirs"]) == {b"theirs": b"1"}
    store.close()


def test_a_writer_does_not_hold_up_readers(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    store = LmdbStore(path)
    store.put_many({b"k": b"v"})
    with store._open().begin(write=True) as transaction:
        transaction.put(b"k", b"w")
        with ThreadPoolExecutor(1) as other:
            assert other.submit(store.get_many, [b"k"]).result(5) == {b"k": b"v"}
    assert store.get_many([b"k"]) == {b"k": b"w"}
    store.close()


def test_a_killed_process_loses_nothing_it_had_put(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    script = (
        "import os, sys; from pathlib import Path; from rubricate_service.cache import LmdbStore\n"
        "LmdbStore(Path(sys.argv[1])).put_many({b'k': b'v'}); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=30)
    assert done.returncode == -9
    store = LmdbStore(path)
    assert store.get_many([b"k"]) == {b"k": b"v"}
    store.close()


def test_a_file_of_another_kind_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes. " * 100)
    with pytest.raises(lmdb.Error):
        LmdbStore(path).get_many([b"k"])
    assert path.read_text().startswith("These are my notes.")
