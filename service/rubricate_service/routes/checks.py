"""`GET /v1/checks`: the catalogue, made from the checks themselves."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

from fastapi import APIRouter

from rubricate_checkers import UnknownCheck, catalogue
from rubricate_service.errors import NotFound

router = APIRouter(tags=["catalogue"])


@cache
def _catalogue() -> list[dict[str, Any]]:
    return [asdict(entry) for entry in catalogue()]


@router.get("/v1/checks", summary="All deterministic checks")
def list_checks() -> dict[str, Any]:
    """Every check with its kwargs as a JSON schema and an example that passes and one that fails."""
    return {"checks": _catalogue()}


@router.get("/v1/checks/{id:path}", summary="One deterministic check")
def one_check(id: str) -> dict[str, Any]:
    """A check by its id or one of its aliases."""
    for entry in _catalogue():
        if id == entry["id"] or id in entry["aliases"]:
            return entry
    raise NotFound(UnknownCheck(id).message)
