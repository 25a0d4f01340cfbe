"""From a benchmark and files to a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rubricate_service.evaluation.accuracy import accuracies
from rubricate_service.evaluation.benchmark import Benchmark
from rubricate_service.evaluation.join import EvaluationError, Item, join
from rubricate_service.evaluation.muldimif import Row, canonical, figures
from rubricate_service.evaluation.rate import Verdict
from rubricate_service.evaluation.scoring import Mode, Scored, score
from rubricate_service.settings import Settings


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of one model's responses.

    `figures` are the benchmark's own, `constrained` those where a response counts only if the judge also
    finds it a valid answer (None without a judge); their leaves are `Rate`s. `valid` has the judge's word
    on each response. `missing` has the ids of prompts without a response, `strays` the numbers of rows of
    responses without a prompt, `undecided` what has no verdict and why, as (prompt id, rubric id, message).
    """

    benchmark: Benchmark
    responses: int
    figures: dict[str, Any]
    constrained: dict[str, Any] | None = None
    valid: Sequence[Verdict] = ()
    missing: list[str] = field(default_factory=list)
    strays: list[int] = field(default_factory=list)
    undecided: list[tuple[str, str, str]] = field(default_factory=list)


async def evaluate_file(
    benchmark: Benchmark, responses: Path, data: Path | None, settings: Settings
) -> Report:
    """Score one model's responses and report what the benchmark's own evaluator would.

    A prompt without a response fails all its instructions in IFBench, as upstream; in the others it is
    left out of all figures. Either way the report names it. Where a verdict is undecided (the reference
    code would draw a parameter at random, say), its instruction counts neither way, and neither does its
    prompt unless another instruction fails.

    Args:
        benchmark: Whose figures.
        responses: Rows `{key | id | prompt, response}`, or rows of the data set that carry a response.
        data: The benchmark's prompts; None when `responses` carries them.
        settings: Settings of the engine; with a judge there, the constrained figures are made too.

    Raises:
        EvaluationError: The files cannot be read or joined, or hold nothing to evaluate.
    """
    joined = join(benchmark.row_format, responses, data)
    judged = settings.judge is not None
    modes: tuple[Mode, ...] = ("strict",) if benchmark is Benchmark.MULDIMIF else ("strict", "loose")
    missing = [item for item in joined.items if item.response is None]
    if len(missing) == len(joined.items):
        raise EvaluationError(f"no row of {responses} has a response to a prompt of {data or responses}")
    scored = await score(joined.items, modes, settings, judged=judged)
    undecided = [(s.item.group.id, rubric, why) for s in scored for rubric, why in s.faults.items()]
    valid = [s.valid for s in scored]
    if benchmark is Benchmark.IFBENCH:
        scored += [_failed(item, modes) for item in missing]

    def report(verdicts: Callable[[Scored, Mode], Sequence[Verdict]]) -> dict[str, Any]:
        if benchmark is Benchmark.MULDIMIF:
            return figures([_muldimif_row(s.item, verdicts(s, "strict")) for s in scored])
        return {mode: accuracies([(_ids(s.item), verdicts(s, mode)) for s in scored]) for mode in modes}

    return Report(
        benchmark,
        responses=len(joined.items) - len(missing),
        figures=report(lambda s, mode: s.verdicts[mode]),
        constrained=report(Scored.constrained) if judged else None,
        valid=valid if judged else (),
        missing=[item.group.id for item in missing],
        strays=joined.strays,
        undecided=undecided,
    )


def _failed(item: Item, modes: Sequence[Mode]) -> Scored:
    return Scored(item, {mode: [False] * len(item.group.rubrics) for mode in modes}, valid=False)


def _ids(item: Item) -> list[str]:
    return [rubric.check or "" for rubric in item.group.rubrics]


def _muldimif_row(item: Item, verdicts: Sequence[Verdict]) -> Row:
    kinds = []
    for rubric in item.group.rubrics:
        kwargs = rubric.kwargs or {}
        kinds.append(canonical(kwargs["category"], kwargs["subcategory"]))
    pattern, level = (str(item.row.get(name) or "-") for name in ("constraint_pattern", "difficulty"))
    return Row(pattern, level, kinds, verdicts)
