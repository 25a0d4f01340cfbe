"""W04 and W05: criteria for the judge, and sentences that a check could not read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rubricate_checkers import Text, evaluate
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup

_VERB = (
    r"(?:is|are|has|have|does|do|must|should|contains?|includes?|mentions?|explains?|describes?|uses?|avoids?|"
    r"gives?|provides?|states?|lists?|names?|ends?|starts?|begins?|follows?|addresses?|answers?|stays?|keeps?|"
    r"cites?|covers?|offers?|presents?|shows?|makes?)"
)
_TWO_CLAUSES = re.compile(
    rf"\b{_VERB}\b.*?(?:,? (?:and|or|but)(?: also)?|;) (?:(?:it|the (?:response|answer|text)) )?{_VERB}\b",
    re.IGNORECASE | re.DOTALL,
)
_RELATIVE = re.compile(r"\b(?:that|which|who|whether|if|when|what|how|why)\b", re.IGNORECASE)
_AND_OR = re.compile(r"\band/or\b", re.IGNORECASE)


_LONG = 4_000
"""Code points of a criterion that are searched for two clauses, as every verb may begin the first of them."""


def two_in_one(group: BuiltGroup) -> Iterator[Finding]:
    """W04: `and/or`, or two clauses with a verb each.

    A clause that depends on another (`that is … and has …`) is no second requirement.
    """
    for rubric, criterion in group.criteria:
        if _AND_OR.search(criterion):
            yield RULES["W04"].at(f"{rubric.path}.criterion", 'it says "and/or": which of the two is enough?')
        elif (match := _TWO_CLAUSES.search(criterion[:_LONG])) and not _RELATIVE.search(
            criterion[: match.end()]
        ):
            message = f'it asks for two things, parted at "{_tail(match[0])}"'
            yield RULES["W04"].at(f"{rubric.path}.criterion", message)


def _tail(clauses: str) -> str:
    return " ".join(clauses.split()[-3:])


_COUNT = r"(?:at least|at most|no more than|fewer than|less than|more than|exactly|between|under|over|within)"
_AMOUNT = rf"\b{_COUNT}\b[^.]{{0,20}}\b\d+\b[^.]{{0,15}}\b"
_CODE = tuple(
    (re.compile(pattern, re.IGNORECASE), check)
    for pattern, check in (
        (_AMOUNT + r"words?\b(?! (?:per|in each))", "text:word_count"),
        (_AMOUNT + r"sentences?\b(?! (?:per|in each))", "text:sentence_count"),
        (_AMOUNT + r"paragraphs?\b", "text:paragraph_count"),
        (_AMOUNT + r"(?:bullet points?|bullets)\b", "detectable_format:number_bullet_lists"),
        (_AMOUNT + r"characters?\b(?! (?:who|that|in the (?:story|play)))", "text:char_count"),
        (r"\b(?:no|without(?: any)?|free of|does not (?:use|contain)(?: any)?) commas?\b",
         "punctuation:no_comma"),
        (r"\ball (?:in )?(?:capital letters|capitals|caps|upper ?case)\b", "rlvr:validate_uppercase"),
        (r"\ball (?:in )?lower ?case\b|\bno capital letters\b", "rlvr:validate_lowercase"),
        (r"\bvalid JSON\b", "text:valid_json"),
        (r"\bvalid XML\b", "text:valid_xml"),
        (r"\bends? with the (?:exact )?(?:phrase|words?|sentence) [\"'“]", "text:ends_with"),
        (r"\b(?:starts?|begins?) with the (?:exact )?(?:phrase|words?|sentence) [\"'“]", "text:starts_with"),
        (r"\b(?:contains?|includes?|mentions?) the (?:exact )?(?:phrase|words?|keywords?) [\"'“]",
         "text:contains"),
        (r"\b(?:avoids?|does not (?:contain|use|include|mention)) the (?:phrase|words?) [\"'“]",
         "text:not_contains"),
        (r"\bwrapped in double (?:quotes|quotation marks)\b", "startend:quotation"),
        (r"\btitle (?:wrapped )?in double angular brackets\b|<<", "detectable_format:title"),
    )
)  # fmt: skip


def code_would_do(group: BuiltGroup) -> Iterator[Finding]:
    """W05: a criterion that says what a check looks for."""
    for rubric, criterion in group.criteria:
        for pattern, check in _CODE:
            if match := pattern.search(criterion):
                yield RULES["W05"].at(
                    f"{rubric.path}.criterion",
                    f'"{match[0]}" can be checked by `{check}`',
                    hint=f"`rubricate checks {check}` shows its kwargs; keep the judge for judgement.",
                )
                break


def unread_sentences(group: BuiltGroup) -> Iterator[Finding]:
    """E09 or W02: a sentence in which a check finds nothing to look for, so that all fail or all pass."""
    for rubric in group.checks:
        if rubric.check is None or rubric.check.parsed is not False:
            continue
        passes = evaluate(Text("Any response."), rubric.check).holds is not rubric.rubric.is_negative
        rule = RULES["W02" if passes else "E09"]
        verdict = "passes" if passes else "fails"
        yield rule.at(
            rubric.path,
            f"the check reads nothing out of its sentence, so every response {verdict}",
            hint=f"Reword it after the example in `rubricate checks {rubric.check.id}`, or use another.",
        )
