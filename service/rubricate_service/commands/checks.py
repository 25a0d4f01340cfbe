"""`rubricate checks`: the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from rubricate_checkers import UnknownCheck, catalogue, describe
from rubricate_service.commands.common import stop


def checks(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="show one check in full")] = None,
) -> None:
    """List the deterministic checks, or show one: its kwargs, and what passes and fails."""
    console = Console()
    if id is None:
        table = Table("id", "what it requires", box=None, pad_edge=False)
        for entry in catalogue():
            table.add_row(entry.id, entry.summary)
        console.print(table)
        return
    try:
        entry = describe(id)
    except UnknownCheck as error:
        stop(error.message)
    console.print(f"{entry.id}  (suite {entry.suite}, version {entry.version})", highlight=False)
    console.print(entry.summary, highlight=False)
    for title, value in (("kwargs", entry.kwargs), ("example", entry.example.model_dump())):
        console.print(f"\n{title}:", highlight=False)
        console.print_json(data=value)
