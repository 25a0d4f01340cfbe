"""Labels that people gave, from a CSV file: one judgement of one response by one criterion a row."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rubricate_clients.wire import Group, Rubric
from rubricate_service.authoring.files import FileError, read_text

Scale = Literal["three points", "pass or fail"]

REQUIRED = ("prompt", "response", "criterion", "label")
OPTIONAL = ("id", "hard", "pass_at", "reference", "group")

_WORDS = {"pass": True, "fail": False}
_HARD = {"": False, "true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
_LONGEST_FIELD = 50_000_000


@dataclass(frozen=True, slots=True)
class Labelled:
    """One row: what the judge is to be asked, and what a person said.

    Attributes:
        line: Where it begins in the file, from 1.
        id: Its id, or "" without one.
        cluster: Rows that belong together have the same: the column `group`, else the prompt.
        scale: On which scale person and judge are compared.
        label: What the person said: 0, 1, 2 for 0, 0.5, 1; on `pass or fail` 0 or 1.
        group: The row as a group of one response and one rubric.
    """

    line: int
    id: str
    cluster: str
    scale: Scale
    label: int
    group: Group


@dataclass(frozen=True, slots=True)
class Labels:
    """The rows of a file, a line for each fault of the others, and the columns that nobody reads."""

    rows: list[Labelled]
    faults: list[str]
    unread: list[str]


def read_labels(path: Path) -> Labels:
    """Read a CSV file with a header; commas, semicolons or tabs between the columns.

    Raises:
        FileError: It is not there, is no such file, or lacks a column.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    rows: list[Labelled] = []
    faults: list[str] = []
    file = io.StringIO(read_text(path), newline="")
    header = file.readline()
    file.seek(0)
    reader = csv.DictReader(file, delimiter=max(",;\t", key=header.count))
    try:
        columns = [name.strip() for name in reader.fieldnames or ()]
        reader.fieldnames = columns
        _check_columns(path, columns)
        for line, row in _records(reader):
            try:
                rows.append(_labelled(line, row))
            except ValueError as error:
                faults.append(f"line {line}: {error}")
    except csv.Error as error:
        raise FileError(f"{path}, near line {reader.line_num}: {error}") from None
    return Labels(rows, faults, [name for name in columns if name not in REQUIRED + OPTIONAL])


def _check_columns(path: Path, columns: list[str]) -> None:
    if missing := [name for name in REQUIRED if name not in columns]:
        named = ", ".join(columns) or "none"
        raise FileError(f"{path} has no column {', '.join(missing)}; its first line names {named}")
    if twice := [name for name in REQUIRED + OPTIONAL if columns.count(name) > 1]:
        raise FileError(f"{path} has more than one column {', '.join(twice)}; which one counts?")


def _records(reader: csv.DictReader[str]) -> Iterator[tuple[int, Mapping[str | None, str | None]]]:
    before = reader.line_num
    for row in reader:
        yield before + 1, row
        before = reader.line_num


def _labelled(line: int, row: Mapping[str | None, str | None]) -> Labelled:
    """A row; raises `ValueError` with what is wrong with it."""
    if None in row:
        raise ValueError("it has more cells than the header; is a text with commas not in quotes?")
    if short := [name for name in REQUIRED if row.get(name) is None]:
        raise ValueError(f"it has fewer cells than the header: {', '.join(short)} is missing")
    cell = {name: text or "" for name, text in row.items() if name is not None}
    if empty := [name for name in ("prompt", "criterion", "label") if not cell[name].strip()]:
        raise ValueError(f"{', '.join(empty)} is empty")
    hard = _HARD.get(cell.get("hard", "").strip().lower())
    if hard is None:
        raise ValueError(f"hard is {cell['hard']!r}; it is true or false")
    threshold = cell.get("pass_at", "").strip() or "1"
    pass_at = _number(threshold)
    if pass_at not in (0.5, 1.0):
        raise ValueError(f"pass_at is {threshold!r}; it is 0.5 or 1")
    scale, label = _label(cell["label"].strip(), hard, pass_at)
    rubric = Rubric(criterion=cell["criterion"], hard=hard, pass_at=pass_at)
    group = Group(
        prompt=cell["prompt"],
        reference=cell.get("reference") or None,
        rubrics=[rubric],
        responses=[cell["response"]],
    )
    return Labelled(line, cell.get("id", ""), cell.get("group") or cell["prompt"], scale, label, group)


def _label(text: str, hard: bool, pass_at: float) -> tuple[Scale, int]:
    if (passes := _WORDS.get(text.lower())) is not None:
        return "pass or fail", int(passes)
    value = _number(text)
    if value not in (0.0, 0.5, 1.0):
        raise ValueError(f"label is {text!r}; it is 0, 0.5, 1, pass or fail")
    return ("pass or fail", int(value >= pass_at)) if hard else ("three points", round(2 * value))


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan
