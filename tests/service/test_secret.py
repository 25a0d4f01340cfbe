"""The key of the delimiters: given, or made once and shared by all who share the cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pydantic import SecretStr

from rubricate_service.secret import delimiter_key
from rubricate_service.settings import Settings


def test_a_given_key_is_used_and_nothing_is_written(tmp_path: Path) -> None:
    settings = Settings(cache=str(tmp_path / "v.db"), secret=SecretStr("given"))
    assert delimiter_key(settings) == b"given"
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_made_once_and_kept_beside_the_cache(tmp_path: Path) -> None:
    settings = Settings(cache=str(tmp_path / "folder" / "v.db"))
    key = delimiter_key(settings)
    assert len(key) == 32
    assert delimiter_key(settings) == key
    script = (
        "import sys; from rubricate_service.secret import delimiter_key\n"
        "from rubricate_service.settings import Settings\n"
        "sys.stdout.write(delimiter_key(Settings(cache=sys.argv[1])).hex())"
    )
    command = [sys.executable, "-c", script, settings.cache]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == key.hex()
    assert delimiter_key(Settings(cache=str(tmp_path / "other.db"))) != key
    (file,) = [f for f in (tmp_path / "folder").iterdir() if f.suffix == ".key"]
    assert file.stat().st_mode & 0o077 == 0


def test_where_nothing_can_be_written_the_key_lives_as_long_as_the_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert len(delimiter_key(Settings(cache=str(tmp_path / "file" / "v.db")))) == 32
