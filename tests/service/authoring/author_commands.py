"""The commands for authors, run as their users run them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def rubricate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What a command printed, and its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "rubricate_service", *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def write_rows(path: Path, rows: list[Any]) -> Path:
    """JSON lines; a string is written as it is."""
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
