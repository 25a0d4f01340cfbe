"""A value that a JSON Schema accepts, for the schemas that people write for responses."""

from __future__ import annotations

from typing import Any

_DEEPEST = 20


def instance(schema: dict[str, Any], text: str) -> Any:
    """A value for a schema, with a text in the first string that may be any.

    It knows types, enums, constants, required properties, item counts and bounds, and follows no `$ref`:
    what it gives is a proposal, to be checked.
    """
    return _Maker(text).value(schema, 0) if schema else {"text": text}


class _Maker:
    """Makes one value; the text is used once."""

    def __init__(self, text: str) -> None:
        self._text: str | None = text

    def value(self, schema: Any, depth: int) -> Any:
        """A value that the schema accepts, as far as it is understood."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return self._string({})
        if "const" in schema:
            return schema["const"]
        if isinstance(choices := schema.get("enum"), list) and choices:
            return choices[0]
        for combined in ("anyOf", "oneOf", "allOf"):
            if isinstance(options := schema.get(combined), list) and options:
                return self.value(options[0], depth + 1)
        kind = schema.get("type", "object" if "properties" in schema or "required" in schema else "string")
        kind = kind[0] if isinstance(kind, list) and kind else kind
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind in ("integer", "number"):
            return _number(schema)
        return {"boolean": True, "null": None}.get(kind) if kind != "string" else self._string(schema)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        names = [str(name) for name in required] if isinstance(required, list) else []
        value = {name: self.value(properties.get(name, {}), depth + 1) for name in names}
        if self._text is not None and schema.get("additionalProperties", True) is not False:
            value["text"] = self._string({})
        return value

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        first = schema.get("prefixItems")
        first = first if isinstance(first, list) else []
        least = schema.get("minItems")
        least = min(least, 1000) if isinstance(least, int) else 1
        items = [self.value(item, depth + 1) for item in first[:1000]]
        while len(items) < least:
            items.append(self.value(schema.get("items", {}), depth + 1))
        return items

    def _string(self, schema: dict[str, Any]) -> str:
        text, self._text = self._text, None
        text = "text" if text is None else text
        least = schema.get("minLength")
        return text.ljust(min(least, 10_000), "x") if isinstance(least, int) else text


def _number(schema: dict[str, Any]) -> int | float:
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    low = low if isinstance(low, int | float) else 0
    if isinstance(high := schema.get("maximum"), int | float) and low > high:
        return high
    return low + 1 if "exclusiveMinimum" in schema else low
