"""The criteria of a group: which the judge is asked, and its answers read as verdicts."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from rubricate_clients.wire import Options, SkipReason
from rubricate_service.errors import told_without_texts
from rubricate_service.gate import gate_hard, gate_soft, resolve_judging
from rubricate_service.judge.content_free import is_content_free
from rubricate_service.judge.judge import Judge
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import Answer, JudgeFailure
from rubricate_service.normalise import GroupPlan, RubricPlan
from rubricate_service.run import Run
from rubricate_service.verdict import Grid, Verdict, failed, scored, skipped

log = logging.getLogger("rubricate.pipeline")

_NO_JUDGE = "no judge is configured: start the service with --judge URL (or --judge embedded to try it)"


async def judge_group(judge: Judge | None, plan: GroupPlan, grid: Grid, run: Run) -> None:
    """Fill in the verdicts of the criteria: first what needs no judge, then hard, then soft ones."""
    if not any(r.is_judged for r in plan.rubrics):
        return
    judging = resolve_judging(run.options)
    if judging != "none":
        _settle_content_free(plan, grid)
    rubrics = [r.rubric for r in plan.rubrics]
    # the fault of a hard check is the same for all responses: none can be eligible
    faulty = any(r.fault is not None and r.rubric.is_hard for r in plan.rubrics)
    gates = [gate_hard(rubrics, row, faulty, run.options) for row in grid]
    await _ask(judge, plan, grid, gates, run, hard=True)
    gates = gate_soft(rubrics, grid, plan.members, judging)
    await _ask(judge, plan, grid, gates, run, hard=False)


def _settle_content_free(plan: GroupPlan, grid: Grid) -> None:
    for answer, row in zip(plan.answers, grid, strict=True):
        if not is_content_free(answer.text, plan.prompt):
            continue
        for i, rubric in enumerate(plan.rubrics):
            if row[i] is None and rubric.is_judged and not rubric.rubric.is_negative:
                row[i] = scored(0.0, False, reason="content_free")


async def _ask(
    judge: Judge | None,
    plan: GroupPlan,
    grid: Grid,
    gates: Sequence[SkipReason | None],
    run: Run,
    *,
    hard: bool,
) -> None:
    """Ask the open questions of one kind, rubrics of one response adjacent; skip what is gated."""
    asked = []
    for a, (row, gate) in enumerate(zip(grid, gates, strict=True)):
        for i, rubric in enumerate(plan.rubrics):
            if row[i] is not None or not rubric.is_judged or rubric.rubric.is_hard is not hard:
                continue
            if gate is not None:
                row[i] = skipped(gate)
            else:
                asked.append(_ask_one(judge, plan, a, rubric, run, row, i))
    if asked:
        run.judge_began = run.judge_began or time.monotonic()
        await asyncio.gather(*asked)
        run.judge_done = time.monotonic()


async def _ask_one(
    judge: Judge | None,
    plan: GroupPlan,
    a: int,
    rubric: RubricPlan,
    run: Run,
    row: list[Verdict | None],
    i: int,
) -> None:
    if judge is None:
        row[i] = failed("no_judge", _NO_JUDGE, rubric.path)
        return
    question = Question(plan.turns, plan.answers[a].text, rubric.rubric.criterion or "", plan.reference)
    task = run.questions.get(question)
    repeated = task is not None
    if task is None:
        task = asyncio.ensure_future(
            judge.ask(
                question,
                cache=run.options.cache,
                deadline=run.deadline,
                usage=run.usage,
                tenant=run.tenant,
            )
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
        log.error("asking the judge broke: %s", told_without_texts(error))  # noqa: TRY400
        row[i] = failed("internal", f"asking the judge broke: {type(error).__name__}", rubric.path)
    else:
        twins = plan.members.count(a) - 1 + repeated
        if answer.cached:
            run.usage.cached += twins
        else:
            run.usage.joined += twins
        row[i] = _judged(rubric, answer, run.options)
    if run.options.explain and (verdict := row[i]) is not None:
        verdict.judge_prompt = judge.messages(question)


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
