"""A question on its way to a replica."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from rubricate_clients.wire import FailureKind
from rubricate_service.judge.fair import Line
from rubricate_service.judge.key import digest
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import Manner
from rubricate_service.judge.usage import Usage


@dataclass(slots=True, eq=False)
class Errand:
    """One question, through all its attempts.

    Attributes:
        manner: How it is put; all criteria of one response share its prefix and go to the same replica.
        usage: Counters of the request that asks; it is one request's own, and stands for it in the queue.
        tenant: Whose request it is; "" where nobody has to say so.
        tried: Names of the replicas that it was sent to, the last one last; another attempt goes elsewhere if
            it can.
        was_moved: Whether it was taken from a replica that had fallen silent, which happens once.
        trouble: What it last stumbled over, for those whose time runs out meanwhile.
    """

    manner: Manner
    usage: Usage
    tenant: str = ""
    tried: list[str] = field(default_factory=list)
    was_moved: bool = False
    trouble: JudgeFailure | None = None

    @classmethod
    def of(cls, question: Question, usage: Usage, tenant: str = "", salt: str = "") -> Errand:
        """The errand of a question; ``salt`` keeps the tenant's prompts apart in a prefix cache."""
        prefix = _prefix(question.prompt, question.response, question.reference)
        return cls(Manner(prefix, salt=salt), usage, tenant)

    @property
    def prefix(self) -> bytes:
        """Digest of what its prompt shares with other questions."""
        return self.manner.prefix

    @property
    def line(self) -> Line:
        """Where it waits."""
        return Line(self.tenant, id(self.usage), self.manner.prefix)

    def learn(self, failure: JudgeFailure) -> None:
        """Take a failure into account before it is put again."""
        self.trouble = failure
        if failure.kind == "truncated":
            self.manner = replace(self.manner, room=2)


@lru_cache(256)  # the criteria of one response come one after another
def _prefix(prompt: tuple[tuple[str, str], ...], response: str, reference: str | None) -> bytes:
    return digest((reference, response, *(text for turn in prompt for text in turn)))


def late(errand: Errand | None) -> JudgeFailure:
    """What a caller hears whose time ran out, given what the work last stumbled over."""
    if errand is None or errand.trouble is None:
        return JudgeFailure("timeout", "no verdict before the deadline")
    kind: FailureKind = "overloaded" if errand.trouble.kind == "overloaded" else "timeout"
    return JudgeFailure(kind, f"no verdict before the deadline: {errand.trouble.message}")
