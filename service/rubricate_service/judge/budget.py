"""How many calls may be repeated, so that a judge in trouble is not asked far more than one that is well."""

from __future__ import annotations

import time
from collections.abc import Callable

QUESTIONS = 6
"""So many questions are worth one retry: what is retried, the floor included, stays below a fifth."""

FLOOR = 10
"""Retries that are there at the start, and come back at one a second when few questions are asked."""

MOST = 256
"""Retries that are saved up at most: what is in flight at a replica that dies."""


class RetryBudget:
    """Retries left to all questions of a judge together.

    A token bucket as in gRPC's retry throttling and Finagle's ``RetryBudget``: n questions are repeated at
    most n / ``QUESTIONS`` + ``FLOOR`` times (and once a second beside), whatever each of them would like.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._left = float(FLOOR * QUESTIONS)  # in questions, so that six of them are one retry exactly
        self._filled_at: float | None = None

    def deposit(self) -> None:
        """A question is asked for the first time."""
        self._left = min(self._left + 1, MOST * QUESTIONS)

    def withdraw(self) -> bool:
        """Take one retry; False when none is left."""
        now = self._clock()
        floor = FLOOR * QUESTIONS
        if self._filled_at is not None and self._left < floor:
            self._left = min(self._left + (now - self._filled_at) * QUESTIONS, floor)
        self._filled_at = now
        if self._left < QUESTIONS:
            return False
        self._left -= QUESTIONS
        return True
