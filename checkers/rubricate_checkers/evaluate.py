"""One check on one response."""

from __future__ import annotations

from typing import Literal, NamedTuple

from . import language, punkt, segment
from .check import Check, Span
from .loose import TRIED, Rescue
from .text import Text

__all__ = ["Verdict", "evaluate", "warm_up"]

_UPSTREAM_LOOPS = frozenset({"ifeval", "ifbench", "ifbench@2025", "iftrain"})
"""Suites that upstream reads in IFEval's loops: blank responses fail unseen, and there is a loose mode."""


class Verdict(NamedTuple):
    """What a check says of a response.

    Attributes:
        holds: Whether the response satisfies the check.
        observed: What the response has, in plain words.
        required: What is asked for, in plain words.
        reason: Why a response fails without being read to the end, else None.
        variant: The loose variant that holds where the response as it is does not, else None.
        evidence: Where in the response this comes from; empty unless it was asked for.
        parsed: Whether the sentence that states the check was understood; if not, the verdict says nothing
            of the response. None where a check has no sentence.
    """

    holds: bool
    observed: str
    required: str
    reason: str | None = None
    variant: str | None = None
    evidence: tuple[Span, ...] = ()
    parsed: bool | None = None


def evaluate(
    text: Text, check: Check, mode: Literal["strict", "loose"] = "strict", explain: bool = False
) -> Verdict:
    """Ask one check about one response.

    Args:
        text: The response; share it among all its checks.
        check: What `build` returned.
        mode: `loose` also accepts the decorated variants of IFEval's suites; others answer as strict.
        explain: Whether to collect evidence.

    Returns:
        The verdict. A response that is too deep or too large for the check does not hold.

    Raises:
        MissingData: A resource that the check reads is not installed.
    """
    upstream = check.suite in _UPSTREAM_LOOPS
    if upstream and text.blank:
        return Verdict(False, "nothing", check.asked, reason="blank response")
    try:
        subject, variant, holds = text, None, check.holds(text)
        if not holds and upstream and mode == "loose" and (rescued := _rescued(text, check)):
            holds = True
            variant, subject = rescued
        observed = check.observed(subject)
        # where a variant decided, evidence in the whole text would speak against it
        evidence = tuple(check.evidence(text)) if explain and variant is None else ()
    except (RecursionError, MemoryError) as error:
        # a response must not gain by breaking a check
        reason = "nested too deeply" if isinstance(error, RecursionError) else "too large"
        return Verdict(
            False,
            f"a text that is {reason}",
            check.asked,
            reason=f"the response is {reason}",
            parsed=check.parsed,
        )
    return Verdict(holds, observed, check.asked, None, variant, evidence, check.parsed)


def _rescued(text: Text, check: Check) -> tuple[str, Text] | None:
    """The first loose variant that holds, after the response itself did not."""
    rescue = check.rescue
    if rescue is Rescue.NONE or (rescue is Rescue.STARLESS and "*" not in text.raw):
        return None
    if rescue is Rescue.SMALLEST:
        smallest = text.smallest
        if smallest is not None and not check.holds(smallest):
            return None
    revisions = text.revisions
    for name in TRIED[rescue]:
        if name in revisions:
            variant = text.revised(name)
            if check.may_hold(variant, text) and check.holds(variant):
                return name, variant
    return None


def warm_up() -> None:
    """Load what checks load on first use (Punkt, nltk's tokenizer, language profiles).

    Raises:
        MissingData: One of them is not installed.
    """
    text = "This first sentence warms the memos up. So does 'this' one, since it has quotes."
    segment.tokens(text, punkt.sentence_spans(text))
    language.detect(text)
