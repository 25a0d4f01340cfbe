"""Answering a request: while its client is there, and once for each `Idempotency-Key`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from rubricate_service.http.idempotency import Idempotency
from rubricate_service.routes.body import while_connected


async def answer_once(
    request: Request, key: bytes | None, work: Callable[[], Coroutine[Any, Any, bytes]]
) -> Response:
    """The JSON that `work` makes, or that the key's first request has made or is making.

    Args:
        request: The request, its body read.
        key: What `key_of` said of it.
        work: Makes the body of the answer; it is cancelled when nobody waits for it any more.

    Raises:
        ClientGone: The client left first.
        Conflict: The key belongs to another request.
        ApiError: What `work` raises.
    """
    if key is None:
        body = await while_connected(request, work())
        return Response(body, media_type="application/json")
    idempotency: Idempotency = request.app.state.idempotency
    answer = await while_connected(request, idempotency.once(key, await request.body(), work))
    headers = {"Idempotent-Replayed": "true"} if answer.is_replayed else None
    return Response(answer.body, media_type="application/json", headers=headers)
