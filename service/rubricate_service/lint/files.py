"""Files to lint: groups as authors write them, and rows of data sets among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from rubricate_clients.faults import details_of
from rubricate_service.authoring.files import read_rows
from rubricate_service.importers import Importer
from rubricate_service.lint.finding import RULES, Finding, spoken
from rubricate_service.lint.group import LintGroup

_OF_A_RUBRIC = ("check", "criterion")


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
            try:
                _add(source, place, LintGroup.model_validate(row))
            except ValidationError as error:
                source.faults.extend(_fault(f"{place}.{d.path}", d.message) for d in details_of(error))
        elif (group := importer.take(number, row)) is not None:
            _add(source, place, LintGroup.model_validate(group.model_dump(exclude_unset=True)))
        else:
            told = importer.errors[-1]
            source.faults.append(_fault(f"{place}.{told.path}" if told.path else place, told.message))
    return source


def _add(source: Source, place: str, group: LintGroup) -> None:
    source.groups.append((place, group))
    if group.id is not None:
        source.ids[place] = group.id


def _fault(path: str, message: str) -> Finding:
    hint = "A group has a `prompt` and `rubrics`; docs/importing.md has the rows that are known."
    return RULES["E09"].at(path, spoken(message), hint=hint)


def _is_group(row: object) -> bool:
    """Whether a row is meant as a group: its rubrics have a `check` or a `criterion` each, or try to."""
    if not isinstance(row, dict) or not row.keys() <= LintGroup.model_fields.keys():
        return False
    rubrics = row.get("rubrics")
    return isinstance(rubrics, list) and any(
        isinstance(rubric, dict) and any(name in rubric for name in _OF_A_RUBRIC) for rubric in rubrics
    )
