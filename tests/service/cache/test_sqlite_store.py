from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from rubricate_service.cache import SqliteStore


def keys(n: int) -> list[bytes]:
    return [i.to_bytes(32, "big") for i in range(n)]


def test_values_come_back_and_the_last_one_wins(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "folder" / "verdicts.sqlite")
    store.put_many({b"a": b"1", b"b": b"2"})
    store.put_many({b"b": b"3", b"\x00": b""})
    assert store.get_many([b"a", b"b", b"c", b"\x00"]) == {b"a": b"1", b"b": b"3", b"\x00": b""}
    assert store.get_many([]) == {}
    store.close()
    again = SqliteStore(tmp_path / "folder" / "verdicts.sqlite")
    assert again.get_many([b"b"]) == {b"b": b"3"}
    again.close()
    again.close()


def test_more_keys_than_a_statement_takes(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "v.sqlite")
    values = dict.fromkeys(keys(2500), b"x")
    store.put_many(values)
    assert store.get_many(keys(3000)) == values
    store.close()


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    store = SqliteStore(path)
    store.put_many({b"mine": b"1"})
    script = (
        "import sys; from pathlib import Path; from rubricate_service.cache import SqliteStore\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "store.put_many({b'theirs': store.get_many([b'mine'])[b'mine']})\n"
        "store.close()"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script, str(path)], check=True, timeout=30)
    assert store.get_many([b"theirs"]) == {b"theirs": b"1"}
    store.close()


def test_a_killed_process_loses_nothing_it_had_put(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    script = (
        "import os, sys; from pathlib import Path; from rubricate_service.cache import SqliteStore\n"
        "SqliteStore(Path(sys.argv[1])).put_many({b'k': b'v'}); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=30)
    assert done.returncode == -9
    store = SqliteStore(path)
    assert store.get_many([b"k"]) == {b"k": b"v"}
    store.close()


def test_a_file_of_another_kind_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes. " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        SqliteStore(path).get_many([b"k"])
    assert path.read_text().startswith("These are my notes.")
