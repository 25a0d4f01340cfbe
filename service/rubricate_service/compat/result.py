"""What a group's scores say of one member: numbers for a trainer, and what could not be decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from rubricate_clients.wire import FailureKind, Rubric, ScoreRequest
from rubricate_service.compat.task import Task
from rubricate_service.http.admission import Admission
from rubricate_service.pipeline import Scorer
from rubricate_service.routes.score import admitted, score_request

_OF_RUBRICS: frozenset[FailureKind] = frozenset(
    {"unknown_check", "bad_kwargs", "unsupported_rule", "rule_error", "missing_data"}
)
"""Failures that are the rubric's fault (contract section 2)."""


class Undecided(BaseModel):
    """A verdict that is needed and could not be reached.

    Attributes:
        path: Where in the label or row; `""` for all of it.
        message: Why.
        is_final: Whether another try would end the same way, as the rubric or the options are at fault.
        is_own: Whether the fault is this response's own: a rule that raises on it may well decide the others.
    """

    path: str
    message: str
    is_final: bool = False
    is_own: bool = False


class Result(BaseModel):
    """One member's scores (contract section 3) and advantages (section 5).

    Attributes:
        outcome: In [0, 1], None when undecided.
        quality: In [0, 1], None when there is none, or it was not needed, or it is undecided.
        reward: As `options.reward` says, None when undecided.
        group_outcome: Mean outcome of the group's valid members, 0 when none is valid.
        a_out: Advantage by outcome; 0 for an invalid member, and without a group.
        a_proc: Advantage by quality as it counts in the sum: a weight on it is applied.
        members: How many responses were scored together.
        missing: How many of the group had not come.
        undecided: Why this member is not, or not wholly, scored; empty when it is.
        round: Name of the round that it was scored in, where that is kept for its retry.
    """

    outcome: float | None = None
    quality: float | None = None
    valid: bool = False
    eligible: bool = False
    reward: float | None = None
    group_outcome: float = 0.0
    a_out: float = 0.0
    a_proc: float = 0.0
    members: int
    missing: int = 0
    undecided: list[Undecided] = []
    round: str | None = None

    @property
    def is_final(self) -> bool:
        """Whether scoring it again would change nothing: it is decided, or a rubric cannot be."""
        return not self.undecided or any(fault.is_final for fault in self.undecided)

    @property
    def advantage(self) -> float:
        """Sum of both channels."""
        return self.a_out + self.a_proc

    def reward_in(self, task: Task) -> float:
        """What to train on: the advantage; without a group, which has none, the reward (0 when masked)."""
        return self.advantage if task.size > 1 else self.reward or 0.0

    def numbers(self) -> dict[str, float]:
        """The numbers a trainer logs: the same keys for every member, finite, flags as 0 or 1.

        `outcome` and `quality` are 0 where there is none, so that their means divided by those of `valid`
        and `quality_valid` are means over what is decided.
        """
        return {
            "outcome": self.outcome or 0.0,
            "quality": self.quality or 0.0,
            "a_out": self.a_out,
            "a_proc": self.a_proc,
            "advantage": self.advantage,
            "eligible": float(self.eligible),
            "valid": float(self.valid),
            "quality_valid": float(self.quality is not None),
            "incomplete": float(self.missing > 0),
            "members": float(self.members),
        }


def broken(task: Task, count: int, message: str, *, is_final: bool = False) -> list[Result]:
    """The members of a group of so many whose scoring broke: nothing is decided."""
    undecided = [Undecided(path="", message=message, is_final=is_final)]
    result = Result(members=count, missing=_missing(task, count), undecided=undecided)
    return [result] * count


async def rate(scorer: Scorer, admission: Admission, task: Task, texts: Sequence[str]) -> list[Result]:
    """Score the responses as one group, in the tenant's turn; a result for each, in their order.

    Raises:
        Overloaded: Their turn did not come in time.
    """
    request = ScoreRequest(groups=[task.asking(texts)], options=task.options)
    run = scorer.run(request.options, task.tenant)
    async with admitted(admission, request, run):
        answer = await score_request(scorer, request, run)
    responses = answer["groups"][0]["responses"]
    outcomes = [r["outcome"] for r in responses if r["outcome"] is not None]
    results = []
    for response in responses:
        a_out, advantage = response.get("a_out", 0.0), response.get("advantage", 0.0)
        results.append(
            Result(
                **{name: response[name] for name in ("outcome", "quality", "valid", "eligible", "reward")},
                group_outcome=sum(outcomes) / len(outcomes) if outcomes else 0.0,
                a_out=a_out,
                a_proc=advantage - a_out,
                members=len(texts),
                missing=_missing(task, len(texts)),
                undecided=_undecided(task, response),
            )
        )
    return results


def _missing(task: Task, count: int) -> int:
    return max(0, task.size - count)


def _undecided(task: Task, response: dict[str, Any]) -> list[Undecided]:
    """The failures that leave its numbers open: of hard rubrics if its outcome is, of soft if they count."""
    alone = task.size == 1
    unrewarded = alone and response["reward"] is None

    def counts(rubric: Rubric) -> bool:
        return unrewarded or (not response["valid"] if rubric.is_hard else response["eligible"])

    found = [
        Undecided(
            path=verdict["error"]["path"].removeprefix("groups[0]."),
            message=f"rubric {verdict['id']!r}: {verdict['error']['kind']}: {verdict['error']['message']}",
            is_final=verdict["error"]["kind"] in _OF_RUBRICS,
            is_own=verdict["error"]["kind"] == "rule_error",
        )
        for rubric, verdict in zip(task.rubrics, response["rubrics"], strict=True)
        if verdict["status"] == "failed" and counts(rubric)
    ]
    if unrewarded and not found:
        found.append(_unrewarded(task, response))
    return found


def _unrewarded(task: Task, response: dict[str, Any]) -> Undecided:
    """Why there is no reward though no verdict failed."""
    reward = task.options.reward
    if any(verdict["status"] == "skipped" for verdict in response["rubrics"]):
        message = f"the reward `{reward}` needs rubrics that `judging` skips"
        return Undecided(path="options.judging", message=message, is_final=True)
    message = f"the reward `{reward}` needs a rubric with `points` above 0"
    return Undecided(path="options.reward", message=message, is_final=True)
