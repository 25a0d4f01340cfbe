"""A linter over two check workers, shared by all tests of linting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rubricate_service.lint.group import LintGroup
from rubricate_service.lint.linter import Linter, Report
from rubricate_service.pool import CheckPool

Lint = Callable[..., Report]


@pytest.fixture(scope="session")
def pool() -> Iterator[CheckPool]:
    pool = CheckPool(2, time_limit_s=2.0)
    asyncio.run(pool.start())
    yield pool
    asyncio.run(pool.close())


@pytest.fixture(scope="session")
def lint(pool: CheckPool) -> Lint:
    """Lints groups given as dicts; without a prompt they get one that asks for nothing in particular."""

    def lint(*groups: dict[str, Any], witness: bool = False) -> Report:
        given = [
            (f"groups[{i}]", LintGroup.model_validate({"prompt": "Describe the harbour."} | group))
            for i, group in enumerate(groups)
        ]
        return asyncio.run(Linter(pool).lint(given, 60.0, witness))

    return lint
