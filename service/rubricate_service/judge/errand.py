"""A question on its way to a replica."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rubricate_clients.wire import FailureKind
from rubricate_service.judge.fair import Line
from rubricate_service.judge.key import digest
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.usage import Usage


@dataclass(slots=True, eq=False)
class Errand:
    """One question, through all its attempts.

    Attributes:
        prefix: Digest of what its prompt shares with other questions: they go to the same replica.
        usage: Counters of the request that asks; it is one request's own, and stands for it in the queue.
        tenant: Whose request it is, or None.
        last: Name of the replica that it was sent to last; another attempt goes elsewhere if it can.
        ids: Ids of the criteria that one call asks about; none where it asks about one.
        trouble: What it last stumbled over, for those whose time runs out meanwhile.
    """

    prefix: bytes
    usage: Usage
    tenant: str | None = None
    last: str | None = None
    ids: tuple[str, ...] = ()
    trouble: JudgeFailure | None = None

    @classmethod
    def of(cls, question: Question, usage: Usage, tenant: str | None = None) -> Errand:
        """The errand of a question; all criteria of one response share its prefix."""
        return cls(_prefix(question.prompt, question.response, question.reference), usage, tenant)

    @property
    def line(self) -> Line:
        """Where it waits."""
        return Line(self.tenant, id(self.usage), self.prefix)


@lru_cache(256)  # the criteria of one response come one after another
def _prefix(prompt: tuple[tuple[str, str], ...], response: str, reference: str | None) -> bytes:
    return digest((reference, response, *(text for turn in prompt for text in turn)))


def late(errand: Errand | None) -> JudgeFailure:
    """What a caller hears whose time ran out, given what the work last stumbled over."""
    if errand is None or errand.trouble is None:
        return JudgeFailure("timeout", "no verdict before the deadline")
    kind: FailureKind = "overloaded" if errand.trouble.kind == "overloaded" else "timeout"
    return JudgeFailure(kind, f"no verdict before the deadline: {errand.trouble.message}")
