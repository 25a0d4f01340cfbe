"""Documents: a response that is nothing but JSON or XML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rubricate_checkers.suites.ifeval.structure import JsonFormat
from rubricate_checkers.suites.rlvr.whole import ValidateJsonFormat
from rubricate_checkers.suites.text.formats import ValidJson, ValidXml
from rubricate_checkers.suites.text.json_values import JsonSchema, KeyPaths
from rubricate_service.lint.demand import Contains, Demand, Document
from rubricate_service.lint.demands.dispatch import read

_DIGITS = "0123456789"
_WORDS = ("true", "false", "null")
_LAX_WORDS = ("NaN", "Infinity", "-Infinity")


def _json(
    schema: dict[str, Any], *, fence: str, is_container: bool = False, lax: bool = False
) -> list[Demand]:
    """JSON in one of the fences or none; with `lax` as Python reads it (NaN, Infinity)."""
    first, last = "{[", "}]"
    words: tuple[str, ...] = ()
    if not is_container:
        first, last = first + '"-' + _DIGITS, last + '"' + _DIGITS
        words = (*_WORDS, *_LAX_WORDS) if lax else _WORDS
    demands: list[Demand] = [Document("JSON", first + fence, last + fence, words, schema)]
    if _has_two(schema):
        demands.append(Contains(","))
    return demands


def _has_two(schema: dict[str, Any]) -> bool:
    """Whether a value has at least two members or items, which a comma parts."""
    if schema.get("type") == "object":
        required = schema.get("required")
        return isinstance(required, list) and len({str(name) for name in required}) > 1
    return schema.get("type") == "array" and isinstance(n := schema.get("minItems"), int) and n > 1


@read.register
def _(check: JsonFormat) -> Iterable[Demand]:
    return _json({}, fence="`", lax=True)


@read.register
def _(check: ValidateJsonFormat) -> Iterable[Demand]:
    return _json({}, fence="", lax=True)


@read.register
def _(check: ValidJson) -> Iterable[Demand]:
    return _json({}, fence="`~" if check.fenced else "")


@read.register
def _(check: JsonSchema) -> Iterable[Demand]:
    container = check.schema_.get("type") in ("object", "array")
    return _json(check.schema_, fence="`~" if check.fenced else "", is_container=container)


_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def _schema_of(paths: list[list[str | int]]) -> dict[str, Any]:
    """A schema of JSON that has all of these paths."""
    heads = list(dict.fromkeys(path[0] for path in paths if path))
    inner = {head: _schema_of([path[1:] for path in paths if path and path[0] == head]) for head in heads}
    if not inner:
        return {}
    if isinstance(heads[0], int):
        indexes = {head for head in inner if isinstance(head, int)}
        items = [inner.get(i, {}) for i in range(max(indexes) + 1)]
        return {"type": "array", "minItems": len(items), "prefixItems": items}
    names = {str(head): schema for head, schema in inner.items()}
    return {"type": "object", "required": list(names), "properties": names}


_MOST_ITEMS = 1000
_DEEPEST = 50


@read.register
def _(check: KeyPaths) -> Iterable[Demand]:
    paths = [[int(index) if index else name for index, name in _PART.findall(path)] for path in check.paths]
    too_long = any(isinstance(part, int) and part >= _MOST_ITEMS for path in paths for part in path)
    if too_long or any(len(path) > _DEEPEST for path in paths):
        return _json({}, fence="`~", is_container=True)
    return _json(_schema_of(paths), fence="`~", is_container=True)


@read.register
def _(check: ValidXml) -> Iterable[Demand]:
    fence = "`~" if check.fenced else ""
    return [Document("XML", "<\ufeff" + fence, ">" + fence)]  # a byte order mark may come first
