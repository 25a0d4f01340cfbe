"""Linting groups: build them, ask the check workers about texts, apply the rules, search for witnesses."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pydantic import BaseModel

from rubricate_service.lint.build import build_group
from rubricate_service.lint.chunk import chunk_of
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup, LintGroup
from rubricate_service.lint.rules import GROUP_RULES
from rubricate_service.lint.rules.responses import PROBES
from rubricate_service.lint.witness.search import search
from rubricate_service.lint.work import Exhausted, Work
from rubricate_service.pool import CheckPool
from rubricate_service.worker import CheckSpec, Chunk, Outcome
from rubricate_service.worker import Finding as Found

_MOST_TOLD = 100
_MOST_COUNTED = 10_000
"""Findings of one rule about one group that are told one by one, and those beyond that are counted."""


class Witness(BaseModel):
    """A response that passes all checks of a group, or None where none was found."""

    path: str
    response: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """What linting found; `witnesses` is empty unless they were asked for."""

    findings: list[Finding] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    groups: list[BuiltGroup] = field(default_factory=list)


class Linter:
    """Lints groups with a pool of check workers: what a rubric supplies never runs in this process."""

    def __init__(self, pool: CheckPool) -> None:
        self._pool = pool

    async def lint(
        self, groups: Sequence[tuple[str, LintGroup]], deadline_s: float, witness: bool = False
    ) -> Report:
        """Findings about groups, each given with its path, in the groups' order.

        Args:
            groups: (path, group): the findings' paths begin with it.
            deadline_s: Seconds until the workers' answers must be there; what is late is left unsaid.
            witness: Whether to search for a response that passes all checks of each group.
        """
        deadline = asyncio.get_running_loop().time() + deadline_s
        # off the loop: compiling what a rubric supplies (patterns, rules) may take its time
        until, stopped = time.monotonic() + deadline_s, threading.Event()
        try:
            built = await asyncio.to_thread(
                lambda: [build_group(path, group, Work(until, stopped)) for path, group in groups]
            )
            flips = await self._ask([group for group, _ in built], deadline)
            per_group = await asyncio.to_thread(lambda: [_apply(group, faults) for group, faults in built])
        finally:
            stopped.set()  # a thread that nobody waits for any more ends soon
        witnesses: list[Witness] = []
        for (group, _), findings in zip(built, per_group, strict=True):
            findings += [flip for flip in flips if flip.path.startswith(f"{group.path}.")]
            if witness and group.checks:
                found = await search(self._pool, group, findings, deadline)
                witnesses.append(Witness(path=group.path, response=found.response))
                findings += found.findings
        everything = [finding for findings in per_group for finding in findings]
        return Report(everything, witnesses, [group for group, _ in built])

    async def _ask(self, groups: Iterable[BuiltGroup], deadline: float) -> list[Finding]:
        """Ask the checks about probes and samples, twice, and note what says something else (W07)."""
        flips: list[Finding] = []
        tasks = [self._ask_group(group, deadline) for group in groups if group.checks]
        for found in await asyncio.gather(*tasks):
            flips += found
        return flips

    async def _ask_group(self, group: BuiltGroup, deadline: float) -> list[Finding]:
        texts = list(dict.fromkeys([*PROBES, *group.responses]))
        chunk = chunk_of(group, group.checks, texts)
        slow: Counter[CheckSpec] = Counter()  # what is too slow twice is not run on the other texts
        rounds = [await self._answers(chunk, deadline, slow) for _ in range(2 if group.responses else 1)]
        flips = []
        for number, rubric in enumerate(group.checks):
            answers = [[row[number] for row in rows] for rows in rounds if rows is not None]
            for rows in answers[:1]:
                group.outcomes[rubric.path] = dict(zip(texts, rows, strict=True))
            if len(answers) == 2 and (count := _differences(*answers)):
                message = f"asked twice, its check says something else of {count} of {len(texts)} texts"
                flips.append(RULES["W07"].at(rubric.path, message))
        return flips

    async def _answers(
        self, chunk: Chunk, deadline: float, slow: Counter[CheckSpec]
    ) -> list[list[Outcome]] | None:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._pool.run(chunk, deadline, slow)
        except TimeoutError:
            return None


def _differences(first: Sequence[object], second: Sequence[object]) -> int:
    pairs = zip(first, second, strict=True)
    return sum(isinstance(a, Found) and isinstance(b, Found) and a.holds != b.holds for a, b in pairs)


def _apply(group: BuiltGroup, faults: list[Finding]) -> list[Finding]:
    """The faults and what the rules find, up to where the group's work is exhausted."""
    findings = list(_capped(group, iter(faults)))
    try:
        for rule in GROUP_RULES:
            group.work.look()
            for finding in _capped(group, rule(group)):
                findings.append(finding)  # one by one: what was found before an end stays
    except Exhausted:
        findings.append(RULES["W-limit"].at(group.path, "not all of its rubrics could be compared"))
    return findings


def _capped(group: BuiltGroup, found: Iterator[Finding]) -> Iterator[Finding]:
    """The first findings, and how many more there are."""
    last = None
    for last in islice(found, _MOST_TOLD):
        yield last
    more = sum(1 for _ in islice(found, _MOST_COUNTED))
    if last is not None and more:
        count = f"{more:,}" if more < _MOST_COUNTED else f"at least {more:,}"
        message = f"and {count} more like the {_MOST_TOLD} that are told"
        yield RULES[last.rule].at(group.path, message, severity=last.severity)
