"""The canaries of a service that has started: asked once in the background, shown by readiness."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from rubricate_service.judge.canary import Report, check
from rubricate_service.judge.judge import Judge

log = logging.getLogger("rubricate.judge")

_RUNS = 2  # the fewest that show whether it repeats itself
_LOOK_S = 1.0


class CanaryWatch:
    """What the canaries say of a judge, as soon as they do.

    Args:
        judge: The judge, or None when none is configured.
        wanted: Whether to ask it, or None to ask a vLLM only: whoever else serves it may bill each call.
    """

    def __init__(self, judge: Judge | None, wanted: bool | None):
        self._judge = judge
        self._wanted = wanted
        self._report: Report | None = None

    def status(self) -> dict[str, Any]:
        """For readiness: nothing without a report, else ``canaries`` with its figures."""
        report = self._report
        if report is None:
            return {}
        return {
            "canaries": {
                "false_positive_rate": _rounded(report.false_positive_rate),
                "agreement": _rounded(report.agreement),
                "repeatability": _rounded(report.repeatability),
                "label_mass": _rounded(report.label_mass),
                "runs": report.runs,
                "failed": len(report.failures),
            }
        }

    async def run(self) -> None:
        """Wait until the judge is known, then ask it."""
        if self._judge is None or self._wanted is False:
            return
        # one that is down at the start becomes known by the first question that it answers
        while (judge := self._judge.provenance())["model"] is None:  # noqa: ASYNC110  it tells nobody
            await asyncio.sleep(_LOOK_S)
        if self._wanted is None and judge.get("form") != "prefilled":
            return
        self._report = await check(self._judge, _RUNS)
        rate = self._report.false_positive_rate
        if rate:
            log.warning(
                "judge %r gives credit to %.0f %% of the answers that deserve none; `rubricate judge check` "
                "shows them",
                judge["name"],
                100 * rate,
            )


@asynccontextmanager
async def watching(judge: Judge | None, wanted: bool | None) -> AsyncIterator[CanaryWatch]:
    """A watch that asks in the background, and stops asking at the end."""
    watch = CanaryWatch(judge, wanted)
    task = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 4)
