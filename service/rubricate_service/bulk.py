"""`rubricate score`: a file of groups through the engine, resumable at any point.

Rows are appended as they are scored, each with its row number. A run that was killed leaves at most one
torn last line, which the next run cuts off before it goes on with the rows that are missing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rubricate_clients.wire import Group, Options, ScoreRequest
from rubricate_service.answer import groups_json
from rubricate_service.app import running_engine
from rubricate_service.errors import invalid_body
from rubricate_service.pipeline import Scorer
from rubricate_service.settings import Settings

_BATCH = 32
_IN_FLIGHT = 3


class BulkError(Exception):
    """The files are not what `rubricate score` can work with."""


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    group: Group


def _lines(source: Path) -> Iterator[tuple[int, bytes]]:
    with source.open("rb") as file:
        for number, line in enumerate(file):
            if line.strip():
                yield number, line


def _count(source: Path) -> int:
    if not source.is_file():
        raise BulkError(f"there is no file {source}")
    return sum(1 for _ in _lines(source))


def _done(out: Path) -> set[int]:
    """Rows that the output has; a torn last line is cut off."""
    if not out.exists():
        return set()
    done: set[int] = set()
    end = 0
    with out.open("r+b") as file:
        for line in file:
            try:
                done.add(orjson.loads(line)["row"])
            except (orjson.JSONDecodeError, KeyError, TypeError):
                if line.endswith(b"\n"):
                    raise BulkError(f"{out}, line {len(done) + 1}, was not written by this command") from None
                break
            if not line.endswith(b"\n"):
                done.discard(orjson.loads(line)["row"])
                break
            end += len(line)
        file.truncate(end)
    return done


def _batches(source: Path, done: set[int], bad: list[str]) -> Iterator[list[_Row]]:
    batch: list[_Row] = []
    for number, line in _lines(source):
        if number in done:
            continue
        try:
            group = Group.model_validate_json(line)
        except ValidationError as error:
            bad.append(f"row {number}: {invalid_body(error).message}")
            continue
        batch.append(_Row(number, group))
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _score(scorer: Scorer, rows: Sequence[_Row], options: Options) -> list[bytes]:
    """The output lines of some rows, in their order."""
    # ids are unique within a request; those of a file's rows need not be
    groups = [row.group.model_copy(update={"id": str(row.number)}) for row in rows]
    request = ScoreRequest(groups=groups, options=options)
    run = scorer.run(options)
    async with aclosing(scorer.stream(request, run)) as stream:
        scored = sorted([group async for group in stream], key=lambda group: group.index)
    answers = groups_json(scored, options.advantages)
    return [
        orjson.dumps({"row": row.number, **answer, "id": row.group.id or str(row.number)}) + b"\n"
        for row, answer in zip(rows, answers, strict=True)
    ]


async def _in_flight(
    scorer: Scorer, batches: Iterator[list[_Row]], options: Options
) -> AsyncGenerator[list[bytes], None]:
    """Scored batches as they are done, a few under way at a time so that checks and judge overlap."""
    tasks: set[asyncio.Task[list[bytes]]] = set()
    try:
        while True:
            while len(tasks) < _IN_FLIGHT and (batch := next(batches, None)) is not None:
                tasks.add(asyncio.create_task(_score(scorer, batch, options)))
            if not tasks:
                return
            finished, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in finished:
                yield task.result()
    finally:
        for task in tasks:
            task.cancel()


async def score_file(source: Path, out: Path, options: Options, settings: Settings, console: Console) -> int:
    """Score every row of `source` that `out` lacks; returns how many rows could not be read.

    Raises:
        BulkError: a file is missing, `out` is of another kind, or the options need all rows at once.
    """
    if options.advantages is not None and options.advantages.method == "gdpo":
        raise BulkError("gdpo whitens over all responses of a training step, which a file of rows is not")
    done, total = _done(out), _count(source)
    if done:
        console.print(f"{out} has {len(done)} of {total} rows; going on with the rest")
    bad: list[str] = []
    written = 0
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    async with running_engine(settings) as engine:
        started = time.perf_counter()
        with out.open("ab") as file, Progress(*columns, console=console) as progress:
            bar = progress.add_task("rows", total=total, completed=len(done))
            async with aclosing(_in_flight(engine.scorer, _batches(source, done, bad), options)) as batches:
                async for lines in batches:
                    _append(file, lines)
                    written += len(lines)
                    progress.update(bar, advance=len(lines))
        seconds = time.perf_counter() - started
    for message in bad:
        console.print(message, style="red", markup=False, highlight=False)
    console.print(
        f"{written} rows in {seconds:.1f} s ({written / max(seconds, 1e-9):.1f} rows/s)"
        + (f"; {len(bad)} rows could not be read" if bad else ""),
        highlight=False,
    )
    return len(bad)


def _append(file: BinaryIO, lines: Sequence[bytes]) -> None:
    file.write(b"".join(lines))
    file.flush()
