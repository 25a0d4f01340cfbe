"""`rubricate serve` and `rubricate demo`: the service, for good or for a look."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
import uvicorn
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
from rubricate_service.http.exposure import allow_many_connections, refusal_to_serve
from rubricate_service.lifecycle import run
from rubricate_service.settings import Settings
from rubricate_service.telemetry.logs import log_config
from rubricate_service.telemetry.shared import shared_metrics

_HEALTH_CHECK_S = 15  # of a process by its supervisor: one that starts on a busy machine takes its time


def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on [127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on [8080]")] = None,
    workers: Annotated[int | None, typer.Option(help="uvicorn processes [1]", min=1)] = None,
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    cache: CacheFlag = None,
    no_auth: Annotated[
        bool | None, typer.Option("--no-auth", help="serve other machines though there are no tokens")
    ] = None,
    config: Config = None,
) -> None:
    """Serve the reward service over HTTP."""
    settings = settings_of(
        config,
        host=host,
        port=port,
        workers=workers,
        check_workers=check_workers,
        judge=judge,
        judge_model=judge_model,
        cache=cache,
        no_auth=no_auth,
    )
    if (why := refusal_to_serve(settings)) is not None:
        stop(why)
    allow_many_connections()
    with shared_metrics(settings.workers):
        run(_config(settings), settings)


def _config(settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        "rubricate_service.app:create_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_config=log_config(settings.log_format),
        access_log=False,  # requests have a line of their own, with what they came to
        timeout_graceful_shutdown=settings.drain_time_s,
        timeout_worker_healthcheck=_HEALTH_CHECK_S,
        http="rubricate_service.http.protocol:GuardedProtocol",
        ws="none",
        backlog=4096,
    )


def demo(
    judge: JudgeFlag = "embedded",
    judge_model: JudgeModel = None,
) -> None:
    """Start the service on a free port, score a small set written for it, and explain what came out."""
    from rubricate_service.demo import run_demo

    sys.exit(run_demo(judge, judge_model, Console()))
