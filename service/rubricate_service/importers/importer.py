"""Rows in, groups out: a row that cannot be imported says why, and the others go on."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from rubricate_service.importers.formats import FORMATS, detect
from rubricate_service.importers.group import ImportedGroup, LeftOut, make_group, row_id
from rubricate_service.importers.node import Node, RowFault

AUTO = "auto"


class ImportFault(BaseModel):
    """Why row number `row` (from 0), or a part of it, was not imported: a path, and a sentence for people."""

    row: int
    path: str
    message: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.path}{': ' if self.path else ''}{self.message}"


class Hint(BaseModel):
    """Options of `POST /v1/score` that come nearest to how the source scores `rows` of the rows."""

    format: str
    options: dict[str, Any]
    rows: int


class Importer:
    """Imports rows one after another; ids of groups are unique over all of them.

    Args:
        format: A name of `FORMATS`, or `auto` to look at each row.

    Attributes:
        errors: Why rows were not imported.
        notes: What was left out of rows that were.

    Raises:
        KeyError: There is no such format.
    """

    def __init__(self, format: str = AUTO) -> None:
        self._format = None if format == AUTO else FORMATS[format]
        self._ids: set[str] = set()
        self._hints: dict[str, Hint] = {}
        self.errors: list[ImportFault] = []
        self.notes: list[ImportFault] = []

    @property
    def hints(self) -> list[Hint]:
        """How to score what was imported so far."""
        return list(self._hints.values())

    def take(self, number: int, row: object) -> ImportedGroup | None:
        """The group of a row, None when `errors` has a new entry that says why there is none."""
        node = Node(row)
        try:
            format = self._format or detect(node)
            options = format.options(node)
            items = format.rubrics(node)
            id = self._free(row_id(node) or str(number), number)
            group = make_group(id, node, format.prompt(node), items)
        except RowFault as fault:
            self.refuse(number, fault.message, fault.path)
            return None
        self._ids.add(id)
        self.notes += [
            ImportFault(row=number, path=item.path, message=item.message)
            for item in items
            if isinstance(item, LeftOut)
        ]
        hint = Hint(format=format.name, options=options, rows=0)
        self._hints.setdefault(hint.model_dump_json(), hint).rows += 1
        return group

    def refuse(self, number: int, message: str, path: str = "") -> None:
        """Record that a row cannot be imported."""
        self.errors.append(ImportFault(row=number, path=path, message=message))

    def _free(self, id: str, number: int) -> str:
        while id in self._ids:
            id = f"{id}#{number}"
        return id
