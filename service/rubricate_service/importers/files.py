"""Files of rows: JSON lines, or one JSON list. `rubricate import` writes the groups of one to another."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from rubricate_service.importers.importer import AUTO, Importer


class FileError(Exception):
    """A file is not what the command can work with."""


def read_rows(source: Path) -> Iterator[tuple[int, Any, str | None]]:
    """Number (from 0, of the line or the list's item), value and fault of every row; one of the two is None.

    Raises:
        FileError: There is no such file, or it is a JSON list that cannot be read.
    """
    if not source.is_file():
        raise FileError(f"there is no file {source}")
    if begins_as_list(source):
        return ((number, row, None) for number, row in enumerate(_list(source)))
    return _lines(source)


def begins_as_list(source: Path) -> bool:
    """Whether a file is meant as one JSON list rather than as JSON lines."""
    with source.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    return first.removeprefix(BOM_UTF8).lstrip().startswith(b"[")


def _lines(source: Path) -> Iterator[tuple[int, Any, str | None]]:
    with source.open("rb") as file:
        for number, line in enumerate(file):
            line = line if number else line.removeprefix(BOM_UTF8)  # editors on Windows put one there
            if not line.strip():
                continue
            try:
                yield number, from_json(line, allow_inf_nan=False), None
            except ValueError as error:
                yield number, None, f"this line is not JSON: {error}"


def _list(source: Path) -> list[Any]:
    try:
        rows: list[Any] = from_json(source.read_bytes().removeprefix(BOM_UTF8), allow_inf_nan=False)
    except ValueError as error:
        raise FileError(f"{source} begins as a JSON list and is none: {error}") from None
    return rows


def import_file(source: Path, out: Path, format: str = AUTO) -> tuple[int, Importer]:
    """Write the group of every row of `source` to `out`, one a line.

    Returns:
        How many groups were written, and the importer with its errors and hints.

    Raises:
        FileError: `source` cannot be read, or is `out`.
    """
    if out.exists() and source.exists() and out.samefile(source):
        raise FileError(f"{out} is the file to read; name another to write")
    rows = read_rows(source)
    importer = Importer(format)
    written = 0
    with out.open("wb") as file:
        for number, row, fault in rows:
            if fault is not None:
                importer.refuse(number, fault)
            elif (group := importer.take(number, row)) is not None:
                file.write(group.model_dump_json(exclude_unset=True).encode() + b"\n")
                written += 1
    return written, importer
