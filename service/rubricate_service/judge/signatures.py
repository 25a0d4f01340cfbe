"""The `system_fingerprint`s that a replica answers with."""

from __future__ import annotations

from collections.abc import KeysView

RECENT = 50
"""One that none of so many last answers carried is not served any more."""


class Signatures:
    """The fingerprints of a replica's last answers.

    A server has one and changes it with its version or its settings; a router, or a hosted endpoint, passes
    on those of all servers behind it, in any order.
    """

    def __init__(self) -> None:
        self._answers = 0
        self._last: dict[str, int] = {}

    def add(self, fingerprint: str | None) -> None:
        """An answer came, with or without one."""
        self._answers += 1
        self._last[fingerprint or ""] = self._answers
        if len(self._last) > 1:
            self._last = {f: number for f, number in self._last.items() if number > self._answers - RECENT}

    @property
    def recent(self) -> KeysView[str]:
        """Those of the last ``RECENT`` answers; "" where one carried none."""
        return self._last.keys()
