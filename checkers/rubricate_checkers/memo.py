"""A bounded memo for small facts about small strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

V = TypeVar("V")

_LONGEST_KEY = 80
"""Longer strings are computed and not kept: no text may fill the memory with one giant word."""


class Memo(dict[str, V]):
    """A dict that computes what it lacks; when full it is emptied, which costs less than ageing.

    `memo[key]` runs at the speed of a dict, also inside `map(memo.__getitem__, keys)`.
    """

    def __init__(self, compute: Callable[[str], V], limit: int = 30_000) -> None:
        super().__init__()
        self._compute = compute
        self._limit = limit

    def __missing__(self, key: str) -> V:
        value = self._compute(key)
        if len(key) <= _LONGEST_KEY:
            if len(self) >= self._limit:
                self.clear()
            self[key] = value
        return value
