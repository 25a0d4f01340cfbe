"""Markdown: headings and their levels, block quotes, bold text, bullet points.

A heading is a line of `#`, a blank and words, also in a code block; there may be more than six `#`.
"""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
from dataclasses import dataclass

from ...kwargs import refuse
from ...text import Text
from ...wording import amount
from . import heading_rules
from .heading_rules import Heading, Rule
from .numbers import TO_TEN, alternatives, single
from .requirement import All, Bounds, Counted, Requirement, Trait

__all__ = ["parse"]

_QUOTE_COUNT = re.compile(rf"\b({alternatives(TO_TEN)})\b block quotes", re.IGNORECASE)
_SOME_QUOTE = (
    "use block quotes",
    "using block quotes",
    "include a block quote",
    "using markdown block quotes",
    "employ block quotes",
    "present the headline as a block quote",
)
_BULLET = re.compile(r"\s*[-*+]\s")


def parse(sentence: str) -> Requirement:
    """What a sentence asks of Markdown. One that asks for nothing is satisfied by every response."""
    lower = sentence.lower()
    parts: list[Requirement] = []
    if "block quotes" in lower:
        parts.append(_quotes(lower))
    if "bold" in lower:
        parts.append(Trait(_has_bold, "bold text", "no bold text"))
    if "bullet points" in lower:
        parts.append(Trait(_has_bullet, "a bullet point", "no bullet point"))
    rules = heading_rules.parse(sentence)
    one_by_one = "each" in lower or "any" in lower
    if rules or one_by_one:
        parts.append(_Headings(tuple(rules), one_by_one))
    return All.of(parts)


def _quotes(lower: str) -> Requirement:
    if "at least" in lower:
        match = _QUOTE_COUNT.search(lower)
        if match is None:
            refuse('has no number before "block quotes", on which the reference code breaks')
        return Counted(_count_quoted, Bounds(low=single(match[1], TO_TEN)), "quoted line")
    if any(phrase in lower for phrase in _SOME_QUOTE):
        return Counted(_count_quoted, Bounds(low=1), "quoted line")
    return Trait(_all_quoted, "every line quoted", "a line that is not quoted")


def _count_quoted(raw: str) -> int:
    return sum(line.lstrip().startswith(">") for line in raw.split("\n"))


def _all_quoted(raw: str) -> bool:
    return all(line.lstrip().startswith(">") for line in raw.split("\n"))


def _has_bold(raw: str) -> bool:
    """Whether a line has two pairs of stars, or of underscores, that share none."""
    return any(
        (start := line.find(pair)) >= 0 and line.find(pair, start + 2) >= 0
        for line in raw.split("\n")
        for pair in ("**", "__")
    )


def _has_bullet(raw: str) -> bool:
    return any(_BULLET.match(line) for line in raw.split("\n"))


def headings(raw: str) -> tuple[Heading, ...]:
    """The headings of a text, in order."""
    found = []
    for line in map(str.strip, raw.split("\n")):
        if line.startswith("#"):
            words = line.lstrip("#")
            if words[:1].isspace():
                found.append(Heading(len(line) - len(words), words.strip()))
    return tuple(found)


@dataclass(frozen=True)
class _Headings(Requirement):
    """Headings satisfy rules: all of them together, or each one alone.

    Attributes:
        rules: What they must satisfy.
        one_by_one: Whether each heading alone must satisfy all rules, and there is at least one.
    """

    rules: tuple[Rule, ...]
    one_by_one: bool

    @property
    def parsed(self) -> bool:
        return bool(self.rules)

    def holds(self, text: Text) -> bool:
        found = text.view(headings)
        if self.one_by_one:
            return bool(found) and all(rule.test((heading,)) for heading in found for rule in self.rules)
        return all(rule.test(found) for rule in self.rules)

    def observed(self, text: Text) -> str:
        found = text.view(headings)
        if not found:
            return "no heading"
        levels = ", ".join(str(level) for level in sorted({heading.level for heading in found}))
        return f"{amount(len(found), 'heading')} of level {levels}"

    @property
    def required(self) -> str:
        rules = ", ".join(dict.fromkeys(rule.words for rule in self.rules))
        if not rules:
            return "unclear: the sentence says nothing checkable of headings, so any heading passes"
        return f"each heading alone: {rules}" if self.one_by_one else rules
