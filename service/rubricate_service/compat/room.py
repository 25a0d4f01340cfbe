"""How many members may wait in this process, and how much memory they may take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rubricate_service.errors import Overloaded

_RETRY_AFTER_S = 1.0


class Room:
    """What the members that wait share.

    Args:
        most: How many there may be.
        most_bytes: How much memory they may take, about.

    Attributes:
        members: How many there are.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self.members = 0

    @contextmanager
    def taken(self, size_bytes: int) -> Iterator[None]:
        """Let a member of this size wait.

        Raises:
            Overloaded: There is no room for it.
        """
        if self.members >= self._most:
            message = f"{self._most} responses wait for their groups, as many as may (`compat.group_waiting`)"
            raise Overloaded(message, _RETRY_AFTER_S)
        if self._bytes + size_bytes > self._most_bytes:
            message = (
                f"{self.members} responses wait for their groups, and with {size_bytes:,} bytes more they "
                f"would take more memory than they may ({self._most_bytes:,} bytes)"
            )
            raise Overloaded(message, _RETRY_AFTER_S)
        self.members += 1
        self._bytes += size_bytes
        try:
            yield
        finally:
            self.members -= 1
            self._bytes -= size_bytes
