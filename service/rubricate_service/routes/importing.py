"""`POST /v1/import`: rows of published data sets in, groups for `POST /v1/score` out."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from rubricate_service.http.auth import needs
from rubricate_service.http.limits import check_rows
from rubricate_service.importers import AUTO, FORMATS, ImportedGroup, Importer, ImportFault
from rubricate_service.routes.body import body_schema, read_body

router = APIRouter(tags=["data sets"], dependencies=[needs("read")])


def _known(format: str) -> str:
    if format != AUTO and format not in FORMATS:
        raise ValueError(f"{format!r} is no format; there are {', '.join([AUTO, *FORMATS])}")
    return format


class ImportRequest(BaseModel):
    """Body of `POST /v1/import`: rows of one format, or of any that can be told from the rows."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Annotated[str, AfterValidator(_known), Field(json_schema_extra={"enum": [AUTO, *FORMATS]})] = AUTO
    rows: Annotated[list[Any], Field(min_length=1)]


class ImportAnswer(BaseModel):
    """Groups in the rows' order, and why other rows are missing."""

    groups: list[ImportedGroup]
    errors: list[ImportFault]


def _import(body: ImportRequest) -> bytes:
    importer = Importer(body.format)
    groups = [
        group for number, row in enumerate(body.rows) if (group := importer.take(number, row)) is not None
    ]
    answer = ImportAnswer(groups=groups, errors=importer.errors)
    return answer.model_dump_json(exclude_unset=True).encode()


@router.post(
    "/v1/import",
    summary="Import rows of data sets",
    response_model=ImportAnswer,
    openapi_extra=body_schema(ImportRequest),
)
async def import_rows(request: Request) -> Response:
    """Turn rows of published data sets into groups; a row that cannot be imported says why.

    `docs/importing.md` has, for each format, the options of `POST /v1/score` that come nearest to how the
    source scores its rows.
    """
    body = await read_body(request, ImportRequest)
    check_rows(body.rows, request.app.state.limits)
    return Response(await asyncio.to_thread(_import, body), media_type="application/json")
