"""What a sentence asks of a piece of text: keywords and how often, words, capitals, a full stop."""

from __future__ import annotations

import re

from ...kwargs import refuse
from .measures import count_words
from .numbers import TO_TEN, compound
from .requirement import All, Bounds, Counted, Requirement, Trait, Unclear
from .terms import AvoidedTerm, Terms

__all__ = ["parse"]

_NAMES = {"once": 1, "twice": 2} | TO_TEN

_OUTER_QUOTES = re.compile(r'^"+(.*[^"])"+$')
_PERIOD = re.compile(r"must\s+end\s+with\s+(?:a\s+)?period", re.IGNORECASE)
_CAPITALS = re.compile(r"must\s+use\s+capitalized\s+letters\s+for\s+each\s+word", re.IGNORECASE)
_MIN_WORDS = re.compile(r"(?:at\s+least|minimum\s+of)\s+(\S+)\s+word", re.IGNORECASE)
_MAX_WORDS = re.compile(
    r"(?:not\s+exceed|at\s+most|no\s+more\s+than|maximum\s+of)\s+(\S+)\s+word", re.IGNORECASE
)
_ONE_WORD = re.compile(r"is\s+a\s+single\s+word", re.IGNORECASE)
_AVOID = re.compile(r"avoid\s+using\s+(?:the\s+)?term|must\s+be\s+avoided", re.IGNORECASE)
_OR = re.compile(r"\bOR\b", re.IGNORECASE)
_OFTEN = re.compile(rf"at least (\d+|{'|'.join(_NAMES)})(?:\s+times?)?\b(?!\s+words\s+long)", re.IGNORECASE)
_MULTIPLE = re.compile("must appear multiple times", re.IGNORECASE)

_FIRST_QUOTED = re.compile(r"""["']([^"']+)["']""")
_DOUBLY_QUOTED = re.compile(r'["”]{2}([^"“]+)["“]{2}')
_QUOTED = re.compile(r"""["'「“]([^"']+)["'」”]""")


def parse(sentence: str) -> Requirement:
    """The rule that a sentence states. One that states none is satisfied by every text."""
    sentence = _OUTER_QUOTES.sub(r"\1", sentence.strip())
    parts: list[Requirement] = []
    if _CAPITALS.search(sentence):
        parts.append(
            Trait(_is_capitalized, "a capital at the start of each word", "a word without a capital")
        )
    if _PERIOD.search(sentence):
        parts.append(Trait(_ends_with_period, "a full stop at the end", "no full stop at the end"))
    bounds = _word_bounds(sentence)
    if bounds != Bounds():
        parts.append(Counted(count_words, bounds, "word"))
    if _AVOID.search(sentence):
        if quoted := _FIRST_QUOTED.search(sentence):
            parts.append(AvoidedTerm(quoted[1]))
        return All.of(parts)
    any_of = _OR.search(sentence) is not None
    quoting = _DOUBLY_QUOTED if _DOUBLY_QUOTED.search(sentence) else _QUOTED
    if terms := tuple(quoting.findall(sentence)):
        parts.append(Terms(terms, _occurrences(sentence), any_of))
    elif any_of:  # of no keywords, none occurs
        parts.append(Unclear(passes=False))
    return All.of(parts)


def _is_capitalized(raw: str) -> bool:
    return all(word[0].isupper() for word in raw.split())


def _ends_with_period(raw: str) -> bool:
    return raw.rstrip().endswith(".")


def _word_bounds(sentence: str) -> Bounds:
    if _ONE_WORD.search(sentence):
        return Bounds(1, 1)
    return Bounds(_number(_MIN_WORDS, sentence), _number(_MAX_WORDS, sentence))


def _number(pattern: re.Pattern[str], sentence: str) -> int | None:
    match = pattern.search(sentence)
    if match is None:
        return None
    number = compound(match[1], _NAMES)
    if number is None:
        refuse(f"has {match[1]!r} for a number of words, on which the reference code breaks; write digits")
    return number


def _occurrences(sentence: str) -> int:
    if _MULTIPLE.search(sentence):
        return 2
    match = _OFTEN.search(sentence)
    if match is None:
        return 1
    return int(match[1]) if match[1].isdecimal() else _NAMES[match[1].lower()]
