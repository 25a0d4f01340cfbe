"""Faults of a body: those that types alone do not find, and how each is told with its path."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Discriminator, Field, ValidationError
from pydantic_core import PydanticCustomError

PLAIN, STRUCTURED = "<text>", "<object>"
"""Tags of the branches of a union. Pydantic puts them into locations; they are not in the body."""


class ErrorDetail(BaseModel):
    """One fault: where in the body (`""` for the whole), and what."""

    path: str
    message: str


_MOST, _DEEPEST, _LONGEST = 100, 8, 100
"""Of an object's faults that are told, of the names in a fault's path, of the characters of such a name.

Each fault has a path of its own: a name of 1 MB above 10,000 of them would be 10 GB.
"""

_WORDING = {"extra_forbidden": "unknown field", "missing": "required, but missing"}


def details_of(error: ValidationError) -> list[ErrorDetail]:
    """Every fault that pydantic found, with the path that the contract writes (`groups[0].rubrics[1].id`)."""
    return [
        ErrorDetail(
            path=path_of(fault["loc"]),
            message=_WORDING.get(fault["type"], fault["msg"].removeprefix("Value error, ")),
        )
        for fault in error.errors(include_url=False, include_context=False, include_input=False)
    ]


def path_of(loc: tuple[int | str, ...]) -> str:
    """Path of a location in the body: names after dots, positions in brackets; `""` for the whole."""
    parts = (part for part in loc if part not in (PLAIN, STRUCTURED))
    names = (f"[{part}]" if isinstance(part, int) else f".{_shortened(part)}" for part in parts)
    return "".join(names).removeprefix(".")


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


def _fault(title: str, faults: Sequence[tuple[tuple[int | str, ...], object, str]]) -> ValidationError:
    """An error of several faults, each at its own place below the value that is validated."""
    return ValidationError.from_exception_data(
        title,
        [
            {"type": PydanticCustomError("value_error", "{why}", {"why": why}), "loc": loc, "input": value}
            for loc, value, why in faults
        ],
    )


def _json_faults(value: object, loc: tuple[int | str, ...] = ()) -> Iterator[tuple[Any, object, str]]:
    """Floats that JSON does not have; pydantic's parser lets them through in untyped values."""
    if isinstance(value, float) and not math.isfinite(value):
        yield loc, value, f"{value} is not a JSON number; numbers must be finite"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _json_faults(item, _below(loc, _shortened(key)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _json_faults(item, _below(loc, index))


def _below(loc: tuple[int | str, ...], part: int | str) -> tuple[int | str, ...]:
    return (*loc, part) if len(loc) < _DEEPEST else loc


def _json_object(value: dict[str, Any]) -> dict[str, Any]:
    if faults := list(islice(_json_faults(value), _MOST)):
        raise _fault("kwargs", faults)
    return value


JsonObject = Annotated[dict[str, Any], AfterValidator(_json_object)]


def ids_of(items: Iterable[Any]) -> list[str]:
    """Id of each item; where it has none, its position as a string."""
    return [
        str(index) if (id := getattr(item, "id", None)) is None else id for index, item in enumerate(items)
    ]


def _unique_ids(items: list[Any]) -> list[Any]:
    ids = ids_of(items)
    if len(set(ids)) < len(ids):
        first: dict[str, int] = {}
        faults = [
            ((i, "id"), id, f"the id {id!r} is taken by item {first[id]}; ids must be unique")
            for i, id in enumerate(ids)
            if first.setdefault(id, i) != i
        ]
        raise _fault("ids", faults)
    return items


Members: list[Any] = [Field(min_length=1), AfterValidator(_unique_ids)]
"""Metadata of a list field: not empty, and no two items with one id."""


def plain_or(structured: type | tuple[type, ...], expected: str) -> Discriminator:
    """Picks a union's branch by looking at the value, so that an error speaks of that branch alone."""

    def branch(value: object) -> str | None:
        if isinstance(value, str):
            return PLAIN
        return STRUCTURED if isinstance(value, structured) else None

    return Discriminator(branch, custom_error_type="union", custom_error_message=expected)
