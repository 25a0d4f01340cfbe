"""Which replicas are left out for a while, because they fail where others do not."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

State = Literal["ok", "ejected", "probing"]

RECENT = 10
FAILURES = 5
"""A replica is suspect when so many of its ``RECENT`` last calls failed."""

SHORTEST_S = 5.0
LONGEST_S = 60.0


@dataclass
class _Record:
    state: State = "ok"
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT))
    until: float = -math.inf  # of the last ejection
    in_a_row: int = 0


class Outliers:
    """The states of a set of replicas.

    ``ok`` takes calls; ``ejected`` takes none until its time is over and it was found to be itself again;
    ``probing`` then takes one at a time, and the first that ends decides. Each ejection that follows soon
    on another lasts twice as long.

    As long as there is a replica, one of them is not ejected. Calls that fail eject at most a third of the
    replicas (and one where there are two): what fails everywhere is no replica's own fault, and sending all
    to the few left would break those too. A replica that was looked at and found gone counts for itself.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._records: dict[str, _Record] = {}

    def join(self, name: str, *, trusted: bool = True) -> None:
        """A replica is there; one that is not trusted has to be admitted first, unless it is the only one."""
        self._records[name] = _Record("ok" if trusted or not self._records else "ejected")

    def leave(self, name: str) -> None:
        """A replica is gone. Where only ejected ones are left, the one whose time ends first is back."""
        del self._records[name]
        if self._records and self._usable() == 0:
            min(self._records.values(), key=lambda record: record.until).state = "ok"

    def state(self, name: str) -> State:
        """Where a replica stands."""
        return self._records[name].state

    def succeeded(self, name: str) -> None:
        """A call of this replica went well."""
        record = self._records[name]
        record.recent.append(True)
        if record.state == "probing":
            record.state = "ok"

    def failed(self, name: str) -> bool:
        """A call of this replica went wrong by its own fault; whether that makes it suspect."""
        record = self._records[name]
        record.recent.append(False)
        if record.state == "ejected":  # a call that was sent before
            return False
        return record.state == "probing" or record.recent.count(False) >= FAILURES

    def eject(self, name: str, *, confirmed: bool = False) -> float | None:
        """Leave a replica out.

        Args:
            name: Which.
            confirmed: It was looked at and is gone or is another; it may be out already, and stays out.

        Returns:
            For how many seconds, or None when it has to stay in.
        """
        record = self._records[name]
        out = len(self._records) - self._usable()
        if record.state != "ejected":
            share = max(1, len(self._records) // 3)
            if self._usable() == 1 or (out >= share and not confirmed):
                record.state = "ok"  # whoever has to stay takes all that comes
                record.recent.clear()
                return None
        now = self._clock()
        record.in_a_row = record.in_a_row + 1 if now <= record.until + LONGEST_S else 1
        seconds = min(SHORTEST_S * 2.0 ** (record.in_a_row - 1), LONGEST_S)
        record.state = "ejected"
        record.until = now + seconds
        record.recent.clear()
        return seconds

    def admit(self, name: str) -> None:
        """A replica was looked at and is itself: it may prove itself with one call at a time."""
        record = self._records[name]
        record.recent.clear()
        if record.state == "ejected":
            record.state = "probing"

    def _usable(self) -> int:
        return sum(record.state != "ejected" for record in self._records.values())
