"""Types of kwargs: what a rubric may say, the message when it says something else, the JSON schema.

Counts take floats beside integers, since published data sets write `8.0` and the reference codes
only compare. Booleans and digits in strings are refused.
"""

from __future__ import annotations

import math
import re
import warnings
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, PlainValidator, Strict, WithJsonSchema
from pydantic_core import PydanticCustomError

__all__ = [
    "DRAWN",
    "DRAWN_NOTE",
    "Count",
    "Number",
    "Ordinal",
    "Phrase",
    "Regexes",
    "Relation",
    "Str",
    "Words",
    "python_regex",
    "refuse",
]

DRAWN = object()
"""Marks a field for which the reference code draws a random value when it is missing or unusable."""

DRAWN_NOTE = "the reference code would draw one at random, so its verdict would mean nothing"


def refuse(why: str) -> NoReturn:
    """Refuse a kwarg from within a validator.

    Args:
        why: What is wrong, for people; it is shown after the kwarg's path.

    Raises:
        PydanticCustomError: Always; `build` turns it into `BadKwargs`.
    """
    raise PydanticCustomError("kwarg", "{why}", {"why": why})


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        refuse(f"must be a number, not {value!r}")
    return value


def _count(value: object) -> int | float:
    number = _number(value)
    if number < 0:
        refuse(f"must not be negative ({value}): {DRAWN_NOTE}")
    return number


def _ordinal(value: object) -> int:
    number = _number(value)
    if number < 1 or number != int(number):
        refuse(f"must be a whole number from 1 ({value}): {DRAWN_NOTE}")
    return int(number)


def _phrase(value: str) -> str:
    if not value:
        refuse(f"must not be empty: {DRAWN_NOTE}")
    return value


def _words(value: list[str]) -> list[str]:
    if not value:
        refuse(f"must not be empty: {DRAWN_NOTE}")
    return value


def python_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile what a rubric gives as a regular expression, as the reference codes do.

    Args:
        pattern: Any string.
        flags: Flags of `re`.

    Returns:
        The compiled pattern.

    Raises:
        PydanticCustomError: It is not a regular expression.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of what a later Python may read otherwise
            return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        refuse(f"{pattern!r} is not a regular expression of Python: {error}; escape what is meant literally")


def _regex(value: str) -> str:
    python_regex(value)
    return value


def _schema(**schema: Any) -> WithJsonSchema:
    return WithJsonSchema(schema)


Number = Annotated[int | float, PlainValidator(_number), _schema(type="number"), DRAWN]
"""Any finite number."""

Count = Annotated[int | float, PlainValidator(_count), _schema(type="number", minimum=0), DRAWN]
"""A number from 0."""

Ordinal = Annotated[int, PlainValidator(_ordinal), _schema(type="integer", minimum=1), DRAWN]
"""A position, counted from 1."""

Str = Annotated[str, Strict(), DRAWN]
"""Any string, the empty one included."""

Phrase = Annotated[str, Strict(), AfterValidator(_phrase), DRAWN]
"""A string of at least one character."""

Words = Annotated[list[Annotated[str, Strict()]], Strict(), AfterValidator(_words), DRAWN]
"""At least one string."""

Regexes = Annotated[
    list[Annotated[str, Strict(), AfterValidator(_regex)]], Strict(), AfterValidator(_words), DRAWN
]
"""At least one regular expression of Python's `re`."""

Relation = Annotated[Literal["less than", "at least"], DRAWN]
"""How a count relates to its bound: `<` or `>=`."""
