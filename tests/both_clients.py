"""What tests of both clients share: each is used in the same way, awaited or not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rubricate_clients import (
    AsyncRewardClient,
    RewardClient,
    ScoreAnswer,
)

GROUPS: list[dict[str, Any]] = [
    {
        "id": "rivers",
        "prompt": "Name three rivers.",
        "rubrics": [
            {"id": "short", "check": "text:word_count", "kwargs": {"max": 5}},
            {"id": "true", "criterion": "All three are rivers."},
        ],
        "responses": ["Rhine, Nile, Amazon", {"id": "b", "text": "There are many."}],
    },
    {"prompt": "Say no.", "rubrics": [{"criterion": "It says no."}], "responses": ["No.", "Yes.", "No."]},
]

Client = Any  # one of the two: the same calls, awaited or not


def with_client(kind: str, url: str, use: Callable[[Client], Any], **arguments: Any) -> Any:
    """Result of `use` on a client of that kind, which is closed afterwards."""
    if kind == "sync":
        with RewardClient(url, **arguments) as client:
            return use(client)

    async def main() -> Any:
        async with AsyncRewardClient(url, **arguments) as client:
            return await use(client)

    return asyncio.run(main())


def score(kind: str, url: str, timeout_s: float = 10.0) -> ScoreAnswer:
    answer: ScoreAnswer = with_client(kind, url, lambda client: client.score(GROUPS), timeout_s=timeout_s)
    return answer


@contextmanager
def within(low: float, high: float) -> Iterator[None]:
    """Asserts that the block takes so many seconds."""
    start = time.monotonic()
    yield
    assert low <= time.monotonic() - start < high
