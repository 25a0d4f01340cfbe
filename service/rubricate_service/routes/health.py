"""`/livez`, `/startupz`, `/readyz`: whether to restart this process, and whether to send it work."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response

from rubricate_service.http.auth import caller_of

router = APIRouter(tags=["health"])


@router.get("/livez", summary="Is the process alive?")
async def livez() -> dict[str, Any]:
    """200 as long as the event loop turns."""
    return {"status": "ok", "checks": {}}


@router.get("/startupz", summary="Has the process started?")
async def startupz() -> dict[str, Any]:
    """200 once workers, judge and cache have been set up: before that nothing listens."""
    return {"status": "ok", "checks": {}}


@router.get("/readyz", summary="Is the service ready for work?")
async def readyz(request: Request) -> Response:
    """200 when the check workers run; a judge or cache that fails is named, and does not make it 503.

    Checks are decided without the judge, and what the judge cannot decide is `failed`, so a service
    without its judge is degraded and still of use. Without its cache it asks the judge again. Where
    tokens are needed, a caller without one is told the status of each part and nothing else of it.
    """
    engine = request.app.state.engine
    pool, judge = engine.pool, engine.judge
    canaries = request.app.state.canaries
    parts: dict[str, dict[str, Any]] = {
        "workers": {
            "status": "ok" if pool.alive else "failing",
            "alive": pool.alive,
            "wanted": pool.workers,
            "restarts": pool.restarts,
        },
        "judge": {**await judge.status(), **canaries.status()}
        if judge
        else {"status": "none", "reason": "no judge is configured"},
        "cache": await judge.cache.status()
        if judge
        else {"status": "none", "reason": "no judge is configured"},
    }
    ready = parts["workers"]["status"] == "ok"
    healthy = ready and all(part["status"] in ("ok", "none") for part in parts.values())
    status = "ok" if healthy else "degraded" if ready else "failing"
    if caller_of(request) is None:
        parts = {name: {"status": part["status"]} for name, part in parts.items()}
    body = orjson.dumps({"status": status, "checks": parts})
    return Response(body, 200 if ready else 503, media_type="application/json")
