"""How many calls one replica gets at a time, learned from how it takes them."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

_START = 16
_CUT = 0.5
_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0


class Limit:
    """Calls that may be with a replica at once: additive increase, multiplicative decrease, as TCP has it.

    It starts at 16 and grows by one with every success, which doubles it each round trip. The first
    overload halves it; from then on a whole round trip of successes is worth one call more. Only calls that
    make use of the limit move it up, and calls that were sent before a cut do not cut again.

    After an overload the replica gets no call until the time that it gave, or else for a short time that
    is drawn at random and doubles while it takes none.

    Args:
        most: What it never exceeds, 1 or more.
        clock: Seconds that never go back.

    Attributes:
        resumes_at: When the replica may be asked again, by ``clock``.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic):
        self.resumes_at = -math.inf
        self._most = most
        self._clock = clock
        self._value = float(min(most, _START))
        self._was_cut = False
        self._cut_at = -math.inf
        self._in_a_row = 0

    @property
    def calls(self) -> int:
        """The limit now, 1 or more."""
        return int(self._value)

    @property
    def is_held(self) -> bool:
        """Whether the replica asked to be left alone, and the time has not come yet."""
        return self._clock() < self.resumes_at

    def succeeded(self, in_flight: int) -> None:
        """A call was answered while so many, itself included, were with the replica."""
        self._in_a_row = 0
        if 2 * in_flight >= self._value:
            step = 1 / self._value if self._was_cut else 1.0
            self._value = min(self._value + step, self._most)

    def overloaded(self, began: float, retry_after: float | None = None) -> None:
        """A call was turned away.

        Args:
            began: When it was sent, by ``clock``.
            retry_after: Seconds that the replica wants to be left alone for, or None.
        """
        if self.cut(began):
            self._in_a_row += 1
        if retry_after is None:
            retry_after = random.uniform(0.0, self._longest_pause())  # noqa: S311  not a secret
        self.resumes_at = max(self.resumes_at, self._clock() + retry_after)

    def cut(self, began: float) -> bool:
        """A call that was sent at ``began`` was too much; whether that says anything new."""
        if began < self._cut_at:
            return False
        self._cut_at = self._clock()
        self._was_cut = True
        self._value = max(self._value * _CUT, 1.0)
        return True

    def _longest_pause(self) -> float:
        return min(_PAUSE_S * 2.0 ** min(self._in_a_row, 10), _LONGEST_PAUSE_S)
