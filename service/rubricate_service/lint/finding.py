"""What linting says: findings, and the table of rules that they come from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

Severity = Literal["error", "warning"]


class Finding(BaseModel):
    """One thing that is wrong with a group, where it is, and what to do about it."""

    rule: str
    severity: Severity
    path: str
    message: str
    hint: str


def spoken(message: str) -> str:
    """A fault that pydantic tells, without the names of Python's classes."""
    return re.sub(r"(?:a valid dictionary|an object)(?: or instance of \w+)?", "an object", message)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: what its findings have in common.

    Attributes:
        id: `E01` and so on.
        severity: Of its findings. E09, E11 and E12 are about a rubric that gives no verdict, or amounts
            that give no reward. Any other `error` is a proof that no response can pass, unless it names
            a way out; then it is a warning.
        summary: What it reports, in plain words.
        hint: How to mend it.
    """

    id: str
    severity: Severity
    summary: str
    hint: str

    def at(
        self,
        path: str,
        message: str,
        *,
        hint: str | None = None,
        way_out: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule.

        Args:
            path: Of the rubric, or of the group where several are to blame alike.
            message: One sentence about this case, without its full stop.
            hint: What to do here, where the rule's own hint is too general.
            way_out: What passes all the same; it makes the finding a warning.
            severity: Of this finding, where it is not the rule's.
        """
        if way_out is not None:
            message, severity = f"{message}; only {way_out} passes", "warning"
        return Finding(
            rule=self.id,
            severity=severity or self.severity,
            path=path,
            message=message,
            hint=hint or self.hint,
        )


_TABLE = (
    Rule("E01", "error", "a count must be at least more than it may be at most",
         "Widen one of the bounds, or drop one."),
    Rule("E02", "error", "what must occur must not occur",
         "Take the word off one of the two lists."),
    Rule("E03", "error", "the letters' case rules out what another rubric requires",
         "Drop the rule on case, or require what can be written in that case."),
    Rule("E04", "error", "a required phrase has a character that is forbidden",
         "Reword the phrase, or drop the rule against the character."),
    Rule("E05", "error", "English in capitals or lower case, and another language",
         "Drop the other language, or use a rule on case that does not ask for English."),
    Rule("E06", "error", "the required beginnings or endings exclude one another",
         "Keep one of them, or make one a part of the other."),
    Rule("E07", "error", "nothing but a document (JSON, XML), and text that cannot be within it",
         "Say that the text belongs in the document, or drop one of the two."),
    Rule("E08", "error", "a fixed answer, and a rubric that this answer fails",
         "Drop the rubric, or let the answer be longer."),
    Rule("E09", "error", "a rubric that cannot be read, or that no response can pass as it is written",
         "`rubricate checks ID` shows the kwargs of a check and an example."),
    Rule("E10", "error", "two rubrics of one kind that no response meets together",
         "Keep one of the two."),
    Rule("E11", "error", "a pattern that cannot be used as it is",
         "Escape what is meant literally (`c\\+\\+`), and do without lookaround and back-references."),
    Rule("E12", "error", "weights or points that make no score",
         "Weights are finite and above 0, points finite and not 0, some of them positive."),
    Rule("E13", "error", "required phrases are longer than the response may be",
         "Raise the limit, or shorten the phrases."),
    Rule("E14", "error", "letters are limited to fewer than required words have, or required and forbidden",
         "Choose another letter, or another number of it."),
    Rule("W01", "warning", "an empty or one-letter response passes everything",
         "Add a rubric on content: a keyword, a least number of words, a criterion."),
    Rule("W02", "warning", "all samples get the same verdict",
         "A rubric that all pass or all fail teaches nothing: tighten or relax it."),
    Rule("W03", "warning", "two rubrics that say the same",
         "Drop one: together they count twice."),
    Rule("W04", "warning", "a criterion that asks for two things",
         "Make it two criteria: a response that has one of the two gets a score that says neither."),
    Rule("W05", "warning", "a criterion that a check decides for certain, at once and for nothing",
         "Use the check; keep the judge for what needs judgement."),
    Rule("W06", "warning", "the prompt gives a number that no rubric has",
         "Correct the rubric's kwargs or the prompt, or add the rubric that is missing."),
    Rule("W07", "warning", "asked again, it says something else",
         "Say in the criterion what decides, or use a check."),
    Rule("W08", "warning", "the language of a text that is too short for detection",
         "Ask for more text: below 20 characters the guess is mostly chance."),
    Rule("W-limit", "warning", "a group with more to compare than is looked at",
         "Split the group, or shorten its lists; what was found until then is told."),
    Rule("W-unsat", "warning", "no response was found that passes these rubrics together",
         "See whether one response can meet them all; the search is not complete."),
)  # fmt: skip

RULES = {rule.id: rule for rule in _TABLE}
"""Every rule by its id."""
