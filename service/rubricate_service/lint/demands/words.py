"""Words, phrases and letters that must, may and must not occur."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable

from rubricate_checkers.suites.ifbench.count import KeywordsMultiple, PunctuationCover
from rubricate_checkers.suites.ifbench.format_text import NoWhitespace, OutputTemplate, Thesis
from rubricate_checkers.suites.ifeval.keywords import (
    ForbiddenWords,
    KeywordExistence,
    KeywordFrequency,
    LetterFrequency,
)
from rubricate_checkers.suites.ifeval.punctuation import NoComma
from rubricate_checkers.suites.iftrain.counting import LetterCounting
from rubricate_checkers.suites.iftrain.keywords import CountIncrementWord, WordOnce
from rubricate_checkers.suites.iftrain.punctuation import NoDot, NoExclamationMark
from rubricate_checkers.suites.rlvr.keywords import (
    ValidateChoice,
    ValidateForbiddenWords,
    VerifyKeywordFrequency,
    VerifyKeywords,
    VerifyLetterFrequency,
)
from rubricate_checkers.suites.rlvr.whole import ValidateNoCommas
from rubricate_checkers.suites.text.keywords import Contains as TextContains
from rubricate_checkers.suites.text.keywords import NotContains
from rubricate_service.lint.demand import Bounds, Contains, Demand, Excludes, Measure, OneOf
from rubricate_service.lint.demands.dispatch import exactly, literal, read, related

_WORDLIKE = re.compile(r"\w(?:.*\w)?", re.DOTALL)


def keyword_measure(text: str) -> Measure:
    """Occurrences of plain text in any case, inside words too."""
    lower = text.lower()
    return Measure(
        "keyword",
        f'times "{text}"',
        lower,
        count=lambda response: response.lower().count(lower),
        least=lambda phrase, times: times * phrase.lower().count(lower),
    )


def _occurs(pattern: str, bounds: tuple[float, float]) -> list[Demand]:
    """So many matches of a pattern that ignores case."""
    low, high = bounds
    text = literal(pattern)
    if text is None:
        return [Bounds(Measure("pattern", f"matches of {pattern}", pattern), low, high)]
    demands: list[Demand] = [Bounds(keyword_measure(text), low, high)]
    if low > 0:
        demands.append(Contains(text, times=math.ceil(low)))
    return demands


_ANY = (1, math.inf)


@read.register
def _(check: KeywordExistence) -> Iterable[Demand]:
    return [demand for keyword in check.keywords for demand in _occurs(keyword, _ANY)]


@read.register
def _(check: KeywordFrequency) -> Iterable[Demand]:
    bounds = related(keyword_measure(""), check.relation, check.frequency)
    return _occurs(check.keyword, (bounds.low, bounds.high))


@read.register
def _(check: WordOnce) -> Iterable[Demand]:
    return _occurs(check.keyword, (1, 1))


@read.register
def _(check: CountIncrementWord) -> Iterable[Demand]:
    return [*_occurs(check.keyword1, (1, 1)), *_occurs(check.keyword2, (2, 2))]


@read.register
def _(check: KeywordsMultiple) -> Iterable[Demand]:
    keywords = (check.keyword1, check.keyword2, check.keyword3, check.keyword4, check.keyword5)
    return [
        demand
        for keyword, times in zip(keywords, (1, 2, 3, 5, 7), strict=True)
        for demand in (exactly(keyword_measure(keyword), times), Contains(keyword, times=times))
    ]


@read.register
def _(check: ForbiddenWords) -> Iterable[Demand]:
    words = [literal(word) for word in check.forbidden_words]
    # with a mark at its end, as in `c#`, the word boundary behind it asks for a letter to follow
    return [Excludes(word, word=True) for word in words if word and _WORDLIKE.fullmatch(word)]


@read.register
def _(check: VerifyKeywords) -> Iterable[Demand]:
    return [Contains(keyword) for keyword in check.keyword_list if keyword]


@read.register
def _(check: ValidateForbiddenWords) -> Iterable[Demand]:
    return [Excludes(word) for word in check.forbidden_words if word]


def is_counted_word(word: str) -> bool:
    """Whether RLVR finds a word, which is a run of letters, digits and underscores to it."""
    return re.fullmatch(r"\w+", word) is not None


@read.register
def _(check: VerifyKeywordFrequency) -> Iterable[Demand]:
    word = check.word.lower()
    counted = exactly(Measure("token", f'times the word "{word}"', word), check.N)
    if not is_counted_word(word):
        return [counted]
    if check.N > 0:
        return [counted, Contains(word, times=math.ceil(check.N), word=True)]
    return [counted, Excludes(word, word=True)]


@read.register
def _(check: TextContains) -> Iterable[Demand] | None:
    if check.at_least not in ("all", len(check.values)):
        return None
    return [Contains(v, cased=check.case_sensitive, word=check.whole_word) for v in check.values]


@read.register
def _(check: NotContains) -> Iterable[Demand] | None:
    if check.at_least not in ("all", len(check.values)):
        return None
    return [Excludes(v, cased=check.case_sensitive, word=check.whole_word) for v in check.values]


@read.register
def _(check: ValidateChoice) -> Iterable[Demand]:
    return [OneOf(tuple(check.options), answers=True)] if check.options else []


@read.register(NoComma)
@read.register(ValidateNoCommas)
def _(check: NoComma | ValidateNoCommas) -> Iterable[Demand]:
    return [Excludes(",")]


@read.register
def _(check: NoDot) -> Iterable[Demand]:
    return [Excludes(".")]


@read.register
def _(check: NoExclamationMark) -> Iterable[Demand]:
    return [Excludes("!")]


@read.register
def _(check: NoWhitespace) -> Iterable[Demand]:
    return [Excludes(" "), Excludes("\n")]


@read.register
def _(check: PunctuationCover) -> Iterable[Demand]:
    return [Contains(mark) for mark in ".,!?;:"] + [OneOf(("!?", "?!", "‽"))]


@read.register
def _(check: OutputTemplate) -> Iterable[Demand]:
    return [Contains(label, cased=True) for label in ("My Answer:", "My Conclusion:", "Future Outlook:")]


@read.register
def _(check: Thesis) -> Iterable[Demand]:
    return [OneOf(("<i>", "<em>")), OneOf(("</i>", "</em>"))]


@read.register
def _(check: LetterFrequency) -> Iterable[Demand]:
    letter = check.letter
    measure = Measure(
        "letter",
        f'letters "{letter}"',
        letter,
        count=lambda response: response.lower().count(letter),
        least=lambda phrase, times: times * phrase.lower().count(letter),
    )
    return [related(measure, check.let_relation, check.let_frequency)]


@read.register
def _(check: VerifyLetterFrequency) -> Iterable[Demand]:
    letter = check.letter
    # of a phrase that may be in any case only marks and digits are certain
    certain = letter.lower() == letter.upper()
    measure = Measure(
        "cased_letter",
        f'characters "{letter}"',
        letter,
        count=lambda response: response.count(letter),
        least=lambda phrase, times: times * phrase.count(letter) if certain else 0,
    )
    return [exactly(measure, check.N)]


def _letters(text: str) -> int:
    return sum(char in string.ascii_letters for char in text)


@read.register
def _(check: LetterCounting) -> Iterable[Demand] | None:
    if check.relation not in ("less than", "at least"):
        return None
    measure = Measure(
        "letters",
        "letters",
        count=_letters,
        least=lambda phrase, times: times * _letters(phrase),
    )
    return [related(measure, check.relation, check.N)]
