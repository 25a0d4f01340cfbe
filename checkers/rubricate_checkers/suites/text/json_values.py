"""`text:` JSON of a given shape."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, Field, Strict

from ...check import Check, Example
from ...errors import MissingData
from ...kwargs import refuse
from ...text import Text
from ...wording import listed
from .documents import NotADocument, body, read_json
from .formats import Document


def _unreachable(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is not part of the schema, and nothing is fetched")


def _validator(schema: dict[str, Any]) -> Any:
    try:
        import jsonschema_rs
    except ImportError as error:
        raise MissingData("jsonschema-rs is not installed; install rubricate[checkers]") from error
    # patterns run on an engine that is linear in the text
    return jsonschema_rs.validator_for(
        schema, retriever=_unreachable, pattern_options=jsonschema_rs.RegexOptions()
    )


def _schema(value: dict[str, Any]) -> dict[str, Any]:
    try:
        _validator(value)
    except MissingData:
        raise
    except Exception as error:  # its ValidationError, or ValueError for what cannot be resolved
        refuse(f"is not a JSON Schema: {str(error).splitlines()[0]}")
    return value


class JsonSchema(Document, id="text:json_schema", suite="text", raw_regex=True):
    """The whole response is JSON that a JSON Schema accepts, in a code fence or without one.

    Drafts 4 to 2020-12 are known, by `$schema`, else 2020-12. A `$ref` must stay within the schema; patterns
    have no lookaround.
    """

    format_name = "JSON"
    schema_: Annotated[dict[str, Any], Strict(), AfterValidator(_schema)] = Field(alias="schema")
    example = Example(
        kwargs={"schema": {"type": "object", "required": ["tide"]}},
        passes='{"tide": "low"}',
        fails='{"port": 1}',
    )

    @cached_property
    def _validates(self) -> Any:
        return _validator(self.schema_)

    def check_document(self, document: str) -> None:
        value = read_json(document)
        try:
            error = next(self._validates.iter_errors(value), None)
        except ValueError as fault:  # numbers and depths beyond what the validator holds
            raise NotADocument(str(fault)) from None
        if error is not None:
            place = "".join(f"[{part!r}]" for part in error.instance_path)
            raise NotADocument(f"{place or 'the value'}: {error.message[:300]}")

    @property
    def required(self) -> str:
        return "JSON that the schema accepts"


_PART = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")


def _parts(path: str) -> list[str | int]:
    """`a.b[0]` as its keys and indexes; raises `ValueError` for what is no path."""
    parts: list[str | int] = []
    place = 0
    while place < len(path):
        match = _PART.match(path, place)
        if match is None or (place == 0 and path[0] == "."):
            raise ValueError(path)
        parts.append(int(match.group(1)) if match.group(1) else match.group(2))
        place = match.end()
    return parts


def _paths(values: list[str]) -> list[str]:
    if not values:
        refuse("must not be empty")
    for value in values:
        try:
            empty = not _parts(value)
        except ValueError:
            empty = True
        if empty:
            refuse(f"{value!r} is not a path: write keys parted by dots, and [0] for an item of a list")
    return values


def _has(value: Any, parts: list[str | int]) -> bool:
    for part in parts:
        if isinstance(part, int):
            if not isinstance(value, list) or part >= len(value):
                return False
        elif not isinstance(value, dict) or part not in value:
            return False
        value = value[part]
    return True


class KeyPaths(Check, id="text:key_paths", suite="text"):
    """The response is JSON that has all of the key paths, in a code fence or without one.

    A path is written `ship.crew[0].name`; the value there may be anything, null included.
    """

    paths: Annotated[list[Annotated[str, Strict()]], Strict(), AfterValidator(_paths)]
    format: Literal["json"] = "json"
    example = Example(
        kwargs={"paths": ["ship.name", "ship.crew[0]"]},
        passes='{"ship": {"name": "Erne", "crew": ["Ada"]}}',
        fails='{"ship": {"name": "Erne", "crew": []}}',
    )

    def _fault(self, text: Text) -> str | None:
        try:
            value = read_json(body(text.raw, fenced=True))
        except NotADocument as fault:
            return f"no JSON: {fault}"
        missing = [path for path in self.paths if not _has(value, _parts(path))]
        return f"no {listed(missing)}" if missing else None

    def holds(self, text: Text) -> bool:
        return text.once(self._fault) is None

    def observed(self, text: Text) -> str:
        return text.once(self._fault) or "all of them"

    @property
    def required(self) -> str:
        return f"JSON with {listed(self.paths)}"
