"""One request under way: its options, its deadline, and what it has cost so far."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rubricate_clients.wire import Options
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import Answer
from rubricate_service.judge.usage import Usage
from rubricate_service.verdict import Verdict


@dataclass
class Run:
    """One request under way: its options, its deadline (on the event loop's clock), its counters.

    ``tenant`` is who asks; "" when nobody has to say so.
    """

    options: Options
    deadline: float
    deadline_s: float
    tenant: str = field(default="", kw_only=True)
    started: float = field(default_factory=time.monotonic)
    queued_s: float = 0.0
    usage: Usage = field(default_factory=Usage)
    questions: dict[Question, asyncio.Task[Answer]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    check_failures: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    halves: int = 0
    masses: list[float] = field(default_factory=list)
    responses: int = 0
    check_versions: dict[str, str] = field(default_factory=dict)
    checks_done: float = 0.0
    judge_began: float | None = None
    judge_done: float = 0.0

    def count(self, is_judged: bool, verdict: Verdict) -> None:
        """Count one verdict of the answer."""
        self.counts[f"{'judge' if is_judged else 'checks'}.{verdict.status}"] += 1
        if not is_judged:
            if verdict.kind is not None:
                self.check_failures[verdict.kind] += 1
            return
        if verdict.kind is not None:
            self.failures[verdict.kind] += 1
        self.halves += verdict.label == 1
        if verdict.label_mass is not None:
            self.masses.append(verdict.label_mass)

    def stats(self) -> dict[str, Any]:
        """The `stats` of an answer: verdicts by fate, judge calls and tokens, seconds by stage."""
        counts, usage, now = self.counts, self.usage, time.monotonic()
        # still under way when the client has left
        judge_s = (self.judge_done or now) - self.judge_began if self.judge_began is not None else 0.0
        return {
            "responses": self.responses,
            "checks": {name: counts[f"checks.{name}"] for name in ("scored", "failed")},
            "judge": {
                "scored": counts["judge.scored"],
                "failed": counts["judge.failed"],
                "calls": usage.calls,
                "cached": usage.cached,
                "joined": usage.joined,
                "skipped": counts["judge.skipped"],
                "prompt_tokens": usage.prompt_tokens,
                "cached_prompt_tokens": usage.cached_prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                # how the judge is doing: what failed it, how often it halves, how much of it is labels
                "failed_by_kind": dict(self.failures),
                "half_share": self.halves / counts["judge.scored"] if counts["judge.scored"] else None,
                "label_mass": sum(self.masses) / len(self.masses) if self.masses else None,
                **({} if usage.cost is None else {"cost": round(usage.cost, 9)}),
            },
            "seconds": {
                "queue": round(self.queued_s, 6),
                "check": round(max(0.0, self.checks_done - self.started - self.queued_s), 6),
                "judge": round(judge_s, 6),
                "total": round(now - self.started, 6),
            },
        }
