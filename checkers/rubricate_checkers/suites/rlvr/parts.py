"""What the response is divided into: paragraphs, sections, two answers."""

# The methods are those of Function and are documented there.
from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import AfterValidator, model_validator

from ...check import Example, Span
from ...kwargs import refuse
from ...spans import phrases
from ...text import Text
from ...wording import amount
from .function import Function
from .kwargs import Number, Str, nonempty

_DIVIDER = "* * *"
_SEPARATOR = "******"


def _divided(text: str) -> int | None:
    """Number of paragraphs between dividers; None if one of them is blank."""
    pieces = text.split(_DIVIDER)
    return len(pieces) if all(map(str.strip, pieces)) else None


class VerifyParagraphCount(Function, id="rlvr:verify_paragraph_count", suite="rlvr"):
    """The response has exactly so many paragraphs, separated by `* * *`, none of them blank."""

    N: Number
    example = Example(
        kwargs={"N": 2},
        passes="We cast off.\n* * *\nWe tied up.",
        fails="We cast off.\n* * *\nWe tied up.\n* * *",
    )

    def accepts(self, answer: Text) -> bool:
        return answer.view(_divided) == self.N

    def found(self, answer: Text) -> str:
        count = answer.view(_divided)
        return "a blank paragraph" if count is None else amount(count, "paragraph")

    @property
    def required(self) -> str:
        return f"{amount(self.N, 'paragraph')} separated by {_DIVIDER}"

    def spans(self, answer: Text) -> Iterable[Span]:
        return phrases(answer.raw, [_DIVIDER], "counted")


def _spaced(text: str) -> list[str]:
    return text.split("\n\n")


class ValidateParagraphs(Function, id="rlvr:validate_paragraphs", suite="rlvr"):
    """There are exactly so many paragraphs, separated by an empty line, and the i-th starts with a word.

    Blank paragraphs count too. The word is compared in its own case and may be the start of a longer one.
    An `i` of 0 or less counts from the end: 0 is the last paragraph.
    """

    N: Number
    first_word: Str
    i: Number
    example = Example(
        kwargs={"N": 2, "first_word": "Then", "i": 2},
        passes="The fog lifted.\n\nThen we sailed.",
        fails="The fog lifted.\n\nthen we sailed.",
    )

    @model_validator(mode="after")
    def _is_there(self) -> Self:
        if self.i != int(self.i) or not 1 - self.N <= self.i <= self.N:
            refuse(f"i ({self.i:g}) must be the number of one of N ({self.N:g}) paragraphs, counted from 1")
        return self

    def accepts(self, answer: Text) -> bool:
        pieces = answer.view(_spaced)
        return len(pieces) == self.N and pieces[int(self.i) - 1].strip().startswith(self.first_word)

    def found(self, answer: Text) -> str:
        pieces = answer.view(_spaced)
        count = amount(len(pieces), "paragraph")
        if len(pieces) != self.N:
            return count
        words = pieces[int(self.i) - 1].split(None, 1)
        return f'{count}, number {self.i:g} starts with "{words[0] if words else ""}"'

    @property
    def required(self) -> str:
        return f'{amount(self.N, "paragraph")}, number {self.i:g} starting with "{self.first_word}"'


class ValidateSections(Function, id="rlvr:validate_sections", suite="rlvr"):
    """The response has exactly so many sections: the parts before, between and after a splitter.

    The splitter is plain text in its own case. Text before the first one is a section too, unless there
    is none at all.
    """

    N: Number
    section_splitter: Annotated[Str, AfterValidator(nonempty)]
    example = Example(
        kwargs={"N": 2, "section_splitter": "Leg"},
        passes="Leg 1: out.\nLeg 2: back.",
        fails="The trip:\nLeg 1: out.\nLeg 2: back.",
    )

    def _count(self, answer: Text) -> int:
        splitters = answer.raw.count(self.section_splitter)
        return splitters if not answer.raw or answer.raw.startswith(self.section_splitter) else splitters + 1

    def accepts(self, answer: Text) -> bool:
        return self._count(answer) == self.N

    def found(self, answer: Text) -> str:
        return amount(self._count(answer), "section")

    @property
    def required(self) -> str:
        return f'exactly {amount(self.N, "section")} split by "{self.section_splitter}"'

    def spans(self, answer: Text) -> Iterable[Span]:
        return phrases(answer.raw, [self.section_splitter], "counted", cased=True)


def _answers(text: str) -> list[str]:
    return [answer.strip() for answer in text.split(_SEPARATOR)]


class ValidateTwoResponses(Function, id="rlvr:validate_two_responses", suite="rlvr"):
    """The response is two different answers separated by exactly one `******`; one of them may be blank."""

    example = Example(kwargs={}, passes="By ferry.\n******\nBy road.", fails="By ferry.\n******\nBy ferry.")

    def accepts(self, answer: Text) -> bool:
        answers = answer.view(_answers)
        return len(answers) == 2 and answers[0] != answers[1]

    def found(self, answer: Text) -> str:
        answers = answer.view(_answers)
        if len(answers) == 2:
            return "two different answers" if answers[0] != answers[1] else "the same answer twice"
        return amount(len(answers), "answer")

    @property
    def required(self) -> str:
        return f"two different answers separated by {_SEPARATOR}"

    def spans(self, answer: Text) -> Iterable[Span]:
        return phrases(answer.raw, [_SEPARATOR], "counted")
