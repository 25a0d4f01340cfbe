"""`GET /metrics`: figures for Prometheus, of all processes behind this address."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from rubricate_service.http.auth import needs
from rubricate_service.telemetry.shared import exposition

router = APIRouter(tags=["health"], dependencies=[needs("admin")])


@router.get("/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Figures in Prometheus' text format; `docs/operating.md` lists them."""
    request.app.state.sampler.sample()
    return Response(await asyncio.to_thread(exposition), media_type=CONTENT_TYPE_LATEST)
