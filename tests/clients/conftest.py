"""Both clients, one after the other; and retries that do not wait."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without a pause; those that a Retry-After asks for stay."""
    monkeypatch.setattr("rubricate_clients._call._BACKOFF_S", 0.0)
