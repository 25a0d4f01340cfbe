"""The HTTP app: makes the objects, gives them to the routes, closes them. No logic of its own."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from rubricate_service import __version__, errors
from rubricate_service.compat import nemo_gym, openrlhf, slime
from rubricate_service.compat.compat import running_compat
from rubricate_service.http.admission import Admission
from rubricate_service.http.auth import Authentication, Tokens
from rubricate_service.http.idempotency import build_idempotency
from rubricate_service.http.limits import BodyLimit
from rubricate_service.judge.build import build_judge
from rubricate_service.judge.canary_watch import watching
from rubricate_service.judge.judge import Judge
from rubricate_service.lifecycle import Lifecycle, prestop_time_s
from rubricate_service.pipeline import Scorer
from rubricate_service.pool import CheckPool
from rubricate_service.readiness import WorkerProbe
from rubricate_service.routes import (
    advantages,
    checks,
    docs,
    explaining,
    health,
    importing,
    linting,
    metrics,
    score,
)
from rubricate_service.routes.body import describe_bodies
from rubricate_service.settings import Settings
from rubricate_service.telemetry.gauges import Sampler
from rubricate_service.telemetry.loop import watching_loop
from rubricate_service.telemetry.requests import Requests
from rubricate_service.telemetry.tracing import tracing

GC_THRESHOLDS = (10_000, 10, 4)
"""The last one is for what failed calls leave behind: errors and frames that hold each other, and prompts."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What scores: the check workers, the judge where one is configured, and the pipeline over them."""

    pool: CheckPool
    judge: Judge | None
    scorer: Scorer


@asynccontextmanager
async def running_engine(settings: Settings) -> AsyncIterator[Engine]:
    """A started engine, closed at the end; the service and bulk scoring run the same one."""
    async with AsyncExitStack() as stack:
        judge = build_judge(settings)
        if judge is not None:
            stack.push_async_callback(judge.close)
            await judge.start()
        pool = CheckPool(settings.check_processes, settings.check_timeout_s)
        stack.push_async_callback(pool.close)
        await pool.start()
        yield Engine(pool, judge, Scorer(pool, judge, settings.deadline_s))


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service as an ASGI app. Without settings, those of the environment hold."""
    resolved = settings or Settings()
    lifecycle = Lifecycle(prestop_time_s(resolved))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        async with (
            tracing(),
            running_engine(resolved) as engine,
            watching(engine.judge, resolved.judge_canaries) as canaries,
            aclosing(build_idempotency(resolved)) as idempotency,
            running_compat(resolved, engine.scorer, app.state.admission) as compat,
            aclosing(WorkerProbe(engine.pool)) as probe,
            watching_loop(Sampler(engine, app.state.admission, compat.barrier, lifecycle)) as sampler,
            lifecycle.handling_signals(on_stopping=compat.barrier.drain),
        ):
            app.state.engine = engine
            app.state.canaries = canaries
            app.state.idempotency = idempotency
            app.state.compat = compat
            app.state.probe = probe
            app.state.sampler = sampler
            # what start-up made stays, and walking it again and again costs a tenth of the judge's traffic
            gc.collect()
            gc.freeze()
            gc.set_threshold(*GC_THRESHOLDS)
            yield {"limits": resolved.limits}  # to the protocol, which no app can be asked by

    app = FastAPI(
        title="Rubricate",
        version=__version__,
        summary="Scores every rubric of every response, and never a judgement that did not happen.",
        lifespan=lifespan,
        docs_url=None,  # these pages fetch their scripts from elsewhere; `docs` has its own
        redoc_url=None,
        # its own spans and metrics would stand beside ours wherever OpenTelemetry is set up
        telemetry={"tracing": False, "metrics": False, "logs": False},
        # relative to the document, so right under any prefix that a proxy gives the service
        servers=[{"url": ".", "description": "this service"}],
    )
    app.state.limits = resolved.limits
    app.state.lifecycle = lifecycle
    app.state.admission = Admission(resolved.queue)
    app.add_middleware(BodyLimit, limits=resolved.limits)
    app.add_middleware(Authentication, tokens=Tokens(resolved.tokens))
    app.add_middleware(Requests, lifecycle=lifecycle)
    errors.install(app)
    own = (score, explaining, checks, advantages, importing, linting, health, metrics)
    for routes in (*own, openrlhf, slime, nemo_gym):
        app.include_router(routes.router, responses=errors.DOCUMENTED)
    app.include_router(docs.router)
    describe_bodies(app)
    docs.add_examples(app)
    return app
