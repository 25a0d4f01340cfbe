"""Reading a row of which nothing is known: every access says where it was and what it expected there."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import from_json

from rubricate_clients.faults import details_of
from rubricate_service.importers.literal import read_literal


class RowFault(Exception):
    """A row cannot be imported: `path` within the row (`""` for the whole), and why."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message

    @classmethod
    def of(cls, path: str, error: ValidationError) -> RowFault:
        """The first fault that pydantic found in what was made of the value at `path`."""
        fault = details_of(error)[0]
        return cls(".".join(part for part in (path, fault.path) if part), fault.message)


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a row and its path. Null is the same as absent: data sets pad with it."""

    value: object
    path: str = ""

    def fault(self, message: str) -> RowFault:
        """A fault at this place, to be raised."""
        return RowFault(self.path, message)

    def has(self, *names: str) -> bool:
        """Whether this is an object with a value under each of these names."""
        return isinstance(self.value, dict) and all(self.value.get(name) is not None for name in names)

    def get(self, name: str) -> Node | None:
        """The value under a name, None where there is none; raises `RowFault` when this is no object."""
        if not isinstance(self.value, dict):
            raise self.fault(f"must be an object, not {_kind(self.value)}")
        value = self.value.get(name)
        return None if value is None else Node(value, f"{self.path}.{name}" if self.path else name)

    def first(self, *names: str) -> Node | None:
        """The value under the first of these names that has one."""
        return next((node for name in names if (node := self.get(name)) is not None), None)

    def need(self, *names: str) -> Node:
        """As `first`; raises `RowFault` when none of the names has a value."""
        if (node := self.first(*names)) is None:
            raise self.fault(f"has no {' or '.join(f'`{name}`' for name in names)}")
        return node

    def items(self) -> list[Node]:
        """The items of a list; raises `RowFault` when this is none."""
        if not isinstance(self.value, list):
            raise self.fault(f"must be a list, not {_kind(self.value)}")
        return [Node(item, f"{self.path}[{i}]") for i, item in enumerate(self.value)]

    def string(self) -> str:
        """Any string; raises `RowFault` otherwise."""
        if not isinstance(self.value, str):
            raise self.fault(f"must be a string, not {_kind(self.value)}")
        return self.value

    def text(self) -> str:
        """A string that is not blank; raises `RowFault` otherwise."""
        text = self.string()
        if not text.strip():
            raise self.fault("is blank")
        return text

    def number(self) -> int | float:
        """A number; raises `RowFault` otherwise."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.fault(f"must be a number, not {_kind(self.value)}")
        return self.value

    def flag(self) -> bool:
        """A boolean; raises `RowFault` otherwise."""
        if not isinstance(self.value, bool):
            raise self.fault(f"must be true or false, not {_kind(self.value)}")
        return self.value

    def name(self) -> str | None:
        """An id: a string or a whole number, as a string; None where this is neither."""
        if isinstance(self.value, bool) or not isinstance(self.value, str | int):
            return None
        return str(self.value).strip() or None

    def structured(self) -> Node:
        """An object or list, also one that is written out in a string, as JSON or as a Python literal."""
        if not isinstance(self.value, str):
            return self
        try:
            return Node(from_json(self.value, allow_inf_nan=False), self.path)
        except ValueError as not_json:
            try:
                return Node(read_literal(self.value), self.path)
            except ValueError as error:
                raise self.fault(f"is neither JSON ({not_json}) nor a Python literal ({error})") from None

    def kwargs(self) -> dict[str, object]:
        """An object (or one in a string) without the names whose value is null."""
        node = self.structured()
        if not isinstance(node.value, dict):
            raise self.fault(f"must be an object, not {_kind(node.value)}")
        return {name: value for name, value in node.value.items() if value is not None}


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
