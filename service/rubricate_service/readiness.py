"""Whether to send the service work: asked of its parts by the way that work takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from rubricate_service.pool import CheckPool
from rubricate_service.worker import CheckFault, CheckItem, CheckSpec, Chunk

Part = dict[str, Any]
"""`status` (`ok`, `none`, `failing` …), a `reason` unless it is well, and figures."""

NO_JUDGE: Mapping[str, Any] = {"status": "none", "reason": "no judge is configured"}

_CHUNK = Chunk((CheckSpec("punctuation:no_comma", b"{}"),), (CheckItem("Well.", "", (0,)),), "strict", False)
_LOOK_S = 1.0
_PATIENCE_S = 30.0


class WorkerProbe:
    """Has a check run by a worker of the pool, in its turn behind the checks that wait.

    Workers that are busy are well: only when none has taken up the check for half a minute is something
    wrong. One check is under way at a time, however often it is asked.
    """

    def __init__(self, pool: CheckPool) -> None:
        self._pool = pool
        self._task: asyncio.Task[str | None] | None = None
        self._began = 0.0

    async def look(self) -> Part:
        """The workers' part of readiness, within a second."""
        figures: Part = {
            "alive": self._pool.alive,
            "wanted": self._pool.workers,
            "restarts": self._pool.restarts,
        }
        if self._task is None or self._task.done():
            self._began = time.monotonic()
            self._task = asyncio.create_task(self._check())
        done, _ = await asyncio.wait({self._task}, timeout=_LOOK_S)
        if done:
            why = self._task.result()
        else:
            waited = time.monotonic() - self._began
            figures["busy_s"] = round(waited, 1)
            why = f"no worker has taken up a check for {waited:.0f} s" if waited > _PATIENCE_S else None
        if why is None and not self._pool.alive:
            why = "no worker runs; the log says why"
        return {"status": "failing", "reason": why, **figures} if why else {"status": "ok", **figures}

    async def aclose(self) -> None:
        """Wait no longer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _check(self) -> str | None:
        """Why the check was not decided, or None."""
        deadline = asyncio.get_running_loop().time() + 2 * _PATIENCE_S
        try:
            finding = (await self._pool.run(_CHUNK, deadline))[0][0]
        except Exception as error:
            return f"a check was lost: {type(error).__name__}; the log says more"
        return f"a check failed: {finding.message}" if isinstance(finding, CheckFault) else None
