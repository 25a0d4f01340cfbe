"""A service on a socket whose groups wait only as long as a test does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
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
