"""Metrics of several uvicorn processes: files in a folder that lives as long as the service does."""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

log = logging.getLogger("rubricate.metrics")

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus-client when it is imported, so that it must be set before the processes start."""

_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
_PREFIX = "rubricate-metrics-"
_ROOM_BYTES = 32 << 20  # the files are mapped into memory, and a full file system kills who writes to them


@contextmanager
def shared_metrics(processes: int) -> Iterator[None]:
    """Let processes that are started meanwhile share their metrics; one alone needs no files.

    Where no folder can be made the service runs all the same, and each process tells of itself alone.
    """
    made = _make_folder() if processes > 1 and VARIABLE not in os.environ else None
    if made is None:
        yield
        return
    folder, lock = made
    os.environ[VARIABLE] = str(folder)
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def ensure_folder() -> None:
    """Make the folder again where somebody has removed it: no process could start without it."""
    if VARIABLE in os.environ:
        Path(os.environ[VARIABLE]).mkdir(mode=0o700, parents=True, exist_ok=True)


def _make_folder() -> tuple[Path, int] | None:
    """A folder, and the descriptor by which it is locked for as long as this process lives."""
    for place in (_MEMORY, Path(tempfile.gettempdir())):
        try:
            _remove_left(place)
            if shutil.disk_usage(place).free >= _ROOM_BYTES:
                folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
                lock = _lock(folder)
                if folder.exists():  # no other service has removed it before it was locked
                    return folder, lock
                os.close(lock)
        except OSError:
            continue
    log.warning("no folder has room for shared metrics: each process tells of itself alone")
    return None


def _remove_left(place: Path) -> None:
    """Remove the folders whose services were killed before they could do so."""
    for folder in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is in use, or somebody else's
            lock = _lock(folder)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _lock(folder: Path) -> int:
    """Lock a folder until its descriptor is closed; raises `OSError` when another process has it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def exposition() -> bytes:
    """The metrics of all processes as Prometheus reads them."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return generate_latest(REGISTRY)
    ensure_folder()
    _forget_dead(Path(folder))
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def _forget_dead(folder: Path) -> None:
    """Drop the gauges of processes that were killed; what they counted stays."""
    for file in folder.glob("gauge_live*_*.db"):
        number = re.search(r"_(\d+)\.db$", file.name)
        if number is not None and not Path(f"/proc/{number[1]}").exists() and Path("/proc").is_dir():
            mark_process_dead(number[1], str(folder))  # type: ignore[no-untyped-call]
