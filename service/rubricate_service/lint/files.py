"""Files to lint: groups in YAML, JSON lines or a JSON list, and rows of data sets among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rubricate_clients.faults import details_of
from rubricate_service.importers import Importer
from rubricate_service.importers.files import FileError, read_rows
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import LintGroup

_YAML = (".yaml", ".yml")
_OF_A_RUBRIC = ("check", "criterion")


@dataclass(frozen=True, slots=True)
class Source:
    """What a file holds: groups by their path (`rows[0]`), and what is wrong with the other rows."""

    groups: list[tuple[str, LintGroup]] = field(default_factory=list)
    faults: list[Finding] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    """Id of each row that has one, by its path."""


def read_source(path: Path) -> Source:
    """The groups of a file; rows that are no groups are imported as what they look like.

    Raises:
        FileError: The file is not there, or cannot be read as a whole.
    """
    source = Source()
    importer = Importer()
    rows = _yaml_rows(path) if path.suffix.lower() in _YAML else read_rows(path)
    for number, row, fault in rows:
        place = f"rows[{number}]"
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
    return RULES["E09"].at(path, message, hint=hint)


def _is_group(row: object) -> bool:
    """Whether a row is meant as a group: its rubrics have a `check` or a `criterion` each, or try to."""
    if not isinstance(row, dict) or not row.keys() <= LintGroup.model_fields.keys():
        return False
    rubrics = row.get("rubrics")
    return isinstance(rubrics, list) and any(
        isinstance(rubric, dict) and any(name in rubric for name in _OF_A_RUBRIC) for rubric in rubrics
    )


def _yaml_rows(path: Path) -> Iterator[tuple[int, Any, str | None]]:
    """Rows of a YAML file: a list of groups, a mapping with `groups`, or one group a document."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise FileError("PyYAML is not installed; install rubricate[checkers]") from None
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    try:
        documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise FileError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    rows: list[Any] = []
    for document in documents:
        if isinstance(document, dict) and document.keys() == {"groups"}:
            document = document["groups"]
        rows += document if isinstance(document, list) else [] if document is None else [document]
    return ((number, row, None) for number, row in enumerate(rows))
