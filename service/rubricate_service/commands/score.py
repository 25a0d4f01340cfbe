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
    errors,
    options_of,
    settings_of,
    stop,
)


def score(
    source: Annotated[
        Path, typer.Argument(metavar="IN.jsonl", help="one group a line, as in POST /v1/score")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="one scored group a line; existing rows are kept")],
    options: Annotated[str, typer.Option(help="the request's `options`, as JSON")] = "{}",
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    config: Config = None,
) -> None:
    """Score a file of groups with the service's engine, without HTTP. Run it again to resume."""
    from rubricate_service.bulk import score_file
    from rubricate_service.scored_rows import BulkError

    settings = settings_of(
        config, check_workers=check_workers, judge=judge, judge_model=judge_model, cache=cache
    )
    parsed = options_of(options)
    logging.basicConfig(level=logging.WARNING)
    try:
        tally = asyncio.run(score_file(source, out, parsed, settings, errors))
    except BulkError as error:
        stop(str(error))
    except KeyboardInterrupt:
        errors.print("stopped; run the same command again to go on")
        raise typer.Exit(130) from None
    if not tally.is_complete:
        raise typer.Exit(1)
