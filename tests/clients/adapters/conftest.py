"""A running service with a fake judge behind it, as the adapters' hooks meet it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reward_service import Wire, reward_service


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    with reward_service(tmp_path_factory.mktemp("service")) as wire:
        yield wire


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    """The module's service as it was at the start, where the hooks find it; modules may set more."""
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    return running
