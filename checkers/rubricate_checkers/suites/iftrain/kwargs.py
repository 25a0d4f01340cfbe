"""Types of kwargs that only these checks have: here 0 is as good as nothing, and draws at random."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainValidator, Strict, WithJsonSchema

from ...kwargs import DRAWN, DRAWN_NOTE, Number, Phrase, refuse

__all__ = ["Index", "Prompt", "Total", "WordOrList"]


def _nonzero(value: int | float) -> int | float:
    if value == 0:
        refuse(f"must not be 0: {DRAWN_NOTE}")
    return value


def _index(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
        refuse(f"must be a whole number, not {value!r}")
    return int(_nonzero(value))


def _first_of_list(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _prompt(value: str) -> str:
    if not value:
        refuse("must not be empty: it is what the response has to repeat")
    return value


Total = Annotated[Number, AfterValidator(_nonzero)]
"""Any number but 0. A negative one is compared with as it is, and no count is below it."""

Index = Annotated[int, PlainValidator(_index), WithJsonSchema({"type": "integer"}), DRAWN]
"""A whole number but 0: an offset as Python reads it, from the end where it is negative."""

Prompt = Annotated[str, Strict(), AfterValidator(_prompt)]
"""A text to repeat."""

WordOrList = Annotated[Phrase, BeforeValidator(_first_of_list, json_schema_input_type=str | list[str])]
"""A word, or a list of which only the first word is read."""
