"""Several processes of the service: the members of a group meet in Redis, or are told that they cannot."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.testclient import TestClient

from engines.process import Server
from redis_server import RedisServer, needs_redis, running_redis
from rubricate_service.app import create_app
from rubricate_service.settings import Settings

ROUTE = "/compat/slime"
RUBRICS = [{"check": "punctuation:no_comma"}]


@contextmanager
def running_service(folder: Path, redis: RedisServer, workers: int) -> Iterator[str]:
    command = [sys.executable, "-m", "rubricate_service", "serve", "--cache", redis.url]
    command += ["--workers", str(workers), "--check-workers", "1"]
    env = {"RUBRICATE_COMPAT__GROUP_SIZE": "4", "RUBRICATE_COMPAT__GROUP_TIMEOUT_S": "60"}
    server = Server(command, env, health="/readyz", start_s=60, log=folder / "log")
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@needs_redis
@pytest.mark.timeout(300)  # a loaded machine takes a while to start three services
@pytest.mark.parametrize(
    ("services", "workers"), [(2, 1), (1, 2)], ids=["two services", "two workers of a service"]
)
def test_groups_meet_across_processes(tmp_path: Path, services: int, workers: int) -> None:
    with ExitStack() as stack:
        redis = stack.enter_context(running_redis(tmp_path))
        folders = [tmp_path / str(n) for n in range(services)]
        for folder in folders:
            folder.mkdir()
        urls = [stack.enter_context(running_service(folder, redis, workers)) for folder in folders]
        answers = asyncio.run(_ask_all(urls))
    for group in answers:
        assert [a["members"] for a in group] == [4.0] * 4
        assert [a["incomplete"] for a in group] == [0.0] * 4
        assert [a["outcome"] for a in group] == [1.0, 0.0, 1.0, 1.0]
        assert [a["reward"] for a in group] == pytest.approx([0.5, -1.5, 0.5, 0.5], abs=1e-4)


async def _ask_all(urls: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Sixteen groups of four, each response over a connection of its own, to the services in turn."""

    async def ask(n: int, prompt: str, response: str) -> dict[str, Any]:
        sent = {"prompt": prompt, "response": response, "label": {"rubrics": RUBRICS}}
        async with (
            aiohttp.ClientSession() as session,
            session.post(urls[n % len(urls)] + ROUTE, json=sent) as a,
        ):
            assert a.status == 200, await a.text()
            answer: dict[str, Any] = await a.json()
            return answer

    texts = ["yes", "no, no", "yes", "no"]
    asked = [ask(n, f"Thing {g}.", text) for g in range(16) for n, text in enumerate(texts)]
    answers = await asyncio.gather(*asked)
    return [answers[start : start + 4] for start in range(0, len(answers), 4)]


def test_workers_without_a_redis_are_refused_and_told_what_to_do(tmp_path: Path) -> None:
    settings = Settings(workers=2, cache=str(tmp_path / "v.db"), check_workers=1)
    sent = {"prompt": "p", "response": "r", "label": {"rubrics": RUBRICS, "size": 2}}
    with TestClient(create_app(settings)) as client:
        refused = client.post(ROUTE, json=sent)
        assert refused.status_code == 503
        assert refused.json()["error"]["type"] == "unavailable"
        assert "--workers 1, or with --cache redis://" in refused.json()["error"]["message"]
        sent["label"] = {"rubrics": RUBRICS, "size": 1}  # which meets nobody
        assert client.post(ROUTE, json=sent).json()["outcome"] == 1.0
