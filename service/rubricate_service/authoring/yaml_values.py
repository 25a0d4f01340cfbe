"""Values of YAML files as JSON has them, since groups are JSON wherever else they are read.

YAML 1.1 takes `2024-01-01` for a date and `yes:` for the key True, and knows sets and bytes. Nobody who
writes a rubric means any of these: dates are text here, and so is every key, as it is written.
"""

from __future__ import annotations

from typing import Any

_TAG = "tag:yaml.org,2002:"
_SCALARS = ("int", "float", "bool", "null")
_AS_WRITTEN = ("timestamp", "value")
"""Plain scalars that are text to everybody but YAML; the second is `=`."""


class NotJsonError(Exception):
    """A value that JSON does not have; `line` is where it begins, from 1."""

    def __init__(self, node: Any, why: str) -> None:
        super().__init__(why)
        self.line: int = node.start_mark.line + 1


class YamlValues:
    """Values of the nodes of one document; what an alias repeats is made once."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._made: dict[int, Any] = {}

    def of(self, node: Any) -> Any:
        """The value of a node.

        Raises:
            NotJsonError: JSON has no such value, or a key is given twice.
        """
        if id(node) not in self._made:
            self._made[id(node)] = self._make(node)
        return self._made[id(node)]

    def _make(self, node: Any) -> Any:
        if node.id == "mapping":
            return self._mapping(node)
        return self._sequence(node) if node.id == "sequence" else self._scalar(node)

    def _scalar(self, node: Any) -> Any:
        kind = node.tag.removeprefix(_TAG)
        if kind == "str" or kind in _AS_WRITTEN:
            return _text(node)
        if kind not in _SCALARS:
            raise _no_such(node)
        try:
            return self._loader.construct_object(node)
        except (ValueError, KeyError):
            raise NotJsonError(node, f"{node.value[:40]!r} is no {kind}") from None

    def _sequence(self, node: Any) -> list[Any]:
        if node.tag != f"{_TAG}seq":
            raise _no_such(node)
        return [self.of(item) for item in node.value]

    def _mapping(self, node: Any) -> dict[str, Any]:
        if node.tag != f"{_TAG}map":
            raise _no_such(node)
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == f"{_TAG}merge":
                merged |= self._merged(value)
                continue
            if key.id != "scalar":
                raise NotJsonError(key, "a key is a list or a mapping; JSON has only text there")
            name = _text(key)
            if name in own:
                raise NotJsonError(key, f"the key {name[:40]!r} is given twice")
            own[name] = self.of(value)
        return merged | own

    def _merged(self, node: Any) -> dict[str, Any]:
        """What `<<` takes over: a mapping, or a list of them of which the first that has a key counts."""
        value = self.of(node)
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            raise NotJsonError(node, "`<<` takes over mappings, and this is none")
        return {name: item for source in reversed(sources) for name, item in source.items()}


def _text(node: Any) -> str:
    text: str = node.value
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJsonError(node, "half of a surrogate pair stands alone in this text") from None
    return text


def _no_such(node: Any) -> NotJsonError:
    return NotJsonError(node, f"JSON has nothing like {node.tag.replace(_TAG, '!!')}")
