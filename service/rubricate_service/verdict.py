"""What one rubric says of one response, inside the service, and how it is written on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rubricate_clients.wire import FailureKind, SkipReason, Status


@dataclass(slots=True)
class Verdict:
    """A verdict: `score` in [0, 1] after inversion, None unless `status` is `scored`.

    `holds` says whether the rubric, taken as a hard one, is met; None when undecided. `label` (0, 1, 2)
    and `expected` (0 to 1) are the judge's own, before inversion.
    """

    status: Status
    score: float | None = None
    holds: bool | None = None
    reason: str | None = None
    kind: FailureKind | None = None
    message: str | None = None
    path: str | None = None
    observed: str | None = None
    required: str | None = None
    parsed: bool | None = None
    label: int | None = None
    expected: float | None = None
    label_mass: float | None = None
    cached: bool | None = None
    variant: str | None = None
    evidence: tuple[tuple[int, int, str], ...] | None = None
    judge_prompt: list[dict[str, str]] | None = None

    def wire(self, id: str) -> dict[str, Any]:
        """The verdict as JSON: `score` always, everything else only when there is something to say."""
        row: dict[str, Any] = {"id": id, "score": self.score, "status": self.status}
        if self.kind is not None:
            row["error"] = {"kind": self.kind, "message": self.message, "path": self.path}
        for name in _OPTIONAL:
            value = getattr(self, name)
            if value is not None:
                row[name] = value
        if self.evidence is not None:
            row["evidence"] = [{"start": s, "end": e, "kind": k} for s, e, k in self.evidence]
        return row


_OPTIONAL = (
    "reason",
    "observed",
    "required",
    "parsed",
    "label",
    "expected",
    "label_mass",
    "cached",
    "variant",
    "judge_prompt",
)


Grid = list[list[Verdict | None]]
"""Verdicts per distinct answer and rubric; None where there is none yet."""


def scored(score: float, holds: bool, **details: Any) -> Verdict:
    """A decided verdict."""
    return Verdict("scored", score=score, holds=holds, **details)


def skipped(reason: SkipReason) -> Verdict:
    """A verdict that was not needed."""
    return Verdict("skipped", reason=reason)


def failed(kind: FailureKind, message: str, path: str) -> Verdict:
    """A verdict that could not be decided."""
    return Verdict("failed", kind=kind, message=message, path=path)
