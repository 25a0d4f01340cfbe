"""Rows of published data sets, as groups that `POST /v1/score` takes."""

from rubricate_service.importers.formats import FORMATS, Format
from rubricate_service.importers.group import ImportedGroup
from rubricate_service.importers.importer import AUTO, Hint, Importer, ImportFault

__all__ = ["AUTO", "FORMATS", "Format", "Hint", "ImportFault", "ImportedGroup", "Importer"]
