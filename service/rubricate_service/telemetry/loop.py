"""How long the event loop stands still, and where it stood: nothing that takes long may run on it.

A thread could not tell, as whoever holds the interpreter's lock stops it too. So the loop notes the time when
it turns again, and where it stood is written down by `faulthandler`, which needs no lock. That it turns at
all is for others to watch: `/livez` does not answer while it does not.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import re
import tempfile
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from rubricate_service.telemetry import metrics
from rubricate_service.telemetry.gauges import Sampler

log = logging.getLogger("rubricate.loop")

EVERY_S = 0.5
TOO_LONG_S = 1.0
_MEMORY_S = 60.0
_FRAME = re.compile(r'File "(.+)", line (\d+) in (\S+)')
_FRAMES = 5


@asynccontextmanager
async def watching_loop(sampler: Sampler) -> AsyncIterator[Sampler]:
    """Watch the running loop meanwhile, and have the gauges read at every turn of the watch."""
    with _notes() as notes:
        task = asyncio.create_task(_watch(notes, sampler))
        try:
            yield sampler
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            faulthandler.cancel_dump_traceback_later()


async def _watch(notes: IO[bytes], sampler: Sampler) -> None:
    loop, lags = asyncio.get_running_loop(), deque[float](maxlen=round(_MEMORY_S / EVERY_S))
    while True:
        due = loop.time() + EVERY_S
        faulthandler.dump_traceback_later(EVERY_S + TOO_LONG_S, file=notes)
        await asyncio.sleep(EVERY_S)
        lag = max(0.0, loop.time() - due)
        lags.append(lag)
        metrics.LOOP_LAG.set(max(lags))
        if lag > TOO_LONG_S:
            log.warning("the event loop stood still for %.1f s, in %s", lag, _place(notes))
        sampler.sample()


def _notes() -> IO[bytes]:
    """A file in memory where the system has such, as the disk may be full or read-only."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("rubricate-loop"), "w+b")
    return tempfile.TemporaryFile()


def _place(notes: IO[bytes]) -> str:
    """Where this thread was when the notes were taken, innermost first; the notes are wiped."""
    notes.seek(0)
    text = notes.read().decode(errors="replace")
    notes.seek(0)
    notes.truncate()
    own = text.partition(f"Thread 0x{threading.get_ident():016x}")[2].partition("\n\n")[0]
    frames = _FRAME.findall(own)[:_FRAMES]
    return " < ".join(f"{Path(file).name}:{line} {name}" for file, line, name in frames) or "an unknown place"
