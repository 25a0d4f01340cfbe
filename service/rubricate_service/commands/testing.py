"""`rubricate test`: expected verdicts beside the rubrics that they are about."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

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


def run_tests(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="groups with `expect`: YAML, JSON lines or a list")
    ],
    repeat: Annotated[int, typer.Option(help="score so often, asking the judge anew each time", min=1)] = 1,
    options: Annotated[str, typer.Option(help="the request's `options`, as JSON")] = "{}",
    as_json: Annotated[bool, typer.Option("--json", help="print JSON, also of what holds")] = False,
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    config: Config = None,
) -> None:
    """Hold rubrics to the verdicts expected of them.

    Exit code 0: all that ran holds. 1: something does not, or a row cannot be read. 2: the command or the
    file is wrong. 3: there is no mismatch, but something could not be decided, or nothing ran at all.
    """
    from rubricate_service.authoring.testing import print_report, run_file

    settings = settings_of(
        config, check_workers=check_workers, judge=judge, judge_model=judge_model, cache=cache
    )
    parsed = options_of(options)
    with author_command():
        report = asyncio.run(run_file(source, parsed, repeat, settings, errors))
    tell_faults(report.faults)
    if as_json:
        counts = dict(report.counts())
        tested = [one.json() for one in report.tested]
        Console().print_json(data={"counts": counts, "tested": tested, "faults": report.faults})
    else:
        print_report(report, Console(markup=False, highlight=False, soft_wrap=True))
    raise typer.Exit(report.exit_code)
