"""Files that authors write by hand: YAML, JSON lines or a JSON list, each fault told with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rubricate_clients.faults import details_of
from rubricate_service.authoring.yaml_values import NotJsonError, YamlValues
from rubricate_service.importers.files import FileError, begins_as_list
from rubricate_service.importers.files import read_rows as read_json_rows

__all__ = ["FileError", "Row", "parsed", "read_as", "read_rows", "read_text"]

M = TypeVar("M", bound=BaseModel)

_YAML = (".yaml", ".yml")
_MOST_NODES = 5_000_000
"""Of a YAML file with its aliases written out: a few lines of aliases of aliases stand for billions."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item of a file: where it is, for people, and its value or the fault that it has none.

    `number` counts from 0: the lines of JSON lines, blank ones too, and the items of everything else. `lines`
    has the line of what a YAML row holds, by its path of keys and positions.
    """

    number: int
    place: str
    value: Any = None
    fault: str | None = None
    lines: dict[tuple[int | str, ...], int] | None = None

    def at(self, loc: tuple[int | str, ...]) -> str:
        """Where something of the row is, as nearly as the file tells."""
        if self.lines is None:
            return self.place
        # tags of unions are in locations and not in files
        path = tuple(part for part in loc if not (isinstance(part, str) and part.startswith("<")))
        while path not in self.lines:
            path = path[:-1]
        return f"line {self.lines[path]}"


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file; its name says whether it is YAML.

    Raises:
        FileError: The file is not there, or cannot be read as a whole.
    """
    if path.suffix.lower() in _YAML:
        return iter(_yaml_rows(path))
    return _json_rows(path)


def read_text(path: Path) -> str:
    """The text of a file, without a byte order mark.

    Raises:
        FileError: It is not there, or not UTF-8.
    """
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path} is not UTF-8: line {line} has a byte that cannot be read") from None


def parsed(rows: Iterable[Row], model: type[M]) -> tuple[list[tuple[Row, M]], list[str]]:
    """The rows that are such a model, and a line for each fault of the others."""
    good: list[tuple[Row, M]] = []
    faults: list[str] = []
    for row in rows:
        one, found = read_as(row, model)
        faults += found
        if one is not None:
            good.append((row, one))
    return good, faults


def read_as(row: Row, model: type[M]) -> tuple[M | None, list[str]]:
    """A row as such a model, or None and a line for each of its faults."""
    if row.fault is not None:
        return None, [f"{row.place}: {row.fault}"]
    try:
        return model.model_validate(row.value), []
    except ValidationError as error:
        locations = [fault["loc"] for fault in error.errors(include_url=False, include_input=False)]
        return None, [
            f"{row.at(loc)}: {detail.path}: {detail.message}"
            if detail.path
            else f"{row.place}: {detail.message}"
            for loc, detail in zip(locations, details_of(error), strict=True)
        ]


def _json_rows(path: Path) -> Iterator[Row]:
    rows = read_json_rows(path)
    what = "item" if begins_as_list(path) else "line"
    found = (Row(number, f"{what} {number + 1}", value, fault) for number, value, fault in rows)
    others: list[Row] = []
    for row in found:
        others.append(row)
        if isinstance(row.value, dict):
            return chain(others, found)
    if others and others[0].fault is not None:
        raise FileError(
            f"{path} has no line that is a JSON object; files of groups are JSON lines, a JSON list, or YAML "
            f"named .yaml or .yml ({others[0].place}: {others[0].fault})"
        )
    return iter(others)


def _yaml_rows(path: Path) -> list[Row]:
    """Rows of a YAML file: a list of groups, a mapping with `groups`, or one group a document."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise FileError("PyYAML is not installed; install rubricate[checkers]") from None
    text = read_text(path)
    try:
        loader = yaml.SafeLoader(text)
        rows: list[Row] = []
        while loader.check_node():
            values = YamlValues(loader)
            for node in _items(loader.get_node()):
                _check_size(node)
                rows.append(_yaml_row(len(rows), node, values))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise FileError(f"{path}{where}: this is not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise FileError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise FileError(f"{path} is nested too deeply") from None
    return rows


def _yaml_row(number: int, node: Any, values: YamlValues) -> Row:
    lines: dict[tuple[int | str, ...], int] = {}
    _note_lines(node, (), lines)
    try:
        return Row(number, f"line {lines[()]}", values.of(node), lines=lines)
    except NotJsonError as error:
        return Row(number, f"line {error.line}", fault=str(error))


def _items(document: Any) -> list[Any]:
    """The nodes of a document's groups."""
    if document.id == "mapping" and [key.value for key, _ in document.value] == ["groups"]:
        document = document.value[0][1]
    if document.id == "sequence":
        return list(document.value)
    return [] if document.tag.endswith(":null") else [document]


def _children(node: Any) -> list[tuple[int | str, Any]]:
    if node.id == "mapping":
        return [(key.value if isinstance(key.value, str) else "", value) for key, value in node.value]
    return list(enumerate(node.value)) if node.id == "sequence" else []


def _check_size(root: Any) -> None:
    """Refuse a row that is huge or endless once its aliases are written out."""
    sizes: dict[int, int] = {}

    def size(node: Any) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = _MOST_NODES + 1  # met again from inside itself, it has no end
            sizes[id(node)] = 1 + sum(size(child) for _, child in _children(node))
        return sizes[id(node)]

    if size(root) > _MOST_NODES:
        raise ValueError(f"line {root.start_mark.line + 1} stands for far too much through its aliases")


def _note_lines(node: Any, path: tuple[int | str, ...], lines: dict[tuple[int | str, ...], int]) -> None:
    """Write down the line of every node down to the kwargs of a rubric."""
    lines[path] = node.start_mark.line + 1
    if len(path) < 4:  # rubrics, position, kwargs, name
        for name, child in _children(node):
            _note_lines(child, (*path, name), lines)
