"""`custom:` tasks that are answered in prose: numbers, questions, reversed sentences, an alphabet story.

Each is one fixed task. Their kwargs are ignored, as upstream ignores them.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from pydantic import ConfigDict

from ...check import Check, Example
from ...loose import Rescue
from ...text import Text
from ...wording import amount
from .common import ReadsSentences, RegexSentences, bare

_ANY_KWARGS = ConfigDict(frozen=True, extra="ignore")

_NUMBER = re.compile(r"\d+")
_MULTIPLES = ("14", "21", "28", "35", "42", "49")


def _multiples_fault(raw: str) -> str | None:
    if _MULTIPLES[0] not in raw:
        return f"no {_MULTIPLES[0]}"
    found = (match[0] for match in _NUMBER.finditer(raw))
    for number, multiple in zip_longest(found, _MULTIPLES):
        if number != multiple:
            return f"{number or 'nothing'} instead of {multiple or 'nothing'}"
    return None


class Multiples(Check, id="custom:multiples", suite="ifbench", aliases=("ifbench@2025:custom:multiples",)):
    """The only numbers in digits are the multiples of 7 from 14 to 49, in order."""

    model_config = _ANY_KWARGS
    example = Example(kwargs={}, passes="14, 21, 28, 35, 42, 49", fails="7, 14, 21, 28, 35, 42, 49")

    def holds(self, text: Text) -> bool:
        return text.view(_multiples_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_multiples_fault) or "those numbers"

    @property
    def required(self) -> str:
        return f"the numbers {' '.join(_MULTIPLES)}"


_LABEL = re.compile(r"Question \d+[.|):;]?\s*")
_OPTION = re.compile(r"[A-Ea-e][.|)]\s*\w")
_QUESTIONS, _OPTIONS = 4, 5


def _question(block: str) -> tuple[int, int]:
    """(length of the question, number of options) of a block of lines."""
    lines = [line.strip() for line in block.split("\n")]
    options = [bool(_OPTION.match(line)) for line in lines]
    end = options.index(True) if any(options) else len(lines)
    return len(" ".join(lines[:end]).strip()), sum(options)


def _quiz_fault(raw: str) -> str | None:
    if not raw.startswith("Question"):
        return "a beginning other than Question"
    blocks = [block.strip() for block in _LABEL.split(raw)]
    questions = [_question(block) for block in blocks if block]
    if len(questions) != _QUESTIONS:
        return amount(len(questions), "question")
    for number, (length, options) in enumerate(questions, 1):
        if options != _OPTIONS:
            return f"{amount(options, 'option')} in question {number}"
        if number > 1 and length <= questions[number - 2][0]:
            return f"question {number} no longer than the one before"
    return None


class QuizQuestions(
    Check, id="custom:mcq_count_length", suite="ifbench", aliases=("ifbench@2025:custom:mcq_count_length",)
):
    """Four questions with five options each, every question longer than the one before.

    The response starts with `Question`; questions are labelled `Question 1` and so on, options `A.`,
    `b)` or `C|` to E.
    """

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes="\n".join(
            f"Question {n}: Who painted{' it' * n}?\nA) Ada\nB) Ben\nC) Cy\nD) Di\nE) Eve"
            for n in range(1, 5)
        ),
        fails="Question 1: Who painted it?\nA) Ada\nB) Ben\nC) Cy\nD) Di\nE) Eve",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_quiz_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_quiz_fault) or "four questions"

    @property
    def required(self) -> str:
        return "four questions of growing length with five options each"


_ANIMAL = "bald eagle"


def _names_animal(raw: str) -> bool:
    # upstream also wants the reversed words to be one sentence, as they are once all marks are out
    return _ANIMAL in " ".join(reversed(bare(raw.lower()).split()))


class WordReverse(
    Check, id="custom:word_reverse", suite="ifbench", aliases=("ifbench@2025:custom:word_reverse",)
):
    """The words in reverse order, without punctuation, say `bald eagle`, in any case."""

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes="Eagle bald the is bird national the.",
        fails="The national bird is the bald eagle.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_names_animal)

    def observed(self, text: Text) -> str:
        return f'{"" if self.holds(text) else "no "}"{_ANIMAL}" in the reversed words'

    @property
    def required(self) -> str:
        return f'"{_ANIMAL}" in the reversed words'

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE


_REVERSED_ANIMAL = "elgae dlab"


class CharacterReverse(
    Check, id="custom:character_reverse", suite="ifbench", aliases=("ifbench@2025:custom:character_reverse",)
):
    """The response has `bald eagle` with its letters in reverse order, in any case."""

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes=".elgae dlab eht si drib lanoitan ehT",
        fails="The national bird is the bald eagle.",
    )

    def holds(self, text: Text) -> bool:
        return _REVERSED_ANIMAL in text.lower

    def observed(self, text: Text) -> str:
        return f'{"" if self.holds(text) else "no "}"{_REVERSED_ANIMAL}"'

    @property
    def required(self) -> str:
        return f'"{_REVERSED_ANIMAL}"'

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS


class SentenceAlphabet(ReadsSentences, id="custom:sentence_alphabet", suite="ifbench"):
    """There are 26 sentences that start with the letters from a to z in order.

    A leading quote is taken for the first letter.
    """

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes=" ".join(f"{chr(ord('A') + i)}nna swam." for i in range(26)),
        fails="Anna swam. Ben ran. Cy slept.",
    )

    def _fault(self, text: Text) -> str | None:
        if (first := text.raw.lstrip()[:1]).lower() != "a":  # spares most responses the sentences
            return f'sentence 1 starting with "{first}"'
        sentences = self.sentences(text)
        if len(sentences) != 26:
            return amount(len(sentences), "sentence")
        for i, sentence in enumerate(sentences):
            if sentence.lstrip().lower()[:1] != chr(ord("a") + i):
                return f'sentence {i + 1} starting with "{sentence.lstrip()[:1]}"'
        return None

    def holds(self, text: Text) -> bool:
        return self._fault(text) is None

    def observed(self, text: Text) -> str:
        return self._fault(text) or "26 sentences from a to z"

    @property
    def required(self) -> str:
        return "26 sentences that start with a to z in order"


class SentenceAlphabet2025(
    RegexSentences, SentenceAlphabet, id="ifbench@2025:custom:sentence_alphabet", suite="ifbench@2025"
):
    """There are 26 sentences that start with the letters from a to z in order.

    As in `custom:sentence_alphabet`, with the sentences of the older generation.
    """
