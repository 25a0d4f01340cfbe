"""Files to lint: groups as authors write them, and rows of data sets among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from pydantic import ValidationError

from rubricate_clients.faults import details_of
from rubricate_service.authoring.expectations import Samples, wrong_expectations
from rubricate_service.authoring.files import read_rows
from rubricate_service.importers import Importer
from rubricate_service.importers.formats import detect
from rubricate_service.importers.node import Node, RowFault
from rubricate_service.lint.finding import RULES, Finding, spoken
from rubricate_service.lint.group import LintGroup

_OF_A_RUBRIC = ("check", "criterion")
_KNOWN_ROWS = "A group has a `prompt` and `rubrics`; docs/importing.md has the rows that are known."
_EXPECTED = "docs/authoring.md has what `rubricate test` takes."


class FileGroup(LintGroup):
    """A group of a file: its responses may say what is expected of them, as for the other commands."""

    responses: Samples = []  # type: ignore[assignment]  # noqa: RUF012 - pydantic copies it


@dataclass(frozen=True, slots=True)
class Source:
    """What a file holds: groups by their path (`rows[0]`), and what is wrong with the other rows."""

    groups: list[tuple[str, LintGroup]] = field(default_factory=list)
    faults: list[Finding] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    """Id of each row that has one, by its path."""
    lines: dict[str, str] = field(default_factory=dict)
    """Where each row is in the file (`line 3`), by its path."""


def read_source(path: Path) -> Source:
    """The groups of a file; rows that are no groups are imported as what they look like.

    Raises:
        FileError: The file is not there, or cannot be read as a whole.
    """
    source = Source()
    importer = Importer()
    for number, found in enumerate(read_rows(path)):
        place, row, fault = f"rows[{number}]", found.value, found.fault
        source.lines[place] = found.place
        if fault is not None:
            source.faults.append(_fault(place, fault))
        elif _is_group(row):
            _add_group(source, place, row)
        elif (group := importer.take(number, row)) is not None:
            _add(source, place, LintGroup.model_validate(group.model_dump(exclude_unset=True)))
        else:
            told = importer.errors[-1]
            source.faults.append(_fault(f"{place}.{told.path}" if told.path else place, told.message))
    return source


def _add_group(source: Source, place: str, row: dict[str, Any]) -> None:
    try:
        group = FileGroup.model_validate(row)
    except ValidationError as error:
        source.faults.extend(_fault(f"{place}.{d.path}", d.message) for d in details_of(error))
        return
    _add(source, place, group)
    ids = [_id(index, rubric) for index, rubric in enumerate(group.rubrics)]
    for position, why in wrong_expectations(ids, group.responses):
        source.faults.append(_fault(f"{place}.responses[{position}].expect", why, _EXPECTED))


def _id(index: int, rubric: object) -> str:
    """The id of a rubric that nobody has read yet."""
    id = rubric.get("id") if isinstance(rubric, dict) else None
    return id if isinstance(id, str) else str(index)


def _add(source: Source, place: str, group: LintGroup) -> None:
    source.groups.append((place, group))
    if group.id is not None:
        source.ids[place] = group.id


def _fault(path: str, message: str, hint: str = _KNOWN_ROWS) -> Finding:
    return RULES["E09"].at(path, spoken(message), hint=hint)


def _is_group(row: object) -> TypeGuard[dict[str, Any]]:
    """Whether a row is meant as a group.

    Its rubrics have a `check` or a `criterion` each, or try to; or it has what a group has and is no row of a
    known data set, so that the fault lies in the group.
    """
    if not isinstance(row, dict):
        return False
    rubrics = row.get("rubrics")
    if isinstance(rubrics, list) and row.keys() <= LintGroup.model_fields.keys():
        named = [name for rubric in rubrics if isinstance(rubric, dict) for name in rubric]
        if any(name in named for name in _OF_A_RUBRIC):
            return True
    return {"prompt", "rubrics"} <= row.keys() and not _is_of_a_data_set(row)


def _is_of_a_data_set(row: object) -> bool:
    try:
        detect(Node(row))
    except RowFault:
        return False
    return True
