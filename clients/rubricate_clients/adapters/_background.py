"""One event loop for all adapters of a process: trainers call from threads and from loops of their own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from rubricate_clients.client import AsyncRewardClient

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _forget() -> None:
    """A forked child has no thread that runs the loop, and its lock may be held by nobody."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_forget)


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Run the coroutine in the background; threads wait on the future, loops on `asyncio.wrap_future`."""
    return asyncio.run_coroutine_threadsafe(work, background_loop())


def background_loop() -> asyncio.AbstractEventLoop:
    """The process's loop, started in a daemon thread at the first call; a forked child starts its own."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="rubricate-adapters", daemon=True).start()
        return _loop


def close_with(owner: object, client: AsyncRewardClient) -> None:
    """Close the client's background connections when its owner is collected, or else when Python ends."""
    weakref.finalize(owner, _close, client)


def _close(client: AsyncRewardClient) -> None:
    # without the lock: a collection may begin anywhere, also in a thread that holds it
    loop = _loop
    if loop is None or not loop.is_running():
        return
    closing = asyncio.run_coroutine_threadsafe(client.aclose(), loop)
    # Python ends in its main thread, and would not wait for the loop's
    if threading.current_thread() is threading.main_thread():
        with contextlib.suppress(TimeoutError):
            closing.result(1.0)
