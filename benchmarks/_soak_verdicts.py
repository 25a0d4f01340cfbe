"""What a verdict under faults may be: a quiet run's, or `failed` with a kind that fits a fault of that time.

Everything else is a wrong verdict, be it a better one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NUMBERS = ("outcome", "quality", "reward")
ADVANTAGES = ("a_out", "a_proc", "advantage")


@dataclass(frozen=True)
class Fault:
    """What was done to the service: when (monotonic seconds), and which failures may come of it."""

    name: str
    kinds: frozenset[str]
    began: float
    ended: float

    def overlaps(self, began: float, ended: float) -> bool:
        """Whether a request of that time may have met it."""
        return self.began <= ended and began <= self.ended


@dataclass
class Tally:
    """What came of all requests.

    Attributes:
        requests: Answered requests by kind of load.
        verdicts: Verdicts that were compared.
        failed: Verdicts that failed fittingly, by error kind.
        skipped: Verdicts that were not needed, as another one of their group had failed.
        wrong: What must not be, in words; the first hundred.
        wrongs: How many of those there were.
    """

    requests: Counter[str] = field(default_factory=Counter)
    verdicts: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    wrong: list[str] = field(default_factory=list)
    wrongs: int = 0

    def accuse(self, what: str) -> None:
        """Note what must not be."""
        self.wrongs += 1
        if len(self.wrong) < 100:
            self.wrong.append(what)

    def compare(
        self, quiet: Sequence[Mapping[str, Any]], got: Sequence[Mapping[str, Any]], faults: Iterable[Fault]
    ) -> None:
        """Compare the groups of an answer with those of a quiet run's, verdict by verdict."""
        faults = list(faults)
        fitting = frozenset[str]().union(*(fault.kinds for fault in faults))
        around = ", ".join(fault.name for fault in faults) or "no fault"
        for before, after in zip(quiet, got, strict=True):
            is_whole = True
            for old, new in zip(before["responses"], after["responses"], strict=True):
                for was, now in zip(old["rubrics"], new["rubrics"], strict=True):
                    self.verdicts += 1
                    if essence(was) == essence(now):
                        continue
                    is_whole = False
                    if now["status"] == "failed" and now["error"]["kind"] in fitting:
                        self.failed[now["error"]["kind"]] += 1
                    elif not (now["status"] == "skipped" and _has_failed(after, fitting)):
                        self.accuse(f"{essence(now)} instead of {essence(was)} during {around}")
                    else:
                        self.skipped += 1
                self._compare_numbers(old, new, NUMBERS, around)
            if is_whole:
                for old, new in zip(before["responses"], after["responses"], strict=True):
                    self._compare_numbers(old, new, (*NUMBERS, *ADVANTAGES), around, may_be_null=False)

    def _compare_numbers(
        self,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        names: Iterable[str],
        around: str,
        may_be_null: bool = True,
    ) -> None:
        for name in names:
            was, now = old.get(name), new.get(name)
            if now != was and not (now is None and may_be_null):
                self.accuse(f"{name} {now} instead of {was} during {around}")


def essence(verdict: Mapping[str, Any]) -> tuple[Any, ...]:
    """What of a verdict is the same in every run."""
    error = verdict.get("error") or {}
    reason = verdict.get("reason") if verdict["status"] == "skipped" else None
    return verdict["id"], verdict["status"], verdict["score"], verdict.get("label"), reason, error.get("kind")


def _has_failed(group: Mapping[str, Any], fitting: frozenset[str]) -> bool:
    return any(
        verdict["status"] == "failed" and verdict["error"]["kind"] in fitting
        for response in group["responses"]
        for verdict in response["rubrics"]
    )
