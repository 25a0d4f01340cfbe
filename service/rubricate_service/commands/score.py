"""`rubricate score`: a file of groups, without HTTP."""

from __future__ import annotations

import asyncio
import logging
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
    tell_faults,
)


def score(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="groups as in POST /v1/score: JSON lines, a list, or YAML")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="one scored group a line; existing rows are kept")],
    options: Annotated[str, typer.Option(help="the request's `options`, as JSON")] = "{}",
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    config: Config = None,
) -> None:
    """Score a file of groups with the service's engine, without HTTP. Run it again to resume.

    Exit code 0: every row is scored. 1: a row cannot be read, or the judge or the machine failed to decide,
    which the same command asks again. 2: the command or a file is wrong. 130: stopped by Ctrl-C.
    """
    from rubricate_service.bulk import print_tally, score_file

    settings = settings_of(
        config, check_workers=check_workers, judge=judge, judge_model=judge_model, cache=cache
    )
    parsed = options_of(options)
    logging.basicConfig(level=logging.WARNING)
    try:
        with author_command():
            tally = asyncio.run(score_file(source, out, parsed, settings, errors))
    except KeyboardInterrupt:
        errors.print("stopped; run the same command again to go on")
        raise typer.Exit(130) from None
    tell_faults(tally.faults)
    print_tally(tally, errors)
    if not tally.is_complete:
        raise typer.Exit(1)
