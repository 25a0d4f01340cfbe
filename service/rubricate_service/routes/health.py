"""`/livez`, `/startupz`, `/readyz`: whether to restart this process, and whether to send it work."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel

from rubricate_service.http.auth import caller_of
from rubricate_service.judge.judge import Judge
from rubricate_service.readiness import NO_JUDGE, Part

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """Answer of the probes: how the service is, why it is not well, and how each of its parts is."""

    status: Literal["ok", "degraded", "failing", "draining"]
    reasons: list[str] = []
    checks: dict[str, dict[str, Any]]


@router.get(
    "/livez", summary="Is the process alive?", response_model=Health, response_model_exclude_unset=True
)
@router.head("/livez", include_in_schema=False)
async def livez() -> dict[str, Any]:
    """200 as long as the event loop turns, also while the service drains."""
    return {"status": "ok", "checks": {}}


@router.get(
    "/startupz", summary="Has the process started?", response_model=Health, response_model_exclude_unset=True
)
@router.head("/startupz", include_in_schema=False)
async def startupz() -> dict[str, Any]:
    """200 once workers, judge and cache have been set up: before that nothing listens."""
    return {"status": "ok", "checks": {}}


@router.get(
    "/readyz",
    summary="Is the service ready for work?",
    response_model=Health,
    responses={503: {"model": Health, "description": "Not now: send it no work"}},
)
@router.head("/readyz", include_in_schema=False)
async def readyz(request: Request) -> Response:
    """200 when a check worker has just run a check; 503 when none does, or when the service is stopping.

    Each part is asked by the way that work takes. A judge or cache that fails is named among the `reasons`
    and does not make it 503: checks are decided without the judge, and what the judge cannot decide is
    `failed`, so a service without its judge is degraded and still of use; without its cache it asks the judge
    again. Where tokens are needed, a caller without one is told the status of each part and no more.
    """
    state = request.app.state
    workers, judge = await asyncio.gather(state.probe.look(), _judge(state.engine.judge))
    parts: dict[str, Part] = {"workers": workers, **judge}
    if parts["judge"]["status"] != "none":
        parts["judge"] |= state.canaries.status()
    reasons = {name: part.get("reason", "") for name, part in parts.items() if _is_bad(part)}
    status = "failing" if _is_bad(workers) else "degraded" if reasons else "ok"
    if state.lifecycle.state != "serving":
        status, reasons = "draining", {"draining": "", **reasons}
    if caller_of(request) is None:
        parts = {name: {"status": part["status"]} for name, part in parts.items()}
        reasons = dict.fromkeys(reasons, "")
    told = [f"{name}: {reason}" if reason else name for name, reason in reasons.items()]
    body = orjson.dumps({"status": status, "reasons": told, "checks": parts})
    return Response(body, 200 if status in ("ok", "degraded") else 503, media_type="application/json")


async def _judge(judge: Judge | None) -> dict[str, Part]:
    if judge is None:
        return {"judge": {**NO_JUDGE}, "cache": {**NO_JUDGE}}
    status, cache = await asyncio.gather(judge.status(), judge.cache.status())
    return {"judge": status, "cache": cache}


def _is_bad(part: Part) -> bool:
    return part["status"] not in ("ok", "none")
