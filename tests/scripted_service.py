"""A reward service that answers by a script, for tests of the clients."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from rubricate_clients._server_thread import ServerThread

Body = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """A request, as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Body:
        """Its parsed body."""
        parsed: Body = json.loads(self.body)
        return parsed


Step = Callable[[web.Request, Seen], Awaitable[web.StreamResponse]]


class ScriptedService(ServerThread):
    """Plays one step a request, and the last one for all that follow."""

    def __init__(self, *steps: Step) -> None:
        super().__init__(self._app)
        self.steps = steps
        self.seen: list[Seen] = []

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/{path:.*}", self._play)
        return app

    async def _play(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        seen = Seen(request.method, request.path, headers, await request.read(), time.monotonic())
        step = self.steps[min(len(self.seen), len(self.steps) - 1)]
        self.seen.append(seen)
        return await step(request, seen)


def scores_of(request: Body) -> Body:
    """A right answer to a score request; the score of a rubric is told by its position in the request."""
    groups = [
        {
            "id": str(group.get("id", g)),
            "responses": [
                {
                    "id": str(r) if isinstance(response, str) else response.get("id", str(r)),
                    "rubrics": [
                        {"id": rubric.get("id", str(k)), "score": 1 / (1 + g + r + k), "status": "scored"}
                        for k, rubric in enumerate(group["rubrics"])
                    ],
                    "outcome": 1.0,
                    "quality": 1 / (1 + g + r),
                    "valid": True,
                    "eligible": True,
                    "reward": 1 / (1 + g + r),
                }
                for r, response in enumerate(group["responses"])
            ],
        }
        for g, group in enumerate(request["groups"])
    ]
    return {"groups": groups, "stats": {}, "provenance": {"contract": 1}}


def scores(edit: Callable[[Body], object] = lambda answer: None) -> Step:
    """Answer a score request rightly, but for the edit."""

    async def step(request: web.Request, seen: Seen) -> web.StreamResponse:
        answer = scores_of(seen.json)
        edit(answer)
        return web.json_response(answer)

    return step


def raw(body: bytes, status: int = 200, **headers: str) -> Step:
    """Answer with these bytes; an underscore in a header's name stands for a hyphen."""

    async def step(request: web.Request, seen: Seen) -> web.StreamResponse:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=body, status=status, headers=names)

    return step


def refuse(status: int, type: str = "internal", message: str = "scripted", **headers: str) -> Step:
    """Answer with an error of the contract."""
    return raw(json.dumps({"error": {"type": type, "message": message}}).encode(), status, **headers)


async def hang(request: web.Request, seen: Seen) -> web.StreamResponse:
    """Never answer."""
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def drip(request: web.Request, seen: Seen) -> web.StreamResponse:
    """Answer rightly, but far too slowly: a byte each twentieth of a second."""
    payload = json.dumps(scores_of(seen.json)).encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(payload))})
    await response.prepare(request)
    for byte in payload:
        await response.write(bytes([byte]))
        await asyncio.sleep(0.05)
    return response


async def cut(request: web.Request, seen: Seen) -> web.StreamResponse:
    """Promise an answer, send a piece of it, and close the connection."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"groups": [')
    assert request.transport is not None
    request.transport.close()
    return response
