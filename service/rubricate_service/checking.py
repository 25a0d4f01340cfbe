"""The checks of a request: cut into chunks for the pool, and read back as verdicts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rubricate_checkers import Span
from rubricate_clients.wire import Options
from rubricate_service.normalise import Answer, GroupPlan, RubricPlan
from rubricate_service.pool import LATE, CheckPool, Findings
from rubricate_service.verdict import Grid, Verdict, failed, scored
from rubricate_service.worker import CheckItem, CheckSpec, Chunk, Evidence, Finding, Outcome

# A message to a worker costs about as much as checking one response, so they go by the dozen; small
# enough that all workers get some, and that a worker's death repeats little.
_RESPONSES = 64
_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a distinct answer of a group went: which chunk, which of its items."""

    chunk: int
    item: int


class Checking:
    """The checks of one request, under way. Blank answers are left out when they fail unseen."""

    def __init__(
        self, pool: CheckPool, plans: Sequence[GroupPlan], options: Options, deadline: float
    ) -> None:
        self._places: dict[tuple[int, int], _Place] = {}
        self._options = options
        chunks = self._cut(plans, pool.workers)
        slow: Counter[CheckSpec] = Counter()
        self._chunks = [asyncio.ensure_future(pool.run(chunk, deadline, slow)) for chunk in chunks]
        self._evidence = [
            asyncio.ensure_future(self._explain(pool, chunk, found, deadline))
            for chunk, found in zip(chunks, self._chunks, strict=True)
            if options.explain
        ]

    def _cut(self, plans: Sequence[GroupPlan], workers: int) -> list[Chunk]:
        wanted = [
            (g, a, answer, plan)
            for g, plan in enumerate(plans)
            for a, answer in enumerate(plan.answers)
            if any(r.spec is not None for r in plan.rubrics) and not fails_unseen(answer, self._options)
        ]
        per_chunk = max(1, min(_RESPONSES, -(-len(wanted) // (2 * workers))))
        chunks: list[Chunk] = []
        specs: dict[CheckSpec, int] = {}
        items: list[CheckItem] = []
        characters = 0

        def close() -> None:
            nonlocal specs, items, characters
            if items:
                chunks.append(Chunk(tuple(specs), tuple(items), self._options.mode, explain=False))
            specs, items, characters = {}, [], 0

        for g, a, answer, plan in wanted:
            if len(items) >= per_chunk or characters > _CHARACTERS:
                close()
            numbers = tuple(specs.setdefault(r.spec, len(specs)) for r in plan.rubrics if r.spec is not None)
            self._places[g, a] = _Place(len(chunks), len(items))
            items.append(CheckItem(answer.text, plan.prompt, numbers))
            characters += len(answer.text)
        close()
        return chunks

    async def verdicts(self, g: int, plan: GroupPlan) -> Grid:
        """Per distinct answer and rubric of group `g`: the verdict of each check.

        None for criteria, and for checks that were not decided by the deadline.
        """
        rows = []
        for a, answer in enumerate(plan.answers):
            place = self._places.get((g, a))
            found: list[Outcome] = []
            if place is not None:
                # shielded: other groups wait for the same chunk
                found = (await asyncio.shield(self._chunks[place.chunk]))[place.item]
            rows.append(self._read(plan, answer, found))
        return rows

    async def explain(self, g: int, plan: GroupPlan, grid: Grid) -> None:
        """Add to the verdicts of group `g` where they come from, as far as it is found by the deadline."""
        for a, (answer, row) in enumerate(zip(plan.answers, grid, strict=True)):
            place = self._places.get((g, a))
            if place is None:
                continue
            evidence = iter((await asyncio.shield(self._evidence[place.chunk]))[place.item])
            for rubric, verdict in zip(plan.rubrics, row, strict=True):
                if rubric.spec is not None:
                    spans = next(evidence)
                    if verdict is not None and verdict.status == "scored":
                        verdict.evidence = tuple(_shifted(span, answer.offset) for span in spans)

    async def _explain(
        self, pool: CheckPool, chunk: Chunk, found: asyncio.Future[Findings], deadline: float
    ) -> list[list[Evidence]]:
        await asyncio.wait(self._chunks)  # no verdict of the request waits for evidence
        return await pool.explain(chunk, found.result(), deadline)

    def _read(self, plan: GroupPlan, answer: Answer, found: list[Outcome]) -> list[Verdict | None]:
        outcomes = iter(found)
        is_unseen = fails_unseen(answer, self._options)
        row: list[Verdict | None] = []
        for rubric in plan.rubrics:
            if rubric.fault is not None:
                row.append(rubric.fault)
            elif is_unseen:
                row.append(scored(0.0, False, reason="blank response"))
            elif rubric.is_judged:
                row.append(None)
            else:
                outcome = next(outcomes)
                explain = self._options.explain
                row.append(None if outcome is LATE else _verdict(rubric, answer, outcome, explain))
        return row

    def close(self) -> None:
        """Let go of what is still under way."""
        for work in [*self._chunks, *self._evidence]:
            work.cancel()


def fails_unseen(answer: Answer, options: Options) -> bool:
    """Whether the answer is blank and blank answers fail every rubric."""
    return options.blank == "fail" and answer.is_blank


def _verdict(plan: RubricPlan, answer: Answer, outcome: Outcome, explain: bool) -> Verdict:
    check = plan.check
    assert check is not None  # noqa: S101 - a plan with a spec has its check
    if isinstance(outcome, Finding):
        required = check.required
        if outcome.reason is not None and not answer.is_blank:
            # the text broke the check, and must not gain by it even where the rubric is a pitfall
            return scored(0.0, False, reason=outcome.reason, observed=outcome.observed, required=required)
        holds = outcome.holds is not plan.rubric.is_negative
        verdict = scored(
            float(holds),
            holds,
            reason=outcome.reason,
            observed=outcome.observed,
            required=required,
            parsed=outcome.parsed,
        )
        if explain:
            verdict.variant = outcome.variant
        return verdict
    if outcome.kind == "too_slow":
        if not check.raw_regex:
            return scored(0.0, False, reason=f"text too slow to check: {outcome.message}")
        message = f"{outcome.message}; what the rubric supplies (a pattern, a rule) is the likely cause"
        return failed("timeout", message, plan.path)
    return failed(outcome.kind, outcome.message, plan.path)


def _shifted(span: Span, offset: int) -> tuple[int, int, str]:
    return span.start + offset, span.end + offset, span.kind
