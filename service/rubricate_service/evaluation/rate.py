"""Shares of verdicts, where some verdicts are undecided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Verdict = bool | None
"""Whether something holds; None when that is undecided."""


def all_hold(verdicts: Iterable[Verdict]) -> Verdict:
    """False as soon as one is False, whatever else is undecided; None when none is and one is undecided."""
    found = list(verdicts)
    return False if False in found else None if None in found else True


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of the decided verdicts hold. What is undecided counts neither way."""

    held: int
    decided: int
    undecided: int

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Rate:
        """The rate of some verdicts."""
        found = list(verdicts)
        return cls(found.count(True), found.count(True) + found.count(False), found.count(None))

    @property
    def share(self) -> float | None:
        """In [0, 1]; None where nothing is decided."""
        return self.held / self.decided if self.decided else None

    def json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "accuracy": self.share,
            "held": self.held,
            "decided": self.decided,
            "undecided": self.undecided,
        }
