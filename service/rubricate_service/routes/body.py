"""Reading a body: parsed from its bytes, so that what JSON cannot hold never gets in."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from rubricate_service.errors import invalid_body

Model = TypeVar("Model", bound=BaseModel)


async def read_body(request: Request, model: type[Model]) -> Model:
    """The body as a model; raises `InvalidRequest` with every fault and its path.

    FastAPI's own body parameter goes through the standard library's parser, which lets NaN, infinities
    and lone surrogates pass and then cannot write the error that quotes them.
    """
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise invalid_body(error) from None


def body_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The part of a route's OpenAPI entry that FastAPI would have derived from a body parameter."""
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": reference}}}}
