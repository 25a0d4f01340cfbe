"""`POST /v1/advantages`: scores in, advantages out, by the code that the trainer's client runs."""

from __future__ import annotations

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response

from rubricate_clients.advantages import AdvantageError, NeedsAllScores, compute, diagnostics
from rubricate_clients.faults import ErrorDetail, ids_of
from rubricate_clients.wire import AdvantageAnswer, AdvantageRequest
from rubricate_service import errors
from rubricate_service.http.auth import needs
from rubricate_service.http.limits import check_counts
from rubricate_service.routes.body import body_schema, read_body

router = APIRouter(tags=["scoring"], dependencies=[needs("score")])


def _rewards(body: AdvantageRequest) -> list[float | None] | None:
    """Rewards as given (null is undecided), or None when no response gives one.

    Raises:
        InvalidRequest: some give one and others do not: two kinds of reward in one group mean nothing.
    """
    lacking = [
        ErrorDetail(path=f"groups[{g}].responses[{r}].reward", message="missing, while others give one")
        for g, group in enumerate(body.groups)
        for r, response in enumerate(group.responses)
        if "reward" not in response.model_fields_set
    ]
    responses = [response for group in body.groups for response in group.responses]
    if len(lacking) == len(responses):
        return None
    if lacking:
        raise errors.InvalidRequest("give `reward` for every response of the request or for none", lacking)
    return [response.reward for response in responses]


@router.post(
    "/v1/advantages",
    summary="Advantages from scores",
    response_model=AdvantageAnswer,
    openapi_extra=body_schema(AdvantageRequest),
)
async def advantages(request: Request) -> Response:
    """Advantages of groups whose outcome and quality are known, always finite numbers."""
    body = await read_body(request, AdvantageRequest)
    check_counts(body.groups, request.app.state.limits)
    flat = [(g, response) for g, group in enumerate(body.groups) for response in group.responses]
    groups = [g for g, _ in flat]
    outcome = [r.outcome for _, r in flat]
    quality = [r.quality for _, r in flat]
    eligible = [r.eligible for _, r in flat]
    valid = [r.valid for _, r in flat]
    given = _rewards(body)
    try:
        computed = compute(
            body.method,
            groups,
            outcome=outcome,
            quality=quality,
            eligible=eligible,
            valid=valid,
            reward=given,
            **body.parameters(),
        )
    except NeedsAllScores as error:
        raise errors.NeedsAllScores(str(error), [ErrorDetail(path="groups", message=str(error))]) from None
    except AdvantageError as error:
        raise errors.InvalidRequest(str(error), [ErrorDetail(path="", message=str(error))]) from None
    answers = []
    start = 0
    for id, group in zip(ids_of(body.groups), body.groups, strict=True):
        part = slice(start, start + len(group.responses))
        start = part.stop
        answers.append(
            {
                "id": id,
                "advantages": computed.advantages[part],
                "a_out": None if computed.a_out is None else computed.a_out[part],
                "a_proc": None if computed.a_proc is None else computed.a_proc[part],
            }
        )
    facts = diagnostics(
        groups,
        computed.advantages,
        outcome=outcome,
        quality=quality,
        eligible=eligible,
        valid=valid,
        a_out=computed.a_out,
        a_proc=computed.a_proc,
    )
    return Response(orjson.dumps({"groups": answers, "diagnostics": facts}), media_type="application/json")
