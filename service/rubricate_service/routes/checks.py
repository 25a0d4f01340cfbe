"""`GET /v1/checks`: the catalogue, made from the checks themselves."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from rubricate_checkers import CatalogueEntry, UnknownCheck, catalogue, describe
from rubricate_service.errors import NotFound
from rubricate_service.http.auth import needs

router = APIRouter(tags=["catalogue"], dependencies=[needs("read")])


class Catalogue(BaseModel):
    """Answer of `GET /v1/checks`."""

    checks: list[CatalogueEntry]


@router.get("/v1/checks", summary="All deterministic checks")
def list_checks() -> Catalogue:
    """Every check with its kwargs as a JSON schema and an example that passes and one that fails."""
    return Catalogue(checks=catalogue())


@router.get("/v1/checks/{id:path}", summary="One deterministic check")
def one_check(id: str) -> CatalogueEntry:
    """A check by its id or one of its aliases."""
    try:
        return describe(id)
    except UnknownCheck as error:
        raise NotFound(error.message) from None
