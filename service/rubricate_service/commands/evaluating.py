"""`rubricate eval`: the figures of a benchmark's own evaluator."""

from __future__ import annotations

import asyncio
import logging
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
    settings_of,
    stop,
)
from rubricate_service.evaluation.benchmark import Benchmark


def eval_(
    benchmark: Annotated[Benchmark, typer.Argument(help="whose figures")],
    responses: Annotated[
        Path, typer.Argument(metavar="RESPONSES.jsonl", help="one model's rows {key | id | prompt, response}")
    ],
    data: Annotated[Path | None, typer.Option(help="the benchmark's rows [RESPONSES carries them]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of tables")] = False,
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    config: Config = None,
) -> None:
    """Print what a benchmark's own evaluator reports. A judge adds figures that count only valid answers."""
    from rubricate_service.evaluation.evaluate import evaluate_file
    from rubricate_service.evaluation.join import EvaluationError
    from rubricate_service.evaluation.report import print_report, report_json

    settings = settings_of(
        config, check_workers=check_workers, judge=judge, judge_model=judge_model, cache=cache
    )
    logging.basicConfig(level=logging.WARNING)
    try:
        report = asyncio.run(evaluate_file(benchmark, responses, data, settings))
    except (EvaluationError, OSError) as error:
        stop(str(error))
    if as_json:
        Console().print_json(data=report_json(report))
    else:
        print_report(report, Console())
