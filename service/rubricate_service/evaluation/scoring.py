"""The engine over a benchmark's responses: a verdict for every rubric, strict and loose."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from rubricate_clients.wire import Group, Options, Rubric, ScoreRequest
from rubricate_service.app import running_engine
from rubricate_service.evaluation.join import Item
from rubricate_service.evaluation.rate import Verdict, all_hold
from rubricate_service.pipeline import ScoredGroup, Scorer
from rubricate_service.settings import Settings

Mode = Literal["strict", "loose"]
_BATCH = 64

VALIDITY = Rubric(
    id="semantic validity",
    criterion="The response is a semantically valid answer to the prompt: it makes sense, and it answers "
    "what the prompt asks. Whether it keeps to the prompt's rules of form or wording does not matter here.",
    hard=True,
)
"""What a response must also be to count in the content-constrained figures."""


@dataclass(slots=True)
class Scored:
    """Verdicts on one response, in the order of its rubrics, by mode.

    `valid` is the judge's word on the response's content, None when undecided or not asked for.
    `faults` says why verdicts are undecided, as (rubric id, message).
    """

    item: Item
    verdicts: dict[Mode, list[Verdict]] = field(default_factory=dict)
    valid: Verdict = None
    faults: dict[str, str] = field(default_factory=dict)

    def constrained(self, mode: Mode) -> list[Verdict]:
        """The verdicts, each of which holds only if the response is valid too."""
        return [all_hold((verdict, self.valid)) for verdict in self.verdicts[mode]]


async def score(
    items: Sequence[Item], modes: Sequence[Mode], settings: Settings, *, judged: bool
) -> list[Scored]:
    """Score the items that have a response, as the benchmarks' own loops do.

    Thinking is kept and blank responses are given to the checks. With `judged`, the settings' judge also
    says whether each response is valid.
    """
    answered = iter([Scored(item) for item in items if item.response is not None])
    done: list[Scored] = []
    async with running_engine(settings) as engine:
        while batch := list(islice(answered, _BATCH)):
            for n, mode in enumerate(modes):
                await _score_batch(engine.scorer, batch, mode, judged=judged and n == 0)
            done += batch
    return done


async def _score_batch(scorer: Scorer, batch: Sequence[Scored], mode: Mode, *, judged: bool) -> None:
    groups = [
        Group(
            prompt=scored.item.group.prompt,
            rubrics=[*scored.item.group.rubrics, VALIDITY] if judged else scored.item.group.rubrics,
            responses=[scored.item.response or ""],
        )
        for scored in batch
    ]
    options = Options(mode=mode, thinking="keep", blank="check", judging="all" if judged else "none")
    request = ScoreRequest(groups=groups, options=options)
    async with aclosing(scorer.stream(request, scorer.run(options))) as stream:
        async for group in stream:
            _take(batch[group.index], group, mode, judged=judged)


def _take(scored: Scored, group: ScoredGroup, mode: Mode, *, judged: bool) -> None:
    (verdicts,) = group.verdicts
    for rubric, verdict in zip(group.plan.rubrics, verdicts, strict=True):
        if verdict.holds is None:
            scored.faults[rubric.id] = f"{verdict.kind}: {verdict.message}"
    holds = [verdict.holds for verdict in verdicts]
    if judged:
        scored.valid = holds.pop()
    scored.verdicts[mode] = holds
