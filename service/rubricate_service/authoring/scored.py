"""What a report is about: groups with their verdicts, read from a file or scored first."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from rubricate_clients.faults import details_of, ids_of
from rubricate_clients.wire import Group, Options, Rubric, ScoredGroup, ScoredResponse
from rubricate_service.app import Engine, running_engine
from rubricate_service.authoring.expectations import CaseGroup
from rubricate_service.authoring.files import FileError, Row, parsed, read_as, read_rows
from rubricate_service.authoring.scoring import score_groups
from rubricate_service.normalise import plan_group, prompt_text
from rubricate_service.settings import Settings
from rubricate_service.worker import CheckItem, CheckSpec, Chunk

_TIMED = 40
"""Responses on which the time of a check is taken."""
_TIMING_S = 120.0


@dataclass(frozen=True, slots=True)
class ReportGroup:
    """A group of a report.

    Attributes:
        id: Its id.
        rubric_ids: Ids of its rubrics, in their order.
        responses: Its responses with their verdicts.
        source: The group as it was to be scored; None where the file has only verdicts.
    """

    id: str
    rubric_ids: list[str]
    responses: list[ScoredResponse]
    source: Group | None = None

    @property
    def rubrics(self) -> list[Rubric | None]:
        """Its rubrics, in their order."""
        return [*self.source.rubrics] if self.source else [None] * len(self.rubric_ids)

    @property
    def prompt(self) -> str | None:
        """What text checks see of its prompt."""
        return prompt_text(self.source.prompt) if self.source else None

    @property
    def texts(self) -> list[str] | list[None]:
        """Texts of its responses."""
        return self.source.texts() if self.source else [None] * len(self.responses)


@dataclass(frozen=True, slots=True)
class Scores:
    """Groups with their verdicts, and a line for each row that is left out.

    `seconds` has what a check takes on one response by itself, by the check's id, where that was measured.
    """

    groups: list[ReportGroup]
    faults: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


async def read_scores(
    source: Path, of: Path | None, options: Options, settings: Settings, console: Console
) -> Scores:
    """Groups of a file that `rubricate score` wrote, or groups, which are scored now and their checks timed.

    Args:
        source: Either file.
        of: The file that was scored, for the prompts, rubrics and responses that `source` does not have.
        options: For scoring; without their `judging` every criterion is judged.
        settings: For scoring.
        console: Where the progress is shown.

    Raises:
        FileError: A file cannot be read, or `of` is not what was scored.
    """
    rows = list(read_rows(source))
    if any(isinstance(row.value, dict) and "digest" in row.value for row in rows):
        groups, faults = _read_scored(rows)
        return Scores(_with_sources(groups, of) if of else [group for _, group in groups], faults)
    if of is not None:
        raise FileError(f"--of names what was scored, and {source} has no scores but groups")
    return await _score(rows, options, settings, console)


def _read_scored(rows: Sequence[Row]) -> tuple[list[tuple[int, ReportGroup]], list[str]]:
    groups: list[tuple[int, ReportGroup]] = []
    faults: list[str] = []
    for row in rows:
        if row.fault is not None:
            faults.append(f"{row.place}: {row.fault}")
            continue
        try:
            scored = ScoredGroup.model_validate(row.value)
            groups.append((int(row.value.get("row", -1)), _report_group(scored)))
        except ValidationError as error:
            first = details_of(error)[0]
            faults.append(f"{row.place}: {first.path}: {first.message}")
        except (ValueError, TypeError) as error:
            faults.append(f"{row.place}: {error}")
    return groups, faults


def _report_group(scored: ScoredGroup, source: Group | None = None) -> ReportGroup:
    if not scored.responses:
        raise ValueError("this group has no responses")
    ids = [verdict.id for verdict in scored.responses[0].rubrics]
    if any([verdict.id for verdict in response.rubrics] != ids for response in scored.responses):
        raise ValueError("its responses have different rubrics")
    return ReportGroup(scored.id, ids, scored.responses, source)


def _with_sources(groups: Sequence[tuple[int, ReportGroup]], of: Path) -> list[ReportGroup]:
    """The groups beside what was scored, which is found by the number of its row."""
    rows = {row.number: row for row in read_rows(of)}
    found: list[ReportGroup] = []
    for number, group in groups:
        case, _ = read_as(rows[number], CaseGroup) if number in rows else (None, [])
        source = case.group() if case else None
        if source is None or ids_of(source.rubrics) != group.rubric_ids or _differ(source, group):
            place = rows[number].place if number in rows else f"row {number}"
            raise FileError(f"{of}, {place}, is not what group {group.id!r} was scored from")
        found.append(ReportGroup(group.id, group.rubric_ids, group.responses, source))
    return found


def _differ(source: Group, group: ReportGroup) -> bool:
    return ids_of(source.responses) != [response.id for response in group.responses]


async def _score(rows: Sequence[Row], options: Options, settings: Settings, console: Console) -> Scores:
    good, faults = parsed(iter(rows), CaseGroup)
    groups = [case.group() for _, case in good]
    options = options.model_copy(update={"judging": options.judging or "all", "explain": False})
    async with running_engine(settings) as engine:
        answers = await score_groups(engine.scorer, groups, options, console)
        seconds = await _time_checks(engine, groups)
    scored = [
        _report_group(ScoredGroup.model_validate(answer), group)
        for group, answer in zip(groups, answers, strict=True)
    ]
    return Scores(scored, faults, seconds)


async def _time_checks(engine: Engine, groups: Sequence[Group]) -> dict[str, float]:
    """What each check takes on one response by itself, in seconds, on a few of its responses."""
    samples: dict[CheckSpec, list[CheckItem]] = {}
    taken: Counter[str] = Counter()
    for group in groups:
        plan = plan_group(0, group, "strip")
        for rubric in plan.rubrics:
            if rubric.spec is None:
                continue
            for answer in plan.answers[: max(0, _TIMED - taken[rubric.spec.id])]:
                samples.setdefault(rubric.spec, []).append(CheckItem(answer.text, plan.prompt, (0,)))
                taken[rubric.spec.id] += 1
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _TIMING_S
    seconds: dict[str, float] = {}
    slow: Counter[CheckSpec] = Counter()
    timed: Counter[str] = Counter()
    for spec, items in samples.items():  # one after the other, so that none waits for another
        if loop.time() > deadline:
            break
        began = loop.time()
        await engine.pool.run(Chunk((spec,), tuple(items), "strict", False), deadline, slow)
        seconds[spec.id] = seconds.get(spec.id, 0.0) + loop.time() - began
        timed[spec.id] += len(items)
    return {id: seconds[id] / timed[id] for id in timed}
