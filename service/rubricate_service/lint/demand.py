"""What checks demand of a response, in terms that can be compared with one another.

A check's demands are necessary: a response that the check passes meets them all. So demands that
exclude one another prove that no response passes their checks. Letters that only look like those
meant (`ſ` for `s`, a mathematical `𝐀` for `A`) are disregarded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "Bounds", "Case", "Contains", "Demand", "Divided", "Document", "Ends", "Exact", "Excludes", "InLanguage",
    "LastWord", "Measure", "OneOf", "ParagraphStart", "Starts", "no_least",
]  # fmt: skip


def no_least(phrase: str, times: int) -> int:
    """A phrase makes sure of none."""
    return 0


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that is counted in a response; two are equal when they count alike.

    Attributes:
        kind: What moves change it: `words`, `letter`, `bullets` and so on.
        name: What is counted, for people: `words`, `times "fox"`.
        about: The letter, keyword or section that it counts.
        count: Its number in a response.
        least: The least number in any response with so many occurrences of a phrase that do not overlap.
    """

    kind: str
    name: str = field(compare=False)
    about: str = ""
    count: Callable[[str], float] | None = field(default=None, compare=False)
    least: Callable[[str, int], int] = field(default=no_least, compare=False)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A count lies from `low` to `high`, both included."""

    measure: Measure
    low: float = 0
    high: float = math.inf


@dataclass(frozen=True, slots=True)
class Contains:
    """A phrase occurs, `times` without overlap; in any case unless `cased`, as a whole word if `word`."""

    phrase: str
    times: int = 1
    cased: bool = False
    word: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some phrases occurs, in this very case; with `answers` they are answers to choose from."""

    phrases: tuple[str, ...]
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Excludes:
    """A phrase occurs nowhere, or with `word` not as a whole word; in no case unless `cased`."""

    phrase: str
    cased: bool = False
    word: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """All letters are in `upper` or `lower` case, or words in `title` case; some are there if `lettered`."""

    case: Literal["upper", "lower", "title"]
    lettered: bool = False


@dataclass(frozen=True, slots=True)
class InLanguage:
    """The text is in a language (ISO 639-1); without letters it is in any if `vacuous`."""

    code: str
    vacuous: bool = False


@dataclass(frozen=True, slots=True)
class Starts:
    """The response, blanks aside, starts with a phrase; `word` if that is its whole first word."""

    phrase: str
    cased: bool = False
    word: bool = False


@dataclass(frozen=True, slots=True)
class Ends:
    """The response, blanks and the characters `beside` aside, ends with a phrase."""

    phrase: str
    cased: bool = False
    beside: str = ""


@dataclass(frozen=True, slots=True)
class LastWord:
    """The last word, once marks are taken out of it, is this, in any case."""

    word: str


@dataclass(frozen=True, slots=True)
class Document:
    """The response, blanks aside, is nothing but a document.

    Attributes:
        format: `JSON`, `XML`.
        first: Characters that it may start with, letters apart.
        last: Characters that it may end with, letters apart.
        words: Documents of a single word, which start and end with letters.
        schema: What its JSON must satisfy, as far as the search needs to know.
    """

    format: str
    first: str
    last: str
    words: tuple[str, ...] = ()
    schema: dict[str, object] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Exact:
    """The response, blanks aside, is one of these texts; in any case if `folded`."""

    texts: tuple[str, ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Divided:
    """So many parts that are not blank stand between separators; other blank parts are not among them."""

    separator: str
    parts: float


@dataclass(frozen=True, slots=True)
class ParagraphStart:
    """Paragraph `number` (from 1) between blank lines starts with a word, if `cased` with part of one."""

    number: int
    word: str
    cased: bool = False


Demand = (
    Bounds | Case | Contains | Divided | Document | Ends | Exact | Excludes | InLanguage | LastWord
    | OneOf | ParagraphStart | Starts
)  # fmt: skip


Phrased = Contains | Ends | OneOf | ParagraphStart | Starts
"""Demands that ask for words as they are."""
