"""Keywords and letters: which occur, and how often."""

# The methods are those of Function and are documented there.
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

from ...check import Example, Span
from ...kwargs import refuse
from ...spans import phrases
from ...text import Text
from ...wording import amount, listed
from .function import Function
from .kwargs import Number, Str, Strings

_WORD = re.compile(r"\w+")


class VerifyKeywords(Function, id="rlvr:verify_keywords", suite="rlvr"):
    """Every keyword occurs, in any case, inside words too."""

    keyword_list: Strings
    example = Example(
        kwargs={"keyword_list": ["oar", "sail"]},
        passes="Take an OAR when the sails hang slack.",
        fails="Take an oar when the wind drops.",
    )

    def _missing(self, answer: Text) -> list[str]:
        return [keyword for keyword in self.keyword_list if keyword.lower() not in answer.lower]

    def accepts(self, answer: Text) -> bool:
        return not self._missing(answer)

    def found(self, answer: Text) -> str:
        missing = self._missing(answer)
        return f"no {listed(missing)}" if missing else "all of them"

    @property
    def required(self) -> str:
        return f"the keywords {listed(self.keyword_list)}"

    def spans(self, answer: Text) -> Iterable[Span]:
        return phrases(answer.raw, self.keyword_list, "match")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class VerifyKeywordFrequency(Function, id="rlvr:verify_keyword_frequency", suite="rlvr"):
    r"""A word occurs exactly so many times, in any case, as a whole word.

    Words are runs of `\w`, so a word with a hyphen or an apostrophe in it is never found.
    """

    word: Str
    N: Number
    example = Example(
        kwargs={"word": "reef", "N": 1},
        passes="Reef the sails before the reefs.",
        fails="The reef is near. Mind the reef.",
    )

    def _count(self, answer: Text) -> int:
        return answer.view(_words).count(self.word.lower())

    def accepts(self, answer: Text) -> bool:
        return self._count(answer) == self.N

    def found(self, answer: Text) -> str:
        return amount(self._count(answer), "time")

    @property
    def required(self) -> str:
        return f'"{self.word}" exactly {amount(self.N, "time")}'

    def spans(self, answer: Text) -> Iterable[Span]:
        found = _WORD.finditer(answer.raw)
        return (Span(*m.span(), "counted") for m in found if m[0].lower() == self.word.lower())


class ValidateForbiddenWords(Function, id="rlvr:validate_forbidden_words", suite="rlvr"):
    """None of the words occurs, in any case, not even inside another word: `badge` has `bad` in it."""

    forbidden_words: Strings
    example = Example(
        kwargs={"forbidden_words": ["ice"]},
        passes="The bay stays open all winter.",
        fails="Notice the open bay.",
    )

    def _present(self, answer: Text) -> list[str]:
        return [word for word in self.forbidden_words if word.lower() in answer.lower]

    def accepts(self, answer: Text) -> bool:
        return not self._present(answer)

    def found(self, answer: Text) -> str:
        return listed(self._present(answer)) or "none of them"

    @property
    def required(self) -> str:
        return f"none of {listed(self.forbidden_words)}"

    def spans(self, answer: Text) -> Iterable[Span]:
        return phrases(answer.raw, self.forbidden_words, "violation")


def _letter(value: str) -> str:
    if len(value) != 1:
        refuse(f"must be one character, not {value!r}")
    return value


class VerifyLetterFrequency(Function, id="rlvr:verify_letter_frequency", suite="rlvr"):
    """A character occurs exactly so many times, in this very case."""

    letter: Annotated[Str, AfterValidator(_letter)]
    N: Number
    example = Example(
        kwargs={"letter": "e", "N": 3}, passes="Even the sea is calm.", fails="Every evening we rest here."
    )

    def accepts(self, answer: Text) -> bool:
        return answer.raw.count(self.letter) == self.N

    def found(self, answer: Text) -> str:
        return amount(answer.raw.count(self.letter), "time")

    @property
    def required(self) -> str:
        return f'"{self.letter}" exactly {amount(self.N, "time")}'

    def spans(self, answer: Text) -> Iterable[Span]:
        return (Span(i, i + 1, "counted") for i, char in enumerate(answer.raw) if char == self.letter)


class ValidateChoice(Function, id="rlvr:validate_choice", suite="rlvr"):
    """One of the options occurs, in this very case, inside words too: `Apple` has the option `A` in it."""

    options: Strings
    example = Example(
        kwargs={"options": ["port", "starboard"]}, passes="Turn to starboard.", fails="Turn left."
    )

    def _chosen(self, answer: Text) -> list[str]:
        return [option for option in self.options if option in answer.raw]

    def accepts(self, answer: Text) -> bool:
        return bool(self._chosen(answer))

    def found(self, answer: Text) -> str:
        return listed(self._chosen(answer)) or "none of them"

    @property
    def required(self) -> str:
        return f"one of {listed(self.options)}"

    def spans(self, answer: Text) -> Iterable[Span]:
        return phrases(answer.raw, self.options, "match", cased=True)
