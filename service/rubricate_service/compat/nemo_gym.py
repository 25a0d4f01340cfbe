"""`/compat/nemo_gym/…`: the routes of a NeMo Gym resources server, for its agents and for verifiers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, RootModel

from rubricate_clients.faults import JsonObject
from rubricate_service.compat.compat import compat_of
from rubricate_service.compat.errors import invalid_row
from rubricate_service.compat.label import read_task
from rubricate_service.compat.metrics import AggregateMetrics, VerifiedRow, aggregate
from rubricate_service.compat.result import Result
from rubricate_service.compat.task import Context, Task
from rubricate_service.compat.waits import Member
from rubricate_service.http.auth import needs
from rubricate_service.importers.node import Node, RowFault
from rubricate_service.routes.body import body_schema, read_body

router = APIRouter(prefix="/compat/nemo_gym", tags=["trainers"], dependencies=[needs("score")])


class VerifyRequest(RootModel[JsonObject]):
    """A whole row with its `responses_create_params`, and the model's `response` (OpenAI Responses)."""


class SeedSessionRequest(RootModel[JsonObject]):
    """A whole row of the data set; nothing of it is kept."""


class VerifyAnswer(BaseModel):
    """The request's fields, with what is scored beside them; all numbers are aggregated by the agent."""

    model_config = ConfigDict(extra="allow")

    reward: float
    reward_components: dict[str, float]


class AggregateRequest(BaseModel):
    """Answers of `/verify`, without their heavy fields."""

    model_config = ConfigDict(extra="forbid", strict=True)

    verify_responses: list[VerifiedRow]


@router.post(
    "/verify",
    summary="NeMo Gym: verify a response",
    response_model=VerifyAnswer,
    openapi_extra=body_schema(VerifyRequest),
)
async def verify(request: Request) -> Response:
    """Hold the response until its group is whole, and answer its row with its reward.

    `reward` is the sum of `reward_components`: with a group, the advantages by `outcome` and by quality
    (`process`), so that their sum is RDAN's; without one (a size of 1), outcome and quality themselves.
    """
    row = (await read_body(request, VerifyRequest)).root
    compat = compat_of(request)
    members = await compat.members(request, 1, lambda _, context: _member(row, context))

    def render(results: Sequence[Result]) -> dict[str, Any]:
        components = _components(members[0].task, results[0])
        reward = components["outcome"] + components["process"]
        return {**row, **results[0].numbers(), "reward": reward, "reward_components": components}

    return await compat.answer(request, members, render)


@router.post(
    "/seed_session",
    summary="NeMo Gym: begin a session",
    openapi_extra=body_schema(SeedSessionRequest),
)
async def seed_session(request: Request) -> dict[str, Any]:
    """Answer an empty object: nothing is kept between the requests of a session."""
    await read_body(request, SeedSessionRequest)
    return {}


@router.post(
    "/aggregate_metrics",
    summary="NeMo Gym: figures over many answers of verify",
    response_model=AggregateMetrics,
    openapi_extra=body_schema(AggregateRequest),
)
async def aggregate_metrics(request: Request) -> AggregateMetrics:
    """Mean, max, min, median and std of every number, by task and over all."""
    rows = (await read_body(request, AggregateRequest)).verify_responses
    return await asyncio.to_thread(aggregate, rows)  # off the event loop, as they may be many


def _member(row: dict[str, Any], context: Context) -> Member:
    try:
        text = final_text(Node(row).need("response"))
        asked = Node(row).need("responses_create_params").need("input")
    except RowFault as fault:
        raise invalid_row("", fault) from None
    return Member(read_task(row, "", asked, context), text, text_at="response")


def final_text(response: Node) -> str:
    """The text of a response's last item; empty when that is no message (the model never came to its answer).

    Raises:
        RowFault: It is no OpenAI Responses object.
    """
    items = response.need("output").items()
    content = items[-1].get("content") if items else None
    if content is None:
        return ""
    if (kind := items[-1].get("type")) is not None and kind.value != "message":
        return ""
    if isinstance(content.value, str):
        return content.value
    return "".join(part.string() for item in content.items() if (part := item.get("text")) is not None)


def _components(task: Task, result: Result) -> dict[str, float]:
    if task.size > 1:
        return {"outcome": result.a_out, "process": result.a_proc}
    return {"outcome": result.outcome or 0.0, "process": result.quality or 0.0}
