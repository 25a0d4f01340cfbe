"""`POST /v1/rubrics/lint`: what is wrong with groups' rubrics, and a response that passes their checks."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rubricate_clients.wire import Group, Rubric, ScoreRequest
from rubricate_service.http.admission import Admission
from rubricate_service.http.auth import needs, tenant_of
from rubricate_service.http.limits import check_shape
from rubricate_service.lint.finding import Finding
from rubricate_service.lint.group import LintGroup
from rubricate_service.lint.linter import Linter, Report, Witness
from rubricate_service.routes.body import body_schema, read_body, while_connected

router = APIRouter(tags=["data sets"], dependencies=[needs("score")])

_DEADLINE_S = 60.0


class LintRequest(BaseModel):
    """Body of `POST /v1/rubrics/lint`: groups, whose responses are optional samples.

    With `witness`, a response that passes all checks is searched for each group.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    groups: Annotated[list[LintGroup], Field(min_length=1)]
    witness: bool = False


class LintAnswer(BaseModel):
    """Findings in the groups' order; `witnesses` only when they were asked for."""

    findings: list[Finding]
    witnesses: list[Witness] | None = None


@router.post(
    "/v1/rubrics/lint",
    summary="Lint rubrics",
    response_model=LintAnswer,
    openapi_extra=body_schema(LintRequest),
)
async def lint(request: Request) -> Response:
    """Say what is wrong with rubrics before anything is scored by them; `docs/linting.md` has the rules.

    A rubric that cannot be read is a finding, and the others are looked at all the same.
    """
    body = await read_body(request, LintRequest)
    scored = ScoreRequest.model_construct(groups=[_shape(group) for group in body.groups])
    check_shape(scored, request.app.state.limits)
    groups = [(f"groups[{index}]", group) for index, group in enumerate(body.groups)]
    linter = Linter(request.app.state.engine.pool)
    admission: Admission = request.app.state.admission
    deadline = asyncio.get_running_loop().time() + _DEADLINE_S
    # a group is work, also without samples
    places = sum(1 + len(group.responses) for group in body.groups)

    async def work() -> Report:
        async with admission.places(tenant_of(request), places, deadline):
            left = deadline - asyncio.get_running_loop().time()
            return await linter.lint(groups, left, body.witness)

    report = await while_connected(request, work())
    answer = LintAnswer(findings=report.findings, witnesses=report.witnesses if body.witness else None)
    left_out = None if body.witness else {"witnesses"}
    return Response(answer.model_dump_json(exclude=left_out), media_type="application/json")


def _shape(group: LintGroup) -> Group:
    """The group as one to be scored, for the limits; what is no rubric is never built and counts as empty."""
    return Group.model_construct(
        id=group.id,
        prompt=group.prompt,
        reference=group.reference,
        rubrics=[_rubric(raw) for raw in group.rubrics],
        responses=group.responses,
    )


def _rubric(raw: object) -> Rubric:
    try:
        return Rubric.model_validate(raw)
    except ValidationError:
        return Rubric.model_construct()
