"""Types of kwargs as these functions take them: nothing is drawn at random, what is missing is missing."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

from ...kwargs import refuse

__all__ = ["Number", "Str", "Strings", "around", "holds_to", "nonempty"]

Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
"""Any finite number."""

Str = Annotated[str, Strict()]
"""Any string, the empty one included."""

Strings = Annotated[list[Str], Strict()]
"""Any number of strings."""


def nonempty(value: str) -> str:
    """Refuse an empty string."""
    if not value:
        refuse("must not be empty")
    return value


def around(target: float) -> float:
    """How far `around` a target still is: a tenth of it, rounded, and at least 1."""
    return max(round(target * 0.1), 1)


def holds_to(count: int, quantifier: str, target: float, slack: float) -> bool:
    """Whether a count is `at least`, `at most` or `around` a target; with another quantifier, no count is."""
    if quantifier == "at least":
        return count >= target
    if quantifier == "at most":
        return count <= target
    return quantifier == "around" and abs(count - target) <= slack
