"""The command line: `rubricate serve | score | import | eval | checks | cache | judge | demo`."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer
import uvicorn
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from rubricate_checkers import UnknownCheck, catalogue, describe
from rubricate_clients.faults import details_of
from rubricate_clients.wire import Options
from rubricate_service.evaluation.benchmark import Benchmark
from rubricate_service.importers import AUTO, FORMATS
from rubricate_service.judge.embedded import EmbeddedUnavailable, find_weights
from rubricate_service.settings import CONFIG_VARIABLE, EMBEDDED, Settings

if TYPE_CHECKING:
    from rubricate_service.cache import Store

T = TypeVar("T")

app = typer.Typer(
    help="Scores every rubric of every response, and never a judgement that did not happen.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cache_app = typer.Typer(help="See or empty what keeps the judge's verdicts.", no_args_is_help=True)
app.add_typer(cache_app, name="cache")
judge_app = typer.Typer(help="See what the judge is worth.", no_args_is_help=True)
app.add_typer(judge_app, name="judge")
_errors = Console(stderr=True)
_SHOWN_ERRORS = 20

Config = Annotated[Path | None, typer.Option(help="TOML file with the same names as the flags")]
CheckWorkers = Annotated[int | None, typer.Option(help="check processes [cores]", min=1)]
JudgeFlag = Annotated[
    str | None,
    typer.Option(help="URL of an OpenAI-compatible endpoint, `embedded`, or a name of `judges` in --config"),
]
JudgeModel = Annotated[str | None, typer.Option(help="model to ask for [the endpoint's first]")]
CacheFlag = Annotated[str | None, typer.Option(help="file that keeps the judge's verdicts, or redis://…")]


def _stop(message: str) -> NoReturn:
    _errors.print(f"rubricate: {message}", style="red", markup=False, highlight=False)
    raise typer.Exit(2)


def _told(error: ValidationError) -> str:
    return "; ".join(f"{d.path}: {d.message}" if d.path else d.message for d in details_of(error))


def _settings(config: Path | None, **flags: Any) -> Settings:
    """Settings from flags over variables over the file; the flags also reach child processes."""
    if config is not None:
        if not config.is_file():
            _stop(f"there is no settings file {config}")
        os.environ[CONFIG_VARIABLE] = str(config)
    for name, value in flags.items():
        if value is not None:
            os.environ[f"RUBRICATE_{name.upper()}"] = str(value)
    try:
        settings = Settings()
    except ValidationError as error:
        _stop(f"bad settings: {_told(error)}")
    except ValueError as error:  # a TOML file that is none
        _stop(f"bad settings file: {error}")
    if settings.judge == EMBEDDED:
        try:
            find_weights()
        except EmbeddedUnavailable as error:
            _stop(str(error))
    return settings


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on [127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on [8080]")] = None,
    workers: Annotated[int | None, typer.Option(help="uvicorn processes [1]", min=1)] = None,
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    config: Config = None,
) -> None:
    """Serve the reward service over HTTP."""
    settings = _settings(
        config,
        host=host,
        port=port,
        workers=workers,
        check_workers=check_workers,
        judge=judge,
        judge_model=judge_model,
        cache=cache,
    )
    log_config = copy.deepcopy(uvicorn.config.LOGGING_CONFIG)
    log_config["loggers"]["rubricate"] = {"handlers": ["default"], "level": "INFO"}
    uvicorn.run(
        "rubricate_service.app:create_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_config=log_config,
        access_log=False,  # a trainer's requests would drown everything else
    )


@app.command()
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

    settings = _settings(
        config, check_workers=check_workers, judge=judge, judge_model=judge_model, cache=cache
    )
    try:
        parsed = Options.model_validate_json(options)
    except ValidationError as error:
        _stop(f"--options: {_told(error)}")
    logging.basicConfig(level=logging.WARNING)
    try:
        tally = asyncio.run(score_file(source, out, parsed, settings, _errors))
    except BulkError as error:
        _stop(str(error))
    except KeyboardInterrupt:
        _errors.print("stopped; run the same command again to go on")
        raise typer.Exit(130) from None
    if not tally.is_complete:
        raise typer.Exit(1)


@app.command("import")
def import_(
    source: Annotated[
        Path, typer.Argument(metavar="IN.jsonl", help="rows of a data set, JSON lines or a list")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="one group a line, for `rubricate score`")],
    format: Annotated[str, typer.Option(help=f"{AUTO}, {', '.join(FORMATS)}")] = AUTO,
) -> None:
    """Turn rows of published data sets into groups. Rows that cannot be imported are reported."""
    from rubricate_service.importers.files import FileError, import_file

    if format != AUTO and format not in FORMATS:
        _stop(f"--format: {format!r} is no format; there are {', '.join([AUTO, *FORMATS])}")
    try:
        written, importer = import_file(source, out, format)
    except FileError as error:
        _stop(str(error))
    except OSError as error:
        _stop(f"{error.filename} cannot be used: {error.strerror}")
    lines = [str(error) for error in importer.errors]
    if len(lines) > _SHOWN_ERRORS:
        lines[_SHOWN_ERRORS:] = [f"and {len(lines) - _SHOWN_ERRORS} more rows that cannot be imported"]
    for line in lines:
        _errors.print(line, style="red", markup=False, highlight=False)
    for hint in importer.hints:
        options = (
            f", scored by its source as with --options '{json.dumps(hint.options)}'" if hint.options else ""
        )
        _errors.print(
            f"{hint.rows} rows of format {hint.format}{options}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    _errors.print(f"{written} groups in {out}", markup=False, highlight=False)
    if importer.errors:
        raise typer.Exit(1)


@app.command("eval")
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

    settings = _settings(
        config, check_workers=check_workers, judge=judge, judge_model=judge_model, cache=cache
    )
    logging.basicConfig(level=logging.WARNING)
    try:
        report = asyncio.run(evaluate_file(benchmark, responses, data, settings))
    except (EvaluationError, OSError) as error:
        _stop(str(error))
    if as_json:
        Console().print_json(data=report_json(report))
    else:
        print_report(report, Console())


@app.command()
def checks(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="show one check in full")] = None,
) -> None:
    """List the deterministic checks, or show one: its kwargs, and what passes and fails."""
    console = Console()
    if id is None:
        table = Table("id", "what it requires", box=None, pad_edge=False)
        for entry in catalogue():
            table.add_row(entry.id, entry.summary)
        console.print(table)
        return
    try:
        entry = describe(id)
    except UnknownCheck as error:
        _stop(error.message)
    console.print(f"{entry.id}  (suite {entry.suite}, version {entry.version})", highlight=False)
    console.print(entry.summary, highlight=False)
    for title, value in (("kwargs", entry.kwargs), ("example", entry.example.model_dump())):
        console.print(f"\n{title}:", highlight=False)
        console.print_json(data=value)


@cache_app.command()
def stats(cache: CacheFlag = None, config: Config = None) -> None:
    """Show how many verdicts the cache holds, and how much room they take."""
    name, held = _at_store(_settings(config, cache=cache), lambda store: store.stats())
    bound = f" of at most {held.most_bytes:,}" if held.most_bytes else ""
    print(f"{name}: {held.entries:,} verdicts, {held.bytes:,} bytes{bound}")


@cache_app.command()
def purge(cache: CacheFlag = None, config: Config = None) -> None:
    """Remove all verdicts. A service that runs forgets those in its memory within an hour."""
    name, removed = _at_store(_settings(config, cache=cache), lambda store: store.purge())
    print(f"{name}: {removed:,} verdicts removed")


def _at_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> tuple[str, T]:
    """The store's name, and what it answered."""
    from rubricate_service.cache import StoreError
    from rubricate_service.cache.build import build_store

    async def answer() -> tuple[str, T]:
        store = build_store(settings)
        try:
            return store.name if settings.cache_is_redis else settings.cache, await work(store)
        finally:
            await store.close()

    try:
        return asyncio.run(answer())
    except StoreError as error:
        _stop(f"the cache cannot be used: {error}")


@judge_app.command("check")
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

    settings = _settings(config, judge=judge, judge_model=judge_model)
    try:
        built = build_judge(settings)
    except (EmbeddedUnavailable, ValueError) as error:
        _stop(str(error))
    if built is None:
        _stop("no judge is configured; name one with --judge URL")

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


@app.command()
def demo(
    judge: JudgeFlag = "embedded",
    judge_model: JudgeModel = None,
) -> None:
    """Start the service on a free port, score a small set written for it, and explain what came out."""
    from rubricate_service.demo import run_demo

    sys.exit(run_demo(judge, judge_model, Console()))
