"""How much work linting a group may take, so that no group holds up the others or outlives its request."""

from __future__ import annotations

import math
import threading
import time

_MOST_STEPS = 2_000_000
_STEPS_BETWEEN_LOOKS = 2_000


class Exhausted(Exception):
    """A group needs more comparisons than are made, or its time is over."""


class Work:
    """What is left to do for one group.

    Comparisons are counted, so that what is found does not hang on how busy the machine is. A thread cannot
    be cancelled from outside: the loops of the rules call `step`, which ends them.

    Args:
        until: On `time.monotonic`'s clock.
        stopped: Set once nobody waits for the findings.
    """

    def __init__(self, until: float = math.inf, stopped: threading.Event | None = None) -> None:
        self._until = until
        self._stopped = stopped or threading.Event()
        self._left = _MOST_STEPS
        self._looked_at = _MOST_STEPS

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be done."""
        return self._left < 0 or self._stopped.is_set() or time.monotonic() > self._until

    def look(self) -> None:
        """Raise `Exhausted` where nothing more is to be done."""
        if self.is_over:
            raise Exhausted

    def step(self, cost: int = 1) -> None:
        """Count comparisons of short texts; raises `Exhausted` when there were too many."""
        self._left -= cost
        if self._left < 0:
            raise Exhausted
        if self._looked_at - self._left > _STEPS_BETWEEN_LOOKS:
            self._looked_at = self._left
            self.look()

    def read(self, text: str) -> None:
        """Count a text that is gone through; raises as `step`."""
        self.step(1 + len(text) // 100)
