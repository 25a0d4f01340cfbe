"""`rubricate judge agree`: whether the judge agrees with people."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rubricate_service.commands.common import (
    CacheFlag,
    Config,
    JudgeFlag,
    JudgeModel,
    author_command,
    errors,
    settings_of,
    stop,
    tell_faults,
)


def agree(
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS.csv",
            help="columns prompt, response, criterion, label (0, 0.5, 1, pass or fail); "
            "and id, hard, pass_at, reference, group if there are any",
        ),
    ],
    runs: Annotated[int, typer.Option(help="how often each question is asked", min=1)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON, with all disagreements")] = False,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    config: Config = None,
) -> None:
    """Compare the judge with labels that people gave: κ, its base rate, and where they disagree."""
    from rubricate_service.authoring.agreeing import agree_file
    from rubricate_service.authoring.agreement_tables import print_report

    settings = settings_of(config, judge=judge, judge_model=judge_model, cache=cache, check_workers=1)
    if settings.judge is None:
        stop("no judge is configured; name one with --judge URL")
    with author_command():
        report = asyncio.run(agree_file(labels, runs, settings, errors))
    tell_faults(report.faults)
    if as_json:
        Console().print_json(data=report.json())
    else:
        print_report(report, Console(markup=False, highlight=False, soft_wrap=True))
    if report.faults or report.failures:
        raise typer.Exit(1)
