"""`POST /v1/explain`: `/v1/score`, and where each verdict comes from."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from rubricate_clients.wire import ScoreAnswer, ScoreRequest
from rubricate_service.http.auth import needs
from rubricate_service.routes.body import body_schema
from rubricate_service.routes.score import answer_scores

router = APIRouter(tags=["scoring"], dependencies=[needs("score")])


@router.post(
    "/v1/explain",
    summary="Score groups of responses, and explain it",
    response_model=ScoreAnswer,
    openapi_extra=body_schema(ScoreRequest),
)
async def explain(request: Request) -> Response:
    """Score as `POST /v1/score` does with `explain: true`.

    A check's verdict has `evidence`, spans in code points of the response as it was sent, and in mode
    `loose` the `variant` that rescued it; a criterion's has the messages that the judge was sent.
    """
    return await answer_scores(request, explain=True)
