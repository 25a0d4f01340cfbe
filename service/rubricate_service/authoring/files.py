"""Files that authors write by hand: YAML, JSON lines or a JSON list, each fault told with its line."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rubricate_clients.faults import details_of
from rubricate_service.importers.files import FileError
from rubricate_service.importers.files import read_rows as read_json_rows

__all__ = ["FileError", "Row", "parsed", "read_rows"]

M = TypeVar("M", bound=BaseModel)

_YAML = (".yaml", ".yml")
_MOST_NODES = 5_000_000
"""Of a YAML file with its aliases written out: a few lines of aliases of aliases stand for billions."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item of a file: where it is, for people, and its value or the fault that it has none.

    `lines` has the line of what a YAML row holds, by its path of keys and positions.
    """

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


def parsed(rows: Iterator[Row], model: type[M]) -> tuple[list[tuple[Row, M]], list[str]]:
    """The rows that are such a model, and a line for each fault of the others."""
    good: list[tuple[Row, M]] = []
    faults: list[str] = []
    for row in rows:
        if row.fault is not None:
            faults.append(f"{row.place}: {row.fault}")
            continue
        try:
            good.append((row, model.model_validate(row.value)))
        except ValidationError as error:
            locations = [fault["loc"] for fault in error.errors(include_url=False, include_input=False)]
            faults += [
                f"{row.at(loc)}: {detail.path}: {detail.message}"
                if detail.path
                else f"{row.place}: {detail.message}"
                for loc, detail in zip(locations, details_of(error), strict=True)
            ]
    return good, faults


def _json_rows(path: Path) -> Iterator[Row]:
    rows = read_json_rows(path)
    with path.open("rb") as file:
        is_list = (
            next((line for line in file if line.strip()), b"")
            .removeprefix(BOM_UTF8)
            .lstrip()
            .startswith(b"[")
        )
    for number, value, fault in rows:
        yield Row(f"{'item' if is_list else 'line'} {number + 1}", value, fault)


def _yaml_rows(path: Path) -> list[Row]:
    """Rows of a YAML file: a list of groups, a mapping with `groups`, or one group a document."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise FileError("PyYAML is not installed; install rubricate[checkers]") from None
    if not path.is_file():
        raise FileError(f"there is no file {path}")
    try:
        loader = yaml.SafeLoader(path.read_text(encoding="utf-8"))
        rows: list[Row] = []
        while loader.check_node():
            for node in _items(loader.get_node()):
                _check_size(node)
                lines: dict[tuple[int | str, ...], int] = {}
                _note_lines(node, (), lines)
                rows.append(Row(f"line {lines[()]}", loader.construct_document(node), lines=lines))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise FileError(f"{path}{where}: this is not YAML: {error.problem or error.context}") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8: byte {error.start} cannot be read") from None
    except (yaml.YAMLError, ValueError) as error:
        raise FileError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise FileError(f"{path} is nested too deeply") from None
    return rows


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
