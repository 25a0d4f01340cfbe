"""Services whose groups wait only as long as a test does, and both kinds of place where members meet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from barriers import MakePlace
from redis_server import RedisServer, needs_redis, running_redis
from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.compat.place import LocalPlace
from rubricate_service.compat.redis_place import RedisPlace
from rubricate_service.compat.settings import CompatSettings
from rubricate_service.settings import Settings
from serving import running_server


@pytest.fixture(scope="session")
def served(judge_of_session: FakeJudge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a service with the fake judge; its groups wait for a minute."""
    settings = Settings(
        judge=judge_of_session.url,
        cache=str(tmp_path_factory.mktemp("compat") / "verdicts.db"),
        check_workers=2,
        compat=CompatSettings(group_timeout_s=60.0),
    )
    with running_server(create_app(settings)) as url:
        yield url


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[str]:
    """URL of a service without a judge whose groups wait for half a second, and have four members."""
    settings = Settings(
        cache=str(tmp_path / "v.db"),
        check_workers=1,
        compat=CompatSettings(group_timeout_s=0.5, group_size=4),
    )
    with running_server(create_app(settings)) as url:
        yield url


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["local", pytest.param("redis", marks=needs_redis)])
def place(request: pytest.FixtureRequest) -> MakePlace:
    if request.param == "local":
        return lambda timeout_s: LocalPlace(100, 1 << 20)
    server: RedisServer = request.getfixturevalue("redis")
    server.command("FLUSHALL")
    return lambda timeout_s: RedisPlace(server.url, timeout_s)
