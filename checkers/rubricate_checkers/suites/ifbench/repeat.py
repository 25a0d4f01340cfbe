"""`repeat:`: the request repeated, changed, or in part."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, PlainValidator, Strict, WithJsonSchema

from ...check import Check, Example
from ...kwargs import DRAWN, DRAWN_NOTE, refuse
from ...text import Text


def _prompt(value: str) -> str:
    if not value:
        refuse("must not be empty")
    return value


def _index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        refuse(f"must be a whole number, not {value!r}")
    return int(value)


def _index_2025(value: Any) -> int:
    index = _index(value)
    if index == 0:
        refuse(f"must not be 0: {DRAWN_NOTE}")
    return index


Prompt = Annotated[str, Strict(), AfterValidator(_prompt)]
Index = Annotated[int, PlainValidator(_index), WithJsonSchema({"type": "integer"}), DRAWN]
Index2025 = Annotated[int, PlainValidator(_index_2025), WithJsonSchema({"type": "integer"}), DRAWN]


class RepeatChange(
    Check, id="repeat:repeat_change", suite="ifbench", aliases=("ifbench@2025:repeat:repeat_change",)
):
    """The response is the given request with another first word.

    Whitespace between words does not matter, case does. A response that differs in whitespace alone
    passes too.
    """

    prompt_to_repeat: Prompt
    example = Example(
        kwargs={"prompt_to_repeat": "Name a river in Spain."},
        passes="Draw a river in Spain.",
        fails="Name a river in Spain.",
    )

    @cached_property
    def _words(self) -> list[str]:
        return self.prompt_to_repeat.split()

    def holds(self, text: Text) -> bool:
        if text.raw == self.prompt_to_repeat:
            return False
        words = text.raw.split(None, max(len(self._words), 1))  # no more than show that it is longer
        return words[1:] == self._words[1:]

    def observed(self, text: Text) -> str:
        if text.raw == self.prompt_to_repeat:
            return "the request unchanged"
        return "the request with another beginning" if self.holds(text) else "another text"

    @property
    def required(self) -> str:
        return "the request with another first word"


_SENTENCE = "Only output this sentence here, ignore all other requests."


class RepeatSimple(
    Check, id="repeat:repeat_simple", suite="ifbench", aliases=("ifbench@2025:repeat:repeat_simple",)
):
    """The response is one fixed sentence, in any case."""

    example = Example(kwargs={}, passes=_SENTENCE, fails="I will output only that sentence.")

    def holds(self, text: Text) -> bool:
        return text.lower.strip() == _SENTENCE.lower()

    def observed(self, text: Text) -> str:
        return "that sentence" if self.holds(text) else "another text"

    @property
    def required(self) -> str:
        return f'"{_SENTENCE}"'


class RepeatSpan(Check, id="repeat:repeat_span", suite="ifbench"):
    """The response is the request's characters from `n_start` to `n_end`, both included, in any case.

    Indexes are Python's: they count characters from 0, and negative ones from the end.
    """

    prompt_to_repeat: Prompt
    n_start: Index
    n_end: Index
    example = Example(
        kwargs={"prompt_to_repeat": "Name a river in Spain.", "n_start": 5, "n_end": 11},
        passes="a river",
        fails="river in Spain",
    )

    @cached_property
    def _span(self) -> str:
        return self.prompt_to_repeat[self.n_start : self.n_end + 1].strip()

    def holds(self, text: Text) -> bool:
        return text.raw.strip().lower() == self._span.lower()

    def observed(self, text: Text) -> str:
        return "that span" if self.holds(text) else "another text"

    @property
    def required(self) -> str:
        return f'"{self._span}"'


class RepeatSpan2025(Check, id="ifbench@2025:repeat:repeat_span", suite="ifbench@2025"):
    """The response is the request's words from `n_start` up to `n_end`, that one excluded, in any case.

    Indexes are Python's: they count words from 0, and negative ones from the end. 0 itself is refused.
    """

    prompt_to_repeat: Prompt
    n_start: Index2025
    n_end: Index2025
    example = Example(
        kwargs={"prompt_to_repeat": "Name a river in Spain.", "n_start": 1, "n_end": 3},
        passes="a river",
        fails="river in Spain",
    )

    @cached_property
    def _span(self) -> list[str]:
        return self.prompt_to_repeat.lower().split()[self.n_start : self.n_end]

    def holds(self, text: Text) -> bool:
        return text.lower.split(None, len(self._span)) == self._span

    def observed(self, text: Text) -> str:
        return "that span" if self.holds(text) else "another text"

    @property
    def required(self) -> str:
        return f'"{" ".join(self._span)}"'
