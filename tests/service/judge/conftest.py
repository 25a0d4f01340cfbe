"""A fake judge on a port, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rubricate_clients.testing import FakeJudge


@pytest.fixture(scope="module")
def server() -> Iterator[FakeJudge]:
    with FakeJudge() as server:
        yield server


@pytest.fixture
def fake(server: FakeJudge) -> FakeJudge:
    server.reset()
    server.answer = "2"
    return server
