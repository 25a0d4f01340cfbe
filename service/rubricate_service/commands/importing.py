"""`rubricate import`: rows of published data sets to groups."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rubricate_service.commands.common import errors, stop
from rubricate_service.importers import AUTO, FORMATS
from rubricate_service.importers.importer import ImportFault

_SHOWN_ERRORS = 20


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="IN.jsonl", help="rows of a data set, JSON lines or a list")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="one group a line, for `rubricate score`")],
    format: Annotated[str, typer.Option(help=f"{AUTO}, {', '.join(FORMATS)}")] = AUTO,
) -> None:
    """Turn rows of published data sets into groups. Rows that cannot be imported are reported."""
    from rubricate_service.importers.files import FileError, import_file

    if format != AUTO and format not in FORMATS:
        stop(f"--format: {format!r} is no format; there are {', '.join([AUTO, *FORMATS])}")
    try:
        written, importer = import_file(source, out, format)
    except FileError as error:
        stop(str(error))
    except OSError as error:
        stop(f"{error.filename} cannot be used: {error.strerror}")
    for line in _first(importer.errors, "rows that cannot be imported"):
        errors.print(line, style="red", markup=False, highlight=False)
    for line in _first(importer.notes, "notes on what was left out of a row"):
        errors.print(line, markup=False, highlight=False)
    for hint in importer.hints:
        options = (
            f", scored by its source as with --options '{json.dumps(hint.options)}'" if hint.options else ""
        )
        errors.print(
            f"{hint.rows} rows of format {hint.format}{options}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    errors.print(f"{written} groups in {out}", markup=False, highlight=False)
    if importer.errors:
        raise typer.Exit(1)


def _first(faults: Sequence[ImportFault], what: str) -> list[str]:
    """The first faults as lines, and how many more there are."""
    lines = [str(fault) for fault in faults[:_SHOWN_ERRORS]]
    return [*lines, f"and {more} more {what}"] if (more := len(faults) - len(lines)) else lines
