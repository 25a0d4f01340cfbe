"""Counts of words, sentences, paragraphs, lines and characters."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

from rubricate_checkers import Check, Text
from rubricate_checkers.suites.ifbench.count import WordCountRange as WordRange
from rubricate_checkers.suites.ifeval.length import (
    NthParagraphFirstWord,
    NumberOfParagraphs,
    NumberOfSentences,
    NumberOfWords,
)
from rubricate_checkers.suites.iftrain.format import TwoParagraphs, TwoSpacedParagraphs
from rubricate_checkers.suites.rlvr.counts import ValidateWordConstraint, VerifySentenceConstraint
from rubricate_checkers.suites.rlvr.kwargs import around
from rubricate_checkers.suites.rlvr.parts import ValidateParagraphs, VerifyParagraphCount
from rubricate_checkers.suites.rubrichub import WordCountRange as ChunkRange
from rubricate_checkers.suites.text.bounds import Bounded
from rubricate_checkers.suites.text.counts import (
    CharCount,
    LineCount,
    ParagraphCount,
    SentenceCount,
    WordCount,
)
from rubricate_service.lint.demand import Bounds, Demand, Divided, Measure, ParagraphStart, no_least
from rubricate_service.lint.demands.dispatch import exactly, read, related

_RUN = re.compile(r"\w+")


def _at_least_runs(count: Callable[[str], int]) -> Callable[[str, int], int]:
    """Occurrences side by side may share a word: the last of one and the first of the next."""

    def least(phrase: str, times: int) -> int:
        runs = count(phrase)
        return times * (runs - 1) + 1 if runs and times else 0

    return least


def _runs(text: str) -> int:
    return len(_RUN.findall(text))


def _chunks(text: str) -> int:
    return len(text.split())


def _lettered_chunks(text: str) -> int:
    return sum(any(map(str.isalnum, chunk)) for chunk in text.split())


def _spaced_paragraphs(text: str) -> int:
    return sum(bool(piece.strip()) for piece in text.split("\n\n"))


def _sentences(text: str) -> int:
    return len(Text(text).sentences)


WORDS = Measure("words", "words", r"\w+", count=_runs, least=_at_least_runs(_runs))
_CHUNKS = Measure("words", "words", "between blanks", count=_chunks, least=_at_least_runs(_chunks))
_SENTENCES = Measure("sentences", "sentences", "Punkt", count=_sentences)
_SPACED = Measure("paragraphs", "paragraphs", count=_spaced_paragraphs)


@read.register
def _(check: NumberOfWords) -> Iterable[Demand]:
    return [related(WORDS, check.relation, check.num_words)]


@read.register
def _(check: WordRange) -> Iterable[Demand]:
    return [Bounds(WORDS, check.min_words, check.max_words)]


@read.register
def _(check: ChunkRange) -> Iterable[Demand]:
    return [Bounds(_CHUNKS, check.min_count, check.max_count)]


@read.register
def _(check: NumberOfSentences) -> Iterable[Demand]:
    return [related(_SENTENCES, check.relation, check.num_sentences)]


@read.register
def _(check: NumberOfParagraphs) -> Iterable[Demand]:
    return [Divided("***", check.num_paragraphs)]


@read.register
def _(check: TwoParagraphs) -> Iterable[Demand]:
    return [Divided("***", 2)]


@read.register
def _(check: NthParagraphFirstWord) -> Iterable[Demand]:
    return [
        exactly(_SPACED, check.num_paragraphs),
        ParagraphStart(check.nth_paragraph, check.first_word.lower()),
    ]


@read.register
def _(check: TwoSpacedParagraphs) -> Iterable[Demand]:
    return [exactly(_SPACED, 2)]


@read.register
def _(check: ValidateParagraphs) -> Iterable[Demand]:
    number = int(check.i) if check.i > 0 else int(check.N + check.i)
    # blank paragraphs count too, so that fewer may have words
    return [Bounds(_SPACED, high=check.N), ParagraphStart(number, check.first_word, cased=True)]


@read.register
def _(check: VerifyParagraphCount) -> Iterable[Demand]:
    return [Divided("* * *", check.N)]


def _quantified(measure: Measure, quantifier: str, target: float, slack: float) -> Iterable[Demand] | None:
    if quantifier == "at least":
        return [Bounds(measure, low=target)]
    if quantifier == "at most":
        return [Bounds(measure, high=target)]
    return [Bounds(measure, target - slack, target + slack)] if quantifier == "around" else None


@read.register
def _(check: ValidateWordConstraint) -> Iterable[Demand] | None:
    return _quantified(_CHUNKS, check.quantifier, check.N, around(check.N))


@read.register
def _(check: VerifySentenceConstraint) -> Iterable[Demand] | None:
    return _quantified(Measure("sentences", "sentences", "rlvr"), check.quantifier, check.N, 1)


_TEXT_MEASURES: dict[type[Check], tuple[str, Callable[[str, int], int]]] = {
    WordCount: ("words", _at_least_runs(_lettered_chunks)),
    CharCount: ("characters", lambda phrase, times: times * len(phrase.strip())),
    SentenceCount: ("sentences", no_least),
    ParagraphCount: ("paragraphs", no_least),
    LineCount: ("lines", no_least),
}


@read.register
def _(check: Bounded) -> Iterable[Demand] | None:
    known = _TEXT_MEASURES.get(type(check))
    if known is None:
        return None
    kind, least = known
    measure = Measure(kind, kind, check.id, count=lambda text: check.count(Text(text)), least=least)
    low = 0 if check.min is None else check.min
    return [Bounds(measure, low, math.inf if check.max is None else check.max)]
