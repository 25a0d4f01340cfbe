"""`text:` documents: JSON, YAML, XML and CSV that can be read."""

from __future__ import annotations

import csv
import io
from abc import abstractmethod
from typing import Any, ClassVar
from xml.parsers import expat

from ...check import Check, Example
from ...errors import MissingData
from ...text import Text
from .documents import NotADocument, body, read_json

_DEEPEST = 200


class Document(Check):
    """The whole response is a document of some format."""

    format_name: ClassVar[str]
    fenced: bool = True

    @abstractmethod
    def check_document(self, document: str) -> None:
        """Raise `NotADocument` where the document is not what is asked for."""

    def fault(self, text: Text) -> str | None:
        """Why the response is not such a document, else None."""
        try:
            self.check_document(body(text.raw, self.fenced))
        except NotADocument as fault:
            return str(fault)
        return None

    def holds(self, text: Text) -> bool:
        return text.once(self.fault) is None

    def observed(self, text: Text) -> str:
        fault = text.once(self.fault)
        return self.format_name if fault is None else f"no such {self.format_name}: {fault}"

    @property
    def required(self) -> str:
        return f"nothing but {self.format_name}"


class ValidJson(Document, id="text:valid_json", suite="text"):
    """The whole response is one JSON value, in a code fence or, unless `fenced` is false, without one.

    RFC 8259 is what counts: no comments, trailing commas, single quotes or NaN. Any value will do.
    """

    format_name = "JSON"
    example = Example(kwargs={}, passes='```json\n{"tide": "low"}\n```', fails="{'tide': 'low'}")

    def check_document(self, document: str) -> None:
        read_json(document)


class ValidYaml(Document, id="text:valid_yaml", suite="text"):
    """The whole response is YAML with a mapping or a list at its top, in a code fence or without one.

    A lone sentence is YAML to a parser too, but not to people, and does not hold. Several documents, tags
    and anchors are fine; an alias must have its anchor. Nothing is built, so aliases cannot blow up.
    """

    format_name = "YAML"
    example = Example(kwargs={}, passes="tide: low\nboats:\n  - skiff\n  - dory", fails="tide: low: high")

    def check_document(self, document: str) -> None:
        try:
            import yaml  # type: ignore[import-untyped]
        except ImportError as error:
            raise MissingData("PyYAML is not installed; install rubricate[checkers]") from error
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            _check_events(yaml.parse(document, Loader=loader))
        except (yaml.YAMLError, UnicodeError) as error:
            raise NotADocument(" ".join(str(error).split())) from None


def _check_events(events: Any) -> None:
    """What parsing alone does not see: depth, aliases without anchors, and a top that is a scalar."""
    depth = collections = 0
    anchors: set[str] = set()
    for event in events:
        name = type(event).__name__
        if name == "DocumentStartEvent":
            anchors = set()
        elif name == "AliasEvent":
            if event.anchor not in anchors:
                raise NotADocument(f"the alias *{event.anchor} has no anchor")
        elif name in ("MappingStartEvent", "SequenceStartEvent"):
            depth += 1
            collections += 1
            if depth > _DEEPEST:
                raise NotADocument(f"it is nested more than {_DEEPEST} deep")
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            depth -= 1
        elif name == "ScalarEvent" and depth == 0:
            raise NotADocument("there is no mapping and no list at its top")
        if getattr(event, "anchor", None) and name != "AliasEvent":
            anchors.add(event.anchor)
    if not collections:
        raise NotADocument("there is nothing in it")


class ValidXml(Document, id="text:valid_xml", suite="text"):
    """The whole response is well-formed XML with one root element, in a code fence or without one.

    It may have a document type, but one that declares entities does not hold, whatever it says else.
    """

    format_name = "XML"
    example = Example(kwargs={}, passes="<log><tide>low</tide></log>", fails="<log><tide>low</log>")

    def check_document(self, document: str) -> None:
        parser = expat.ParserCreate(encoding="utf-8")
        parser.EntityDeclHandler = _refuse_entity
        try:
            parser.Parse(document.encode(), True)
        except expat.ExpatError as error:
            raise NotADocument(str(error)) from None
        except UnicodeEncodeError:
            raise NotADocument("it is no Unicode text") from None


def _refuse_entity(name: str, *_: Any) -> None:
    raise NotADocument(f"it declares the entity {name}")


class ValidCsv(Document, id="text:valid_csv", suite="text"):
    """The whole response is CSV: two columns or more, as many in every row, in a code fence or without one.

    Fields are parted by commas, and quoted as RFC 4180 has it. Blank lines do not count.
    """

    format_name = "CSV"
    example = Example(kwargs={}, passes='port,tide\n"Hull, East",low', fails="port,tide\nHull")

    def check_document(self, document: str) -> None:
        columns = 0
        reader = csv.reader(io.StringIO(document, newline=""), strict=True)
        try:
            for row in reader:
                if row and columns == 0:
                    columns = len(row)
                elif row and len(row) != columns:
                    raise NotADocument(
                        f"line {reader.line_num} has {len(row)} fields, the first row {columns}"
                    )
        except csv.Error as error:
            raise NotADocument(f"line {reader.line_num}: {error}") from None
        if columns < 2:
            raise NotADocument("it has fewer than two columns")
