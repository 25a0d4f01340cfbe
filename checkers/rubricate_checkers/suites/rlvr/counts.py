"""Numbers of words and sentences, `at least`, `at most` or `around` a target."""

# The methods are those of Function and are documented there.
from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from ...check import Example, Span
from ...text import Text
from ...wording import amount
from .function import Function
from .kwargs import Number, Str, around, holds_to

# not in `e.g. ` and `Dr. `; the lookbehinds come last, so that `re` can skip to the next mark
_SENTENCE_END = re.compile(r"[.?!]\s(?<!\w\.\w[.?!]\s)(?<![A-Z][a-z]\.\s)")
_CAPITALS = re.compile(r"\b[A-Z]+\b")


class _Quantified(Function):
    """A count holds to a quantifier."""

    N: Number
    quantifier: Str
    _noun: ClassVar[str]

    @abstractmethod
    def _count(self, answer: Text) -> int:
        """What is counted."""

    @property
    def _slack(self) -> float:
        return around(self.N)

    def accepts(self, answer: Text) -> bool:
        return holds_to(self._count(answer), self.quantifier, self.N, self._slack)

    def found(self, answer: Text) -> str:
        return amount(self._count(answer), self._noun)

    @property
    def required(self) -> str:
        return f"{self.quantifier} {amount(self.N, self._noun)}"


def _chunks(text: str) -> int:
    return len(text.split())


class ValidateWordConstraint(_Quantified, id="rlvr:validate_word_constraint", suite="rlvr"):
    """The response has `at least`, `at most` or `around` so many words.

    Words are what whitespace separates. `around` is a tenth more or less, or 1. Any other quantifier
    never holds.
    """

    _noun = "word"
    example = Example(
        kwargs={"N": 4, "quantifier": "at most"},
        passes="Well-kept ropes last.",
        fails="Ropes that are kept well last.",
    )

    def _count(self, answer: Text) -> int:
        return answer.view(_chunks)


def _sentences(text: str) -> int:
    return 1 + len(_SENTENCE_END.findall(text))


class VerifySentenceConstraint(_Quantified, id="rlvr:verify_sentence_constraint", suite="rlvr"):
    """The response has `at least`, `at most` or `around` so many sentences.

    A sentence ends at `.`, `?` or `!` before whitespace, but not after a capital and a small letter
    (`Dr. `) or letters with dots between them (`e.g. `). `around` is one more or less. Any other
    quantifier never holds.
    """

    _noun = "sentence"
    example = Example(
        kwargs={"N": 2, "quantifier": "at least"},
        passes="Ask Dr. Moreau. She knows the channel.",
        fails="Ask Dr. Moreau, who knows the channel.",
    )

    @property
    def _slack(self) -> float:
        return 1

    def _count(self, answer: Text) -> int:
        return answer.view(_sentences)


def _capital_words(text: str) -> int:
    return len(_CAPITALS.findall(text))


class ValidateFrequencyCapitalWords(_Quantified, id="rlvr:validate_frequency_capital_words", suite="rlvr"):
    """The response has `at least`, `at most` or `around` so many words in capitals.

    A word is a run of A to Z with no other letter, digit or underscore on either side: `I` counts, `A4`
    does not. `around` is a tenth more or less, or 1. Any other quantifier never holds.
    """

    _noun = "word"
    example = Example(
        kwargs={"N": 2, "quantifier": "at least"}, passes="SLOW DOWN here.", fails="Slow DOWN here."
    )

    def _count(self, answer: Text) -> int:
        return answer.view(_capital_words)

    def found(self, answer: Text) -> str:
        return amount(self._count(answer), "word") + " in capitals"

    @property
    def required(self) -> str:
        return f"{self.quantifier} {amount(self.N, 'word')} in capitals"

    def spans(self, answer: Text) -> Iterable[Span]:
        return (Span(*match.span(), "counted") for match in _CAPITALS.finditer(answer.raw))
