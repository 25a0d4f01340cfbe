"""What every test may rely on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def own_settings() -> Iterator[None]:
    """Flags of a command become variables, for the processes that it starts: none outlives its test."""
    before = {name: value for name, value in os.environ.items() if name.startswith("RUBRICATE_")}
    yield
    for name in [name for name in os.environ if name.startswith("RUBRICATE_")]:
        del os.environ[name]
    os.environ.update(before)
