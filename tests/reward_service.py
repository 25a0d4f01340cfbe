"""A real service with a scripted judge, one group to score, and faults between a trainer and the service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast

from fastapi import FastAPI

from rubricate_clients.advantages import rdan
from rubricate_clients.testing import FakeCall, FakeJudge
from rubricate_service.app import create_app
from rubricate_service.settings import Settings
from serving import running_server

PROMPT = "Write one sentence about a fox."
RUBRICS = [
    {"id": "long", "check": "text:word_count", "kwargs": {"min": 4}},
    {"id": "vivid", "criterion": "The sentence is vivid."},
]
RESPONSES = [
    "A red fox leapt over the cold brook.",
    "The fox went over the water.",
    "There was a fox.",
    "Fox!",
]
ADVANTAGES: list[float] = list(
    rdan([0] * 4, outcome=[1, 1, 1, 0], quality=[1.0, 0.5, 0.0, None], eligible=[1, 1, 1, 0]).advantages
)
UNDECIDABLE = [{"id": "odd", "check": "text:no_such_check"}]

Trouble = Literal["busy", "broken", "slow", "cut"]


def vividness(call: FakeCall) -> str:
    """The judge's label: full marks for leaping, half for going."""
    return "2" if "leapt" in call.text else "1" if "went" in call.text else "0"


class Wire:
    """The way to the service: notes every POST, and plays the next of `troubles` on it, if there is one."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.url = ""
        self.posts: list[str] = []
        self.troubles: list[Trouble] = []

    def reset(self) -> None:
        """Forget what was noted and what was planned."""
        self.posts.clear()
        self.troubles.clear()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """As an ASGI application."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self.app(scope, receive, send)
        self.posts.append(scope["path"])
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble == "slow":
            await asyncio.sleep(3)
        if trouble == "busy":
            return await _refuse(send, 429, "overloaded")
        if trouble == "broken":
            return await _refuse(send, 500, "internal")
        if trouble == "cut":
            return await self._cut(scope, receive, send)
        return await self.app(scope, receive, send)

    async def _cut(self, scope: Any, receive: Any, send: Any) -> None:
        """Half of the service's own answer, and then the connection ends."""

        async def half(message: Any) -> None:
            if message["type"] == "http.response.body" and (body := message.get("body")):
                await send({**message, "body": body[: len(body) // 2], "more_body": True})
                await send({"type": "http.response.body", "body": b""})
            else:
                await send(message)

        await self.app(scope, receive, half)


async def _refuse(send: Any, status: int, type_: str) -> None:
    body = json.dumps({"error": {"type": type_, "message": "planned by the test"}}).encode()
    headers = [(b"content-type", b"application/json"), (b"retry-after", b"0")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def reward_service(folder: Path, **settings: Any) -> Iterator[Wire]:
    """A service on a free port, with its cache in the folder."""
    with FakeJudge(answer=vividness) as judge:
        made = Settings(
            judge=judge.url,
            judge_canaries=False,
            cache=str(folder / "verdicts.db"),
            check_workers=1,
            **settings,
        )
        wire = Wire(create_app(made))
        with running_server(cast(FastAPI, wire)) as wire.url:
            yield wire
