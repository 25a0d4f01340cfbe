"""Whether the judge still decides anything: questions in a row without a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rubricate_clients.wire import FailureKind

ENOUGH = 5
"""Fewer questions in a row without a verdict may be a coincidence."""

RECENT_S = 60.0
"""Nothing is known of a judge that was not asked for so long."""

_OF_THE_QUESTION = frozenset[FailureKind]({"too_long", "canceled"})
"""Failures that say nothing about other questions."""


class Streak:
    """The questions since the last verdict that the judge gave.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kinds: Counter[FailureKind] = Counter()
        self._last = 0.0
        self._open = 0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A question is under way."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            self._last = self._clock()

    def decided(self) -> None:
        """The judge gave a verdict."""
        self._kinds.clear()

    def failed(self, kind: FailureKind) -> None:
        """A question has got none, after all attempts."""
        if kind not in _OF_THE_QUESTION:
            self._kinds[kind] += 1

    def told(self) -> str | None:
        """What is wrong, by kinds alone, as messages may quote texts; None where verdicts are given."""
        count = self._kinds.total()
        is_asked = self._open or self._clock() - self._last <= RECENT_S
        if count < ENOUGH or not is_asked:
            return None
        kinds = ", ".join(f"{number} {kind}" for kind, number in self._kinds.most_common())
        return f"the last {count:,} questions got no verdict: {kinds}"
