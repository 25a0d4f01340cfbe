"""`rubricate probe`: which rubrics pay for answers that deserve nothing."""

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


def probe(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="groups, with or without responses: YAML, JSON lines or a list"),
    ],
    options: Annotated[str, typer.Option(help="the request's `options`, as JSON")] = "{}",
    as_json: Annotated[bool, typer.Option("--json", help="print JSON, with every verdict")] = False,
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    config: Config = None,
) -> None:
    """Show what empty, echoed, repeated and stuffed answers would earn, and which rubrics pay for them.

    Exit code 0: no group pays for one. 1: a group does, or a row cannot be read. 2: the command or the
    file is wrong. 3: no group is known to pay, but for some it could not be decided.
    """
    from rubricate_service.authoring.probe_tables import print_report
    from rubricate_service.authoring.probing import probe_file

    settings = settings_of(
        config, check_workers=check_workers, judge=judge, judge_model=judge_model, cache=cache
    )
    parsed = options_of(options)
    with author_command():
        report = asyncio.run(probe_file(source, parsed, settings, errors))
    tell_faults(report.faults)
    if as_json:
        Console().print_json(data=report.json())
    else:
        print_report(report, Console(markup=False, highlight=False))
    raise typer.Exit(report.exit_code)
