"""`rubricate report`: rubrics and responses on one page."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from rubricate_service.commands.common import (
    CacheFlag,
    CheckWorkers,
    Config,
    JudgeFlag,
    JudgeModel,
    author_command,
    errors,
    options_of,
    settings_of,
    stop,
    tell_faults,
)


def report(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="what `rubricate score` wrote, or groups to be scored first"),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="the page to write")],
    of: Annotated[
        Path | None, typer.Option(help="the file that FILE was scored from, for prompts, rubrics and texts")
    ] = None,
    options: Annotated[str, typer.Option(help="the request's `options` for scoring, as JSON")] = "{}",
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    config: Config = None,
) -> None:
    """Write one HTML page: which rubrics tell responses apart, which are alike, slow, or in doubt."""
    from rubricate_service.authoring.report import page
    from rubricate_service.authoring.scored import read_scores

    settings = settings_of(
        config, check_workers=check_workers, judge=judge, judge_model=judge_model, cache=cache
    )
    parsed = options_of(options)
    if out.exists() and any(
        path is not None and path.exists() and out.samefile(path) for path in (source, of)
    ):
        stop(f"{out} is a file to read; name another with -o")
    if (why := _obstacle(out)) is not None:
        stop(f"{out} cannot be written: {why}")
    with author_command():
        scores = asyncio.run(read_scores(source, of, parsed, settings, errors))
        if not scores.groups:
            stop("; ".join([f"{source} has no group to report on", *scores.faults[:3]]))
        html = page(scores, source.name)
        try:
            out.write_text(html, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            stop(f"{out} cannot be written: {error.strerror}")
    tell_faults(scores.faults)
    errors.print(f"{len(scores.groups):,} groups in {out}", markup=False, highlight=False)
    if scores.faults:
        raise typer.Exit(1)


def _obstacle(out: Path) -> str | None:
    """Why a page cannot be written, as far as that shows before the work that it is the end of."""
    if out.is_dir():
        return "it is a folder"
    if not out.parent.is_dir():
        return f"there is no folder {out.parent}"
    return None if os.access(out if out.exists() else out.parent, os.W_OK) else "permission denied"
