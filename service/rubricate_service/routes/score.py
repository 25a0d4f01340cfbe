"""`POST /v1/score`: groups in, a verdict for every rubric of every response out."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from rubricate_clients.faults import ErrorDetail
from rubricate_clients.wire import ScoreAnswer, ScoreRequest
from rubricate_service.answer import groups_json
from rubricate_service.errors import NeedsAllScores
from rubricate_service.gate import missing_scores
from rubricate_service.http.admission import Admission
from rubricate_service.http.auth import needs, tenant_of
from rubricate_service.http.idempotency import key_of
from rubricate_service.http.limits import check_shape
from rubricate_service.pipeline import Scorer
from rubricate_service.routes.body import body_schema, read_body, while_connected
from rubricate_service.routes.once import answer_once
from rubricate_service.run import Run

router = APIRouter(tags=["scoring"], dependencies=[needs("score")])

_NDJSON = "application/x-ndjson"
_QUALITY = re.compile(r"q\s*=\s*([01](?:\.[0-9]{0,3})?)")


async def read_score_request(request: Request) -> ScoreRequest:
    """The body of a request to score, when it is one and within the limits.

    Raises:
        InvalidRequest: With every fault and its path.
        NeedsAllScores: It asks for advantages on scores that its own judging skips.
    """
    body = await read_body(request, ScoreRequest)
    check_shape(body, request.app.state.limits)
    _refuse_missing_scores(body)
    return body


def _refuse_missing_scores(request: ScoreRequest) -> None:
    if (why := missing_scores(request)) is not None:
        raise NeedsAllScores(why, [ErrorDetail(path="options.judging", message=why)])


async def score_request(scorer: Scorer, request: ScoreRequest, run: Run | None = None) -> dict[str, Any]:
    """Score a request whole; the answer as JSON. Raises `NeedsAllScores`."""
    _refuse_missing_scores(request)
    run = run or scorer.run(request.options)
    async with aclosing(scorer.stream(request, run)) as stream:
        groups = sorted([group async for group in stream], key=lambda group: group.index)
    return {
        "groups": groups_json(groups, request.options.advantages),
        "stats": run.stats(),
        "provenance": scorer.provenance(run),
    }


@asynccontextmanager
async def admitted(admission: Admission, request: ScoreRequest, run: Run) -> AsyncIterator[None]:
    """Hold the places of a request; the time that it waited for them is the run's `queued_s`."""
    responses = sum(len(group.responses) for group in request.groups)
    async with admission.places(run.tenant, responses, run.deadline):
        run.queued_s = time.monotonic() - run.started
        yield


class _AdmittedStream(StreamingResponse):
    """Gives the places back when the stream has ended, also one that never began."""

    def __init__(self, lines: AsyncIterator[bytes], places: AsyncExitStack) -> None:
        super().__init__(lines, media_type=_NDJSON)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._places:
            await super().__call__(scope, receive, send)


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
    whose last line has no `stats` is incomplete. A retry with the same `Idempotency-Key` and body gets
    the first request's answer; streams are not kept.
    """
    return await answer_scores(request)


async def answer_scores(request: Request, *, explain: bool = False) -> Response:
    """Score the body of an HTTP request: within the limits, in its turn, and once for each key.

    Args:
        request: Its body is a `ScoreRequest`.
        explain: Explain the verdicts, whatever the body's options say of that.

    Raises:
        ApiError: It cannot be scored, or not now.
    """
    state, tenant = request.app.state, tenant_of(request)
    scorer: Scorer = state.engine.scorer
    admission: Admission = state.admission
    key = key_of(request, tenant)
    body = await read_score_request(request)
    body.options.explain |= explain

    if _prefers_lines(",".join(request.headers.getlist("accept"))):
        run = scorer.run(body.options, tenant)
        places = AsyncExitStack()
        await while_connected(request, places.enter_async_context(admitted(admission, body, run)))
        return _AdmittedStream(_lines(scorer, body, run), places)

    async def work() -> bytes:
        run = scorer.run(body.options, tenant)
        async with admitted(admission, body, run):
            return orjson.dumps(await score_request(scorer, body, run))

    return await answer_once(request, key, work)


def _prefers_lines(accept: str) -> bool:
    """Whether an `Accept` header (RFC 9110, section 12.5.1) names NDJSON, and JSON not before it."""
    qualities: dict[str, float] = {}
    for accepted in accept.lower().split(","):
        name, *parameters = (part.strip() for part in accepted.split(";"))
        given = [match[1] for part in parameters if (match := _QUALITY.fullmatch(part))]
        qualities[name] = float(given[0]) if given else 1.0
    lines = qualities.get(_NDJSON, 0.0)
    return lines > 0 and lines >= qualities.get("application/json", 0.0)
