"""One event loop for all adapters of a process: trainers call from threads and from loops of their own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_owner = 0


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Run the coroutine in the background; threads wait on the future, loops on `asyncio.wrap_future`."""
    return asyncio.run_coroutine_threadsafe(work, background_loop())


def background_loop() -> asyncio.AbstractEventLoop:
    """The process's loop, started in a daemon thread at the first call; a forked child starts its own."""
    global _loop, _owner
    with _lock:
        if _loop is None or _owner != os.getpid():
            _loop, _owner = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="rubricate-adapters", daemon=True).start()
        return _loop
