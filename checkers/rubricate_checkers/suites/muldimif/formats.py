"""XML attributes, lists, citations, lengths: what the reference code files under other formats."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...kwargs import refuse
from .measures import SHORT_BLURB, count_citations
from .numbers import TO_TEN, alternatives, single
from .requirement import Bounds, Counted, Requirement, Trait, Unclear
from .xml_attributes import Attributes

__all__ = ["parse"]

# blanks before a mark are those of its line: what stands before them does not matter
_BULLET = re.compile(r"^[^\S\n]*+[-*]", re.MULTILINE)
_NUMBERED_ITEM = re.compile(r"^[^\S\n]*+\d++\.\s", re.MULTILINE)
_NUMBERED = re.compile(r"^[^\S\n]*+\d++\.", re.MULTILINE)
_APA = re.compile(r"\(\s*\w+,\s*\d{4}\s*\)")


def _found(pattern: re.Pattern[str], name: str, wanted: bool = True) -> Trait:
    there, gone = f"a {name}", f"no {name}"
    if wanted:
        return Trait(lambda raw: pattern.search(raw) is not None, there, gone)
    return Trait(lambda raw: pattern.search(raw) is None, gone, there)


def _has_block_quote(raw: str) -> bool:
    return raw.startswith(">") or "\n>" in raw or "<blockquote>" in raw.lower()


def _count_rows(raw: str) -> int:
    """Rows of Markdown tables, heads included and rules not, or of HTML tables, whichever are more."""
    lines = (line for line in raw.split("\n") if len(line) > 1 and line[0] == line[-1] == "|")
    rows = sum(1 for line in lines if not _is_rule(line))
    return max(rows, raw.lower().count("<tr>"))


def _is_rule(line: str) -> bool:
    cells = [cell.strip() for cell in line[1:-1].split("|")]
    return all(cell and not cell.strip("-") for cell in cells)


def _phrase(match: re.Match[str]) -> Requirement:
    phrase = match[1]
    if phrase.lower() in TO_TEN:
        refuse(f"asks for {phrase!r}, a number word as a phrase, on which the reference code breaks")
    pattern = re.compile(rf"\b{re.escape(phrase)}\b", re.IGNORECASE)
    return Trait(lambda raw: pattern.search(raw) is not None, f'"{phrase}"', f'no "{phrase}"')


def _number(match: re.Match[str]) -> int:
    return single(match[1], TO_TEN)


def _at_most(match: re.Match[str]) -> Requirement:
    return Attributes(Bounds(high=_number(match)))


def _exactly(match: re.Match[str]) -> Requirement:
    return Attributes(Bounds(_number(match), _number(match)))


def _rows(match: re.Match[str]) -> Requirement:
    return Counted(_count_rows, Bounds(high=_number(match)), "row")


_NO_BULLET = _found(_BULLET, "bullet", wanted=False)
_SOME_BULLET = _found(_BULLET, "bullet")
_BLOCK_QUOTE = Trait(_has_block_quote, "a block quote", "no block quote")

_RULES: list[tuple[re.Pattern[str], Requirement | Callable[[re.Match[str]], Requirement]]] = [
    (re.compile(phrase.replace("N", f"({alternatives(TO_TEN)})"), re.IGNORECASE), rule)
    for phrase, rule in (
        ("no more than N attribute", _at_most),
        ("must not exceed N.*attribute", _at_most),
        ("limit the number of attributes to two", Attributes(Bounds(2, 2))),
        ("number of attributes must be exactly N", _exactly),
        ("must (?:have|include) exactly N attribute", _exactly),
        ("at least N attribute", lambda match: Attributes(Bounds(low=_number(match)))),
        ("must include '(.*?)'", _phrase),
        ("must be (?:provided )?in apa format", _found(_APA, "citation like (Name, 2020)")),
        ("no bullet points", _NO_BULLET),
        ("must be listed as bullet points|is structured as bullet points", _SOME_BULLET),
        ("block quotes format|be formatted in block quotes", _BLOCK_QUOTE),
        ("(?:no more than|a table, which is limited to a maximum of) N rows", _rows),
        ("full sentences", Unclear(passes=True)),
        ("short blurb", SHORT_BLURB),
        (
            "the answer must include at least N reference",
            lambda match: Counted(count_citations, Bounds(low=_number(match)), "reference"),
        ),
        ("no lists", _found(_NUMBERED_ITEM, "numbered item", wanted=False)),
        ("no number points", _found(_NUMBERED, "numbered line", wanted=False)),
        ("response must be written at medium length", Counted(len, Bounds(low=201, high=400), "character")),
    )
]
"""(pattern, requirement, or what makes one of the match) in the order in which they are tried."""


def parse(sentence: str) -> Requirement:
    """What a sentence asks for. One that is not known is satisfied by no response."""
    for pattern, rule in _RULES:
        if match := pattern.search(sentence):
            return rule if isinstance(rule, Requirement) else rule(match)
    return Unclear(passes=False)
