"""What a judge is asked: one criterion about one response."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One criterion about one response to one prompt; equal questions have equal answers.

    Attributes:
        prompt: The conversation as ``(role, text)`` turns; a prompt given as a string is one user turn.
        response: The text to be judged, as the checks see it.
        criterion: The requirement in words.
        reference: A reference answer, or None.
    """

    prompt: tuple[tuple[str, str], ...]
    response: str
    criterion: str
    reference: str | None = None
