"""What happens to a request: normalise, check, gate, judge, aggregate (design section 6).

Groups go through on their own, so that one slow group delays no other; what is shared between them is
the worker pool, the judge, and the deadline. Whatever is not decided by the deadline is `failed`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

from rubricate_clients.wire import CONTRACT_VERSION, Options, ScoreRequest
from rubricate_service import __version__
from rubricate_service.aggregate import Numbers, numbers
from rubricate_service.checking import Checking
from rubricate_service.errors import told_without_texts
from rubricate_service.judge.judge import Judge
from rubricate_service.judge.usage import Usage
from rubricate_service.judging import judge_group
from rubricate_service.normalise import GroupPlan, RubricPlan, plan_groups
from rubricate_service.pool import CheckPool
from rubricate_service.run import Run
from rubricate_service.telemetry.counting import count_run
from rubricate_service.verdict import Grid, Verdict, failed

log = logging.getLogger("rubricate.pipeline")


@dataclass(frozen=True, slots=True)
class ScoredGroup:
    """A group with all its verdicts (per distinct answer) and the numbers of each response."""

    index: int
    plan: GroupPlan
    verdicts: list[list[Verdict]]
    numbers: list[Numbers]


class Scorer:
    """Scores requests with one pool of check workers and, where one is configured, one judge."""

    def __init__(self, pool: CheckPool, judge: Judge | None, deadline_s: float) -> None:
        self._pool = pool
        self._judge = judge
        self._deadline_s = deadline_s

    def run(self, options: Options, tenant: str = "") -> Run:
        """Begin a request of a tenant (`""`: of nobody in particular): its clock starts now."""
        deadline_s = options.deadline_s or self._deadline_s
        usage = self._judge.usage() if self._judge else Usage()
        deadline = asyncio.get_running_loop().time() + deadline_s
        return Run(options, deadline, deadline_s, usage=usage, tenant=tenant)

    async def stream(self, request: ScoreRequest, run: Run) -> AsyncGenerator[ScoredGroup, None]:
        """The groups of a request, each as soon as it is complete, in any order."""
        # off the loop: compiling what a rubric supplies (patterns, rules) may take its time
        plans = await asyncio.to_thread(plan_groups, request)
        run.check_versions = {
            r.check.id: r.check.version for plan in plans for r in plan.rubrics if r.check is not None
        }
        checking = Checking(self._pool, plans, run.options, run.deadline)
        tasks = [asyncio.ensure_future(self._group(i, plan, checking, run)) for i, plan in enumerate(plans)]
        try:
            for done in asyncio.as_completed(tasks):
                yield await done
        finally:
            for task in [*tasks, *run.questions.values()]:
                task.cancel()
            checking.close()
            count_run(run)

    async def _group(self, index: int, plan: GroupPlan, checking: Checking, run: Run) -> ScoredGroup:
        grid: Grid = [[None] * len(plan.rubrics) for _ in plan.answers]
        try:
            grid = await checking.verdicts(index, plan)  # by the deadline at the latest
        except Exception as error:
            log.error("the checks of group %d were lost: %s", index, told_without_texts(error))  # noqa: TRY400
            _fill(grid, plan, lambda r: r.spec is not None, lambda r: failed("crashed", _LOST, r.path))
        run.checks_done = time.monotonic()
        late = f"no verdict within {run.deadline_s:g} s"
        _fill(grid, plan, lambda r: not r.is_judged, lambda r: r.fault or failed("timeout", late, r.path))
        try:
            await judge_group(self._judge, plan, grid, run)
        except Exception as error:
            log.error("judging group %d broke: %s", index, told_without_texts(error))  # noqa: TRY400
            broke = "judging broke; the service's log says why"
            _fill(grid, plan, lambda r: r.is_judged, lambda r: failed("internal", broke, r.path))
        _fill(grid, plan, lambda r: True, lambda r: failed("timeout", late, r.path))
        if run.options.explain:
            await _explain(checking, index, plan, grid)
        verdicts = [[v for v in row if v is not None] for row in grid]
        rubrics = [r.rubric for r in plan.rubrics]
        per_answer = [numbers(rubrics, row, run.options.outcome, run.options.reward) for row in verdicts]
        scored_group = ScoredGroup(index, plan, verdicts, [per_answer[answer] for answer in plan.members])
        run.responses += len(plan.members)
        for answer in plan.members:
            for rubric, verdict in zip(plan.rubrics, verdicts[answer], strict=True):
                run.count(rubric.is_judged, verdict)
        return scored_group

    def provenance(self, run: Run) -> dict[str, Any]:
        """What decided this request, for the record."""
        return {
            "service": __version__,
            "contract": CONTRACT_VERSION,
            "checks": run.check_versions,
            "judge": self._judge.provenance() if self._judge else None,
        }


async def _explain(checking: Checking, index: int, plan: GroupPlan, grid: Grid) -> None:
    try:
        await checking.explain(index, plan, grid)
    except Exception as error:  # the verdicts stand without evidence
        log.error("the evidence of group %d was lost: %s", index, told_without_texts(error))  # noqa: TRY400


_LOST = "the worker pool lost this check; the service's log says why"


def _fill(
    grid: Grid, plan: GroupPlan, which: Callable[[RubricPlan], bool], verdict: Callable[[RubricPlan], Verdict]
) -> None:
    """Put a verdict where there is none yet."""
    for row in grid:
        for i, rubric in enumerate(plan.rubrics):
            if row[i] is None and which(rubric):
                row[i] = verdict(rubric)
