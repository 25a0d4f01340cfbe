"""MulDimIF: constraints as (category, subcategory, sentence)."""

from __future__ import annotations

from typing import Any

from rubricate_clients.wire import Rubric
from rubricate_service.importers.group import make_rubric
from rubricate_service.importers.node import Node

_PARTS = ("category", "subcategory", "constraint")


def constraint_fields(item: Node) -> dict[str, Any]:
    """`check` and `kwargs` of one triple. Raises `RowFault`."""
    parts = item.items()
    if len(parts) != len(_PARTS):
        raise item.fault(f"must be [category, subcategory, sentence], not {len(parts)} items")
    kwargs = {name: part.text() for name, part in zip(_PARTS, parts, strict=True)}
    return {"check": "muldimif:constraint", "kwargs": kwargs}


def muldimif(row: Node) -> list[Rubric]:
    """A check for each triple, named by its category and subcategory."""
    rubrics = []
    for item in row.need("constraints").items():
        fields = constraint_fields(item)
        name = "{category}_{subcategory}".format_map(fields["kwargs"])
        rubrics.append(make_rubric(item, id=name, **fields))
    return rubrics


def is_muldimif(row: Node) -> bool:
    """Whether a row has constraints that are lists."""
    return all(isinstance(item.value, list) for item in row.need("constraints").items())
