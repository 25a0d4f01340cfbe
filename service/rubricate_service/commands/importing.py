"""`rubricate import`: rows of published data sets to groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rubricate_service.commands.common import errors, stop, tell_faults
from rubricate_service.importers import AUTO, FORMATS


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
    tell_faults(importer.errors, "rows that cannot be imported")
    tell_faults(importer.notes, "notes on what was left out of a row", style=None)
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
