"""`rubricate judge`: what the judge is worth."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated

import typer
from rich.console import Console

from rubricate_service.commands import agree
from rubricate_service.commands.common import Config, JudgeFlag, JudgeModel, settings_of, stop

app = typer.Typer(help="See what the judge is worth.", no_args_is_help=True)
app.command("agree")(agree.agree)


@app.command("check")
def check_judge(
    runs: Annotated[int, typer.Option(help="how often each question is asked", min=1)] = 3,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    config: Config = None,
) -> None:
    """Try the judge on canaries: can it be talked over, does it repeat itself, does it agree with people?"""
    from rubricate_service.judge.build import build_judge
    from rubricate_service.judge.canary import Report, check
    from rubricate_service.judge.canary_report import print_report
    from rubricate_service.judge.embedded import EmbeddedUnavailable

    settings = settings_of(config, judge=judge, judge_model=judge_model)
    try:
        built = build_judge(settings)
    except (EmbeddedUnavailable, ValueError) as error:
        stop(str(error))
    if built is None:
        stop("no judge is configured; name one with --judge URL")

    async def tried() -> Report:
        try:
            return await check(built, runs)
        finally:
            await built.close()

    logging.basicConfig(level=logging.ERROR)
    report = asyncio.run(tried())
    print_report(report, Console())
    if report.failures:
        raise typer.Exit(1)
