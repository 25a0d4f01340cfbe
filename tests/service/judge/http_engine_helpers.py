"""Helpers to run an HTTP engine against servers that misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from rubricate_service.judge import JudgeFailure
from rubricate_service.judge.http import HttpModel

MESSAGES = [{"role": "system", "content": "Grade."}, {"role": "user", "content": "A response about herons."}]


def later(seconds: float = 2.0) -> float:
    return asyncio.get_running_loop().time() + seconds


async def failure(asked: Awaitable[object]) -> JudgeFailure:
    with pytest.raises(JudgeFailure) as caught:
        await asked
    return caught.value


async def with_engine(engine: HttpModel, test: Callable[[HttpModel], Awaitable[None]]) -> None:
    try:
        await test(engine)
    finally:
        await engine.close()


async def against(
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]], test: Any, **engine: Any
) -> None:
    """Run a test against a server that answers everything with one handler."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        await with_engine(HttpModel(f"http://127.0.0.1:{runner.addresses[0][1]}", **engine), test)
    finally:
        await runner.cleanup()
