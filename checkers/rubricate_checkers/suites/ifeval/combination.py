"""`combination:`: two answers, and the prompt repeated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Strict

from ...check import Check, Example, Span
from ...kwargs import refuse
from ...loose import Rescue
from ...spans import at_start
from ...text import Text

_SEPARATOR = "******"


def _answers(text: str) -> list[str] | None:
    """The answers between separators, stripped; None if one in the middle is empty."""
    pieces = [piece.strip() for piece in text.split(_SEPARATOR)]
    return [piece for piece in pieces if piece] if all(pieces[1:-1]) else None


class TwoResponses(Check, id="combination:two_responses", aliases=("rubrichub:TwoResponsesChecker",)):
    """The response is two different answers separated by `******`.

    A separator may also open or close the response.
    """

    example = Example(kwargs={}, passes="By boat.\n******\nOn foot.", fails="By boat.\n******\nBy boat.")

    def holds(self, text: Text) -> bool:
        answers = text.view(_answers)
        return answers is not None and len(answers) == 2 and answers[0] != answers[1]

    def observed(self, text: Text) -> str:
        answers = text.view(_answers)
        if answers is None:
            return "an empty answer between separators"
        if len(answers) == 2:
            return "two different answers" if answers[0] != answers[1] else "the same answer twice"
        return f"{len(answers)} answers"

    @property
    def required(self) -> str:
        return "two different answers separated by ******"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARRED

    def evidence(self, text: Text) -> Iterable[Span]:
        at = text.raw.find(_SEPARATOR)
        return [Span(at, at + len(_SEPARATOR), "match")] if at >= 0 else []


def _prompt(value: str) -> str:
    if not value:
        refuse("must not be empty")
    return value


class RepeatPrompt(Check, id="combination:repeat_prompt", aliases=("rubrichub:RepeatPromptThenAnswer",)):
    """The response starts with the given prompt, in any case, word for word."""

    prompt_to_repeat: Annotated[str, Strict(), AfterValidator(_prompt)]
    example = Example(
        kwargs={"prompt_to_repeat": "When does the ferry leave?"},
        passes="When does the ferry leave? At noon.",
        fails="The ferry leaves at noon.",
    )

    def holds(self, text: Text) -> bool:
        return text.lower.strip().startswith(self.prompt_to_repeat.strip().lower())

    def observed(self, text: Text) -> str:
        return "the prompt first" if self.holds(text) else "another beginning"

    @property
    def required(self) -> str:
        return "the prompt word for word, then the answer"

    def evidence(self, text: Text) -> Iterable[Span]:
        return at_start(text.raw, len(self.prompt_to_repeat.strip()), self.holds(text))
