"""Both clients, one after the other; and retries that do not wait."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rubricate_clients.testing import FakeJudge


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without a pause; those that a Retry-After asks for stay."""
    monkeypatch.setattr("rubricate_clients._call._BACKOFF_S", 0.0)


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="1") as running:
        yield running
