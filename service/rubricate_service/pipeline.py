"""What happens to a request: normalise, check, gate, judge, aggregate (design section 6).

Groups go through on their own, so that one slow group delays no other; what is shared between them is
the worker pool, the judge, and the deadline. Whatever is not decided by the deadline is `failed`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rubricate_clients.wire import CONTRACT_VERSION, Options, ScoreRequest
from rubricate_service import __version__
from rubricate_service.aggregate import Numbers, numbers
from rubricate_service.checking import Checking
from rubricate_service.gate import gate_hard, gate_soft, resolve_judging
from rubricate_service.judge.content_free import is_content_free
from rubricate_service.judge.judge import Judge
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import Answer, JudgeFailure
from rubricate_service.judge.usage import Usage
from rubricate_service.normalise import GroupPlan, RubricPlan, plan_groups
from rubricate_service.pool import CheckPool
from rubricate_service.verdict import Verdict, failed, scored, skipped

log = logging.getLogger("rubricate.pipeline")

Grid = list[list[Verdict | None]]
"""Verdicts per distinct answer and rubric; None where there is none yet."""


@dataclass(frozen=True, slots=True)
class ScoredGroup:
    """A group with all its verdicts (per distinct answer) and the numbers of each response."""

    index: int
    plan: GroupPlan
    verdicts: list[list[Verdict]]
    numbers: list[Numbers]


@dataclass
class Run:
    """One request under way: its options, its deadline (on the event loop's clock), its counters."""

    options: Options
    deadline: float
    deadline_s: float
    started: float = field(default_factory=time.monotonic)
    usage: Usage = field(default_factory=Usage)
    questions: dict[Question, asyncio.Task[Answer]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    responses: int = 0
    check_versions: dict[str, str] = field(default_factory=dict)
    checks_done: float = 0.0
    judge_began: float | None = None
    judge_done: float = 0.0

    def count(self, name: str, by: int = 1) -> None:
        """Add to a counter of the answer's stats."""
        self.counts[name] = self.counts.get(name, 0) + by


class Scorer:
    """Scores requests with one pool of check workers and, where one is configured, one judge."""

    def __init__(self, pool: CheckPool, judge: Judge | None, deadline_s: float) -> None:
        self._pool = pool
        self._judge = judge
        self._deadline_s = deadline_s

    def run(self, options: Options) -> Run:
        """Begin a request: its clock starts now."""
        deadline_s = options.deadline_s or self._deadline_s
        usage = self._judge.usage() if self._judge else Usage()
        return Run(options, asyncio.get_running_loop().time() + deadline_s, deadline_s, usage=usage)

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

    async def _group(self, index: int, plan: GroupPlan, checking: Checking, run: Run) -> ScoredGroup:
        grid: Grid = [[None] * len(plan.rubrics) for _ in plan.answers]
        try:
            async with asyncio.timeout_at(run.deadline):
                grid = await checking.verdicts(index, plan)
        except TimeoutError:
            pass  # what is missing is filled in below
        except Exception:
            log.exception("the checks of group %d were lost", index)
            _fill(grid, plan, lambda r: r.spec is not None, lambda r: failed("crashed", _LOST, r.path))
        run.checks_done = time.monotonic()
        late = f"no verdict within {run.deadline_s:g} s"
        _fill(grid, plan, lambda r: not r.is_judged, lambda r: r.fault or failed("timeout", late, r.path))
        try:
            await self._judge_group(plan, grid, run)
        except Exception:
            log.exception("judging group %d broke", index)
            broke = "judging broke; the service's log says why"
            _fill(grid, plan, lambda r: r.is_judged, lambda r: failed("internal", broke, r.path))
        _fill(grid, plan, lambda r: True, lambda r: failed("timeout", late, r.path))
        verdicts = [[v for v in row if v is not None] for row in grid]
        rubrics = [r.rubric for r in plan.rubrics]
        per_answer = [numbers(rubrics, row, run.options.outcome, run.options.reward) for row in verdicts]
        scored_group = ScoredGroup(index, plan, verdicts, [per_answer[answer] for answer in plan.members])
        _count(scored_group, run)
        return scored_group

    async def _judge_group(self, plan: GroupPlan, grid: Grid, run: Run) -> None:
        """Fill in the verdicts of the criteria: first what needs no judge, then hard, then soft ones."""
        if not any(r.is_judged for r in plan.rubrics):
            return
        judging = resolve_judging(run.options)
        if judging != "none":
            self._settle_content_free(plan, grid)
        rubrics = [r.rubric for r in plan.rubrics]
        # the fault of a hard check is the same for all responses: none can be eligible
        faulty = any(r.fault is not None and r.rubric.is_hard for r in plan.rubrics)
        gates = [gate_hard(rubrics, row, faulty, run.options) for row in grid]
        await self._ask(plan, grid, gates, run, hard=True)
        gates = gate_soft(rubrics, grid, plan.members, judging)
        await self._ask(plan, grid, gates, run, hard=False)

    @staticmethod
    def _settle_content_free(plan: GroupPlan, grid: Grid) -> None:
        for answer, row in zip(plan.answers, grid, strict=True):
            if not is_content_free(answer.text, plan.prompt):
                continue
            for i, rubric in enumerate(plan.rubrics):
                if row[i] is None and rubric.is_judged and not rubric.rubric.is_negative:
                    row[i] = scored(0.0, False, reason="content_free")

    async def _ask(self, plan: GroupPlan, grid: Grid, gates: Sequence[Any], run: Run, *, hard: bool) -> None:
        """Ask the open questions of one kind, rubrics of one response adjacent; skip what is gated."""
        asked = []
        for a, (row, gate) in enumerate(zip(grid, gates, strict=True)):
            for i, rubric in enumerate(plan.rubrics):
                if row[i] is not None or not rubric.is_judged or rubric.rubric.is_hard is not hard:
                    continue
                if gate is not None:
                    row[i] = skipped(gate)
                else:
                    asked.append(self._ask_one(plan, a, rubric, run, row, i))
        if asked:
            run.judge_began = run.judge_began or time.monotonic()
            await asyncio.gather(*asked)
            run.judge_done = time.monotonic()

    async def _ask_one(
        self, plan: GroupPlan, a: int, rubric: RubricPlan, run: Run, row: list[Verdict | None], i: int
    ) -> None:
        if self._judge is None:
            row[i] = failed("no_judge", _NO_JUDGE, rubric.path)
            return
        question = Question(plan.turns, plan.answers[a].text, rubric.rubric.criterion or "", plan.reference)
        task = run.questions.get(question)
        repeated = task is not None
        if task is None:
            task = asyncio.ensure_future(
                self._judge.ask(question, cache=run.options.cache, deadline=run.deadline, usage=run.usage)
            )
            run.questions[question] = task
        try:
            # a grace past the deadline: the judge itself says better what it was waiting for
            async with asyncio.timeout_at(run.deadline + 0.5):
                answer = await asyncio.shield(task)
        except JudgeFailure as failure:
            row[i] = failed(failure.kind, failure.message, rubric.path)
        except TimeoutError:
            return
        except Exception as error:
            log.exception("asking the judge broke")
            row[i] = failed("internal", f"asking the judge broke: {type(error).__name__}", rubric.path)
        else:
            twins = plan.members.count(a) - 1 + repeated
            if answer.cached:
                run.usage.cached += twins
            else:
                run.usage.joined += twins
            row[i] = _judged(rubric, answer, run.options)
        if run.options.explain and (verdict := row[i]) is not None:
            verdict.judge_prompt = self._judge.messages(question)

    def provenance(self, run: Run) -> dict[str, Any]:
        """What decided this request, for the record."""
        return {
            "service": __version__,
            "contract": CONTRACT_VERSION,
            "checks": run.check_versions,
            "judge": self._judge.provenance() if self._judge else None,
        }


_LOST = "the worker pool lost this check; the service's log says why"
_NO_JUDGE = "no judge is configured: start the service with --judge URL (or --judge embedded to try it)"


def _fill(
    grid: Grid, plan: GroupPlan, which: Callable[[RubricPlan], bool], verdict: Callable[[RubricPlan], Verdict]
) -> None:
    """Put a verdict where there is none yet."""
    for row in grid:
        for i, rubric in enumerate(plan.rubrics):
            if row[i] is None and which(rubric):
                row[i] = verdict(rubric)


def _judged(plan: RubricPlan, answer: Answer, options: Options) -> Verdict:
    rubric = plan.rubric
    value = answer.label if options.score == "label" else answer.expected
    if value is None and rubric.is_hard:
        value = answer.label  # which decides it anyway
    if value is None:
        message = "`score: expected` needs label probabilities, and the judge gave none that mean anything"
        return failed("unreadable", message, plan.path)
    label = 1 - answer.label if rubric.is_negative else answer.label
    return scored(
        1 - value if rubric.is_negative else value,
        # decided on the label: an expected score hovers around a threshold
        label >= rubric.pass_at,
        label=round(2 * answer.label),
        expected=answer.expected,
        label_mass=answer.label_mass,
        cached=answer.cached,
    )


def _count(group: ScoredGroup, run: Run) -> None:
    run.responses += len(group.plan.members)
    for answer in group.plan.members:
        for rubric, verdict in zip(group.plan.rubrics, group.verdicts[answer], strict=True):
            run.count(f"{'judge' if rubric.is_judged else 'checks'}.{verdict.status}")


def stats(run: Run) -> dict[str, Any]:
    """The `stats` of an answer: verdicts by fate, judge calls and tokens, seconds by stage."""
    counts, usage, now = run.counts, run.usage, time.monotonic()
    judge_s = run.judge_done - run.judge_began if run.judge_began is not None else 0.0
    return {
        "responses": run.responses,
        "checks": {name: counts.get(f"checks.{name}", 0) for name in ("scored", "failed")},
        "judge": {
            "scored": counts.get("judge.scored", 0),
            "failed": counts.get("judge.failed", 0),
            "calls": usage.calls,
            "cached": usage.cached,
            "joined": usage.joined,
            "skipped": counts.get("judge.skipped", 0),
            "prompt_tokens": usage.prompt_tokens,
            "cached_prompt_tokens": usage.cached_prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            **({} if usage.cost is None else {"cost": round(usage.cost, 9)}),
        },
        "seconds": {
            "queue": 0.0,
            "check": round(max(0.0, run.checks_done - run.started), 6),
            "judge": round(judge_s, 6),
            "total": round(now - run.started, 6),
        },
    }
