"""A running service with a fake judge behind it, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from raw_http import server as raw_server
from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.settings import Settings


@pytest.fixture(scope="session")
def judge_of_session() -> Iterator[FakeJudge]:
    with FakeJudge() as judge:
        yield judge


@pytest.fixture
def judge(judge_of_session: FakeJudge) -> FakeJudge:
    """The fake judge behind `client`, as it was at the start."""
    judge_of_session.reset()
    return judge_of_session


@pytest.fixture(scope="session")
def client_of_session(
    judge_of_session: FakeJudge, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    settings = Settings(
        judge=judge_of_session.url,
        cache=str(tmp_path_factory.mktemp("cache") / "verdicts.db"),
        check_workers=2,
        check_timeout_s=1.0,
        deadline_s=20.0,
    )
    # what the app raises is to be seen as its users see it: as an answer
    with TestClient(create_app(settings), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def client(client_of_session: TestClient, judge: FakeJudge) -> TestClient:
    """A service with two check workers and the fake judge."""
    return client_of_session


@pytest.fixture
def no_judge(tmp_path: Path) -> Iterator[TestClient]:
    """A service without a judge."""
    with TestClient(create_app(Settings(cache=str(tmp_path / "v.db"), check_workers=1))) as client:
        yield client


@pytest.fixture(scope="module")
def server() -> Iterator[FakeJudge]:
    """A fake judge for a module that asks it directly."""
    with FakeJudge() as server:
        yield server


@pytest.fixture
def fake(server: FakeJudge) -> FakeJudge:
    """The module's fake judge, as it was at the start, content with everything."""
    server.reset()
    server.answer = "2"
    return server


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with raw_server() as port:
        yield port
