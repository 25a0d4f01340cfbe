"""`POST /v1/score`: groups in, a verdict for every rubric of every response out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from rubricate_clients.faults import ErrorDetail
from rubricate_clients.wire import ScoreAnswer, ScoreRequest
from rubricate_service.answer import groups_json
from rubricate_service.errors import NeedsAllScores
from rubricate_service.gate import missing_scores
from rubricate_service.pipeline import Scorer
from rubricate_service.routes.body import body_schema, read_body, while_connected
from rubricate_service.run import Run

router = APIRouter(tags=["scoring"])

_NDJSON = "application/x-ndjson"


def _refuse_missing_scores(request: ScoreRequest) -> None:
    if (why := missing_scores(request)) is not None:
        raise NeedsAllScores(why, [ErrorDetail(path="options.judging", message=why)])


async def score_request(scorer: Scorer, request: ScoreRequest) -> dict[str, Any]:
    """Score a request whole; the answer as JSON. Raises `NeedsAllScores`."""
    _refuse_missing_scores(request)
    run = scorer.run(request.options)
    async with aclosing(scorer.stream(request, run)) as stream:
        groups = sorted([group async for group in stream], key=lambda group: group.index)
    return {
        "groups": groups_json(groups, request.options.advantages),
        "stats": run.stats(),
        "provenance": scorer.provenance(run),
    }


async def _lines(scorer: Scorer, request: ScoreRequest, run: Run) -> AsyncIterator[bytes]:
    spec = request.options.advantages
    whole = spec is not None and spec.method == "gdpo"  # its whitening is over the whole request
    kept = []
    async with aclosing(scorer.stream(request, run)) as stream:
        async for group in stream:
            if whole:
                kept.append(group)
            else:
                for answer in groups_json([group], spec):
                    yield orjson.dumps({"group": answer}) + b"\n"
    for answer in groups_json(kept, spec):
        yield orjson.dumps({"group": answer}) + b"\n"
    yield orjson.dumps({"stats": run.stats(), "provenance": scorer.provenance(run)}) + b"\n"


@router.post(
    "/v1/score",
    summary="Score groups of responses",
    response_model=ScoreAnswer,
    openapi_extra=body_schema(ScoreRequest),
)
async def score(request: Request) -> Response:
    """Score every rubric of every response.

    One bad rubric never refuses the batch: its verdicts are `failed`, with a kind and a message. With
    `Accept: application/x-ndjson` each group is sent as one line as soon as it is complete; a stream
    whose last line has no `stats` is incomplete.
    """
    body = await read_body(request, ScoreRequest)
    scorer: Scorer = request.app.state.engine.scorer
    if _NDJSON in request.headers.get("accept", ""):
        _refuse_missing_scores(body)
        return StreamingResponse(_lines(scorer, body, scorer.run(body.options)), media_type=_NDJSON)
    answer = await while_connected(request, score_request(scorer, body))
    return Response(orjson.dumps(answer), media_type="application/json")
