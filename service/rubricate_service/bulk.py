"""`rubricate score`: a file of groups through the engine, resumable at any point.

Rows are appended as they are scored (`scored_rows.py` has their form). A run that was killed leaves at most
one torn last line, which the next run cuts off before it goes on with the rows that are missing.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rubricate_clients.wire import Group, Options, ScoreRequest
from rubricate_service.answer import groups_json
from rubricate_service.app import running_engine
from rubricate_service.authoring.expectations import CaseGroup
from rubricate_service.authoring.files import read_as
from rubricate_service.gate import missing_scores
from rubricate_service.pipeline import Scorer
from rubricate_service.scored_rows import (
    BulkError,
    SourceRow,
    append,
    failed_kinds,
    line_of,
    open_output,
    source_rows,
)
from rubricate_service.settings import Settings

_BATCH = 32
_IN_FLIGHT = 3
# what a later run may decide: the judge or the machine failed, not the rubric
_PASSING = frozenset(
    {"unreachable", "overloaded", "unreadable", "truncated", "identity", "unauthorized"}
    | {"timeout", "crashed", "canceled", "internal"}
)


@dataclass
class Tally:
    """What a run did.

    Attributes:
        written: Rows that were scored.
        unreadable: Rows that could not be read.
        faults: A line for each fault of these.
        failed: Verdicts that could not be decided, by kind.
        seconds: How long it took.
    """

    written: int = 0
    unreadable: int = 0
    faults: list[str] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether another run of the same command has nothing to add."""
        return not self.unreadable and not self.failed.keys() & _PASSING


def _batches(
    rows: Iterator[SourceRow], done: set[int], tally: Tally
) -> Iterator[list[tuple[SourceRow, Group]]]:
    batch: list[tuple[SourceRow, Group]] = []
    for row in rows:
        if row.number in done:
            continue
        case, faults = read_as(row.item, CaseGroup)
        if case is None:
            tally.unreadable += 1
            tally.faults += faults
            continue
        batch.append((row, case.group()))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _score(
    scorer: Scorer, batch: Sequence[tuple[SourceRow, Group]], options: Options, tally: Tally
) -> list[bytes]:
    """The output lines of some rows, in their order."""
    # ids are unique within a request; those of a file's rows need not be
    groups = [group.model_copy(update={"id": str(row.number)}) for row, group in batch]
    request = ScoreRequest(groups=groups, options=options)
    if (why := missing_scores(request)) is not None:
        raise BulkError(f"--options: {why}")
    run = scorer.run(options)
    async with aclosing(scorer.stream(request, run)) as stream:
        scored = sorted([group async for group in stream], key=lambda group: group.index)
    answers = groups_json(scored, options.advantages)
    for (_, group), answer in zip(batch, answers, strict=True):
        tally.failed.update(failed_kinds(answer))
        answer["id"] = group.id if group.id is not None else answer["id"]
    return [
        line_of(row, position, answer)
        for position, ((row, _), answer) in enumerate(zip(batch, answers, strict=True))
    ]


async def _in_flight(
    scorer: Scorer, batches: Iterator[list[tuple[SourceRow, Group]]], options: Options, tally: Tally
) -> AsyncGenerator[list[bytes], None]:
    """Scored batches as they are done, a few under way at a time so that checks and judge overlap."""
    tasks: set[asyncio.Task[list[bytes]]] = set()
    try:
        while True:
            while len(tasks) < _IN_FLIGHT and (batch := next(batches, None)) is not None:
                tasks.add(asyncio.create_task(_score(scorer, batch, options, tally)))
            if not tasks:
                return
            finished, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in finished:
                yield task.result()
    finally:
        for task in tasks:
            task.cancel()


async def score_file(
    source: Path, out: Path, options: Options, settings: Settings, console: Console
) -> Tally:
    """Score every row of `source` that `out` lacks, and those that a judge or a machine failed to decide.

    Raises:
        FileError: `source` cannot be read or has no row, `out` cannot be written or is of another kind,
            input or options, or the options need all rows at once.
    """
    if options.advantages is not None and options.advantages.method == "gdpo":
        raise BulkError("gdpo whitens over all responses of a training step, which a file of rows is not")
    digests = {row.number: row.digest for row in source_rows(source, options)}
    if not digests:
        raise BulkError(f"{source} has no group to score")
    again = _PASSING | {"no_judge"} if settings.judge else _PASSING
    tally = Tally()
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with open_output(out, source, digests, again) as (file, done):
        if done:
            console.print(f"{out} has {len(done)} of {len(digests)} rows; going on with the rest")
        async with running_engine(settings) as engine:
            started = time.perf_counter()
            batches = _batches(source_rows(source, options), done, tally)
            with Progress(*columns, console=console) as progress:
                bar = progress.add_task("rows", total=len(digests), completed=len(done))
                async with aclosing(_in_flight(engine.scorer, batches, options, tally)) as scored:
                    async for lines in scored:
                        append(file, out, lines)
                        tally.written += len(lines)
                        progress.update(bar, advance=len(lines))
            tally.seconds = time.perf_counter() - started
    return tally


def print_tally(tally: Tally, console: Console) -> None:
    """Print what a run did."""
    rate = tally.written / max(tally.seconds, 1e-9)
    console.print(f"{tally.written} rows in {tally.seconds:.1f} s ({rate:.1f} rows/s)", highlight=False)
    if tally.unreadable:
        console.print(f"{tally.unreadable} rows could not be read", highlight=False)
    if tally.failed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in tally.failed.most_common())
        console.print(f"verdicts that could not be decided: {kinds}", highlight=False)
    if tally.failed.keys() & _PASSING:
        console.print("run the same command again to ask once more what the judge or the machine failed")
