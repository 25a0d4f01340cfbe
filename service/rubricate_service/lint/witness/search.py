"""The search: drafts, asked of the real checks, and the smallest set of these that none passes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rubricate_checkers import Check
from rubricate_checkers.suites.iftrain.copying import CopyingMultiple
from rubricate_service.lint.chunk import chunk_of
from rubricate_service.lint.demand import Bounds, Contains, Demand, Exact, Excludes, InLanguage
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup, BuiltRubric
from rubricate_service.lint.witness.plan import draft_for, filler_for, styles
from rubricate_service.lint.witness.repair import repaired
from rubricate_service.pool import CheckPool
from rubricate_service.worker import CheckFault
from rubricate_service.worker import Finding as Found

_SECONDS = 5.0
"""Time that a group may take at the very most: it is the attempts that are counted, which end within a tenth
of that, so that the answer does not hang on how busy the machine is."""
_MOST_DEMANDS = 1_000
"""Of a group that is searched: a draft is gone through for each of them."""
_BATCH = 8
_ATTEMPTS = 48
_FEWER_ATTEMPTS = 16
_LENGTH = ("words", "characters", "letters", "capitals")
_SENTENCE = 20
_LENGTHS = (1,)
_LANGUAGE_LENGTHS = (1, 6, 30)
_MANY_LENGTHS = (1, 0, 4, 12, 40)
"""Numbers of sentences to begin with: where counts say how many, where the language is to be made plain, and
where a rubric does not say what it asks for."""


@dataclass(frozen=True, slots=True)
class Searched:
    """A response that passes, None where none was found; and W-unsat where that says something."""

    response: str | None
    findings: list[Finding] = field(default_factory=list)


async def search(pool: CheckPool, group: BuiltGroup, known: Sequence[Finding], deadline: float) -> Searched:
    """Search for a response that passes all checks of a group.

    Where none is found, and one is found for each rubric by itself, a smallest set of rubrics for which
    none is found is told. Rubrics that nobody says the demands of are not blamed: they may be met by what
    the search does not think of. A group with an error has no such response, and one with a check that could
    not decide about a probe has none that can be told: they are not searched.

    Args:
        pool: Where the checks run.
        group: The group; its criteria are not asked.
        known: Findings about it.
        deadline: On the event loop's clock.
    """
    if sum(len(rubric.demands or ()) for rubric in group.checks) > _MOST_DEMANDS:
        return Searched(None)
    undecided = any(isinstance(found, CheckFault) for r in group.checks for found in group.all_said(r))
    if undecided or any(finding.severity == "error" for finding in known):
        return Searched(None)
    until = min(deadline, asyncio.get_running_loop().time() + _SECONDS)
    hunt = _Hunt(pool, group, until)
    try:
        async with asyncio.timeout_at(until):
            response = await hunt.find(group.checks, _ATTEMPTS)
    except TimeoutError:
        return Searched(None)
    if response is not None:
        return Searched(response)
    try:
        async with asyncio.timeout_at(until):
            blamed = await hunt.smallest()
    except TimeoutError:
        return Searched(None)
    return Searched(None, [_finding(blamed)] if blamed else [])


def _finding(blamed: Sequence[BuiltRubric]) -> Finding:
    required = "; ".join(f"{r.path}: {r.check.asked[:80]}" for r in blamed if r.check is not None)
    message = f"no response found that passes these {len(blamed)} together: {required}"
    return RULES["W-unsat"].at(blamed[-1].path, message)


class _Hunt:
    """The search in one group."""

    def __init__(self, pool: CheckPool, group: BuiltGroup, until: float) -> None:
        self._pool = pool
        self._group = group
        self._until = until

    async def find(self, rubrics: Sequence[BuiltRubric], attempts: int) -> str | None:
        """A response that passes these rubrics, None where the attempts are used up."""
        candidates = islice(filter(str.strip, _candidates(rubrics)), attempts)  # blank responses score 0
        # off the loop: drafts of many demands take their time
        while batch := await asyncio.to_thread(lambda: list(dict.fromkeys(islice(candidates, _BATCH)))):
            chunk = chunk_of(self._group, rubrics, batch)
            for text, row in zip(batch, await self._pool.run(chunk, self._until), strict=True):
                if all(
                    isinstance(found, Found) and found.holds is not rubric.rubric.is_negative
                    for rubric, found in zip(rubrics, row, strict=True)
                ):
                    return text
        return None

    async def smallest(self) -> list[BuiltRubric]:
        """A smallest set of rubrics that no response is found for though each has one; empty where none."""
        alone = [
            rubric
            for rubric in self._group.demanding
            if rubric.demands is not None and await self.find([rubric], _FEWER_ATTEMPTS) is not None
        ]
        if len(alone) < 2 or await self.find(alone, _ATTEMPTS) is not None:
            return []
        for rubric in list(alone):
            rest = [other for other in alone if other is not rubric]
            if len(rest) > 1 and await self.find(rest, _FEWER_ATTEMPTS) is None:
                alone = rest
        return alone


def _candidates(rubrics: Sequence[BuiltRubric]) -> Iterator[str]:
    """Texts to try, each once."""
    demands: list[Demand] = []
    cores = [""]
    opaque = False
    for rubric in rubrics:
        if rubric.rubric.is_negative or rubric.demands is None:
            opaque = True
            demands += _opposite(rubric)
            if rubric.check is not None and not rubric.rubric.is_negative:
                cores.append(type(rubric.check).example.passes)
        else:
            demands += rubric.demands
        if rubric.check is not None:
            yield from _given(rubric.check)
    for demand in demands:
        if isinstance(demand, Exact):
            yield from demand.texts
    bounds = [demand for demand in demands if isinstance(demand, Bounds)]
    yield from cores[1:]
    opaque = opaque or any(b.measure.kind == "sentences" and b.measure.count is None for b in bounds)
    spoken = any(isinstance(demand, InLanguage) for demand in demands)
    lengths = _MANY_LENGTHS if opaque else _LANGUAGE_LENGTHS if spoken else _LENGTHS
    yield from _shortest(demands)
    for style in styles(demands, cores, lengths=lengths):
        draft = draft_for(demands, style)
        if draft is not None:
            yield repaired(draft, bounds).write()


def _shortest(demands: Sequence[Demand]) -> Iterator[str]:
    """A few loose words, where there may not be more, and a mark where there may be none."""
    highest = min(
        (d.high for d in demands if isinstance(d, Bounds) and d.measure.kind in _LENGTH), default=math.inf
    )
    if highest < _SENTENCE:
        filler = filler_for(demands)
        for count in (3, 2, 1):
            if count <= highest:
                yield " ".join(filler.words[:count])
        yield from filter(filler.may_use, "…-.")


def _opposite(rubric: BuiltRubric) -> list[Demand]:
    """What a pitfall asks to leave out, where that is a single phrase."""
    phrases = [demand for demand in rubric.demands or () if isinstance(demand, Contains)]
    if not rubric.rubric.is_negative or len(phrases) != 1:
        return []
    return [Excludes(phrases[0].phrase, phrases[0].cased, phrases[0].word)]


def _given(check: Check) -> Iterator[str]:
    """Texts that a check all but spells out."""
    if isinstance(check, CopyingMultiple) and len(check.prompt_to_repeat) * 100 >= check.N:
        yield "\n******\n".join([check.prompt_to_repeat.strip()] * int(check.N))
