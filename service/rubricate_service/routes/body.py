"""Reading a body: parsed from its bytes, so that what JSON cannot hold never gets in."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema
from starlette.requests import ClientDisconnect

from rubricate_service.errors import ClientGone, invalid_body
from rubricate_service.http.limits import check_values

Model = TypeVar("Model", bound=BaseModel)
Result = TypeVar("Result")


async def read_body(request: Request, model: type[Model]) -> Model:
    """The body as a model.

    FastAPI's own body parameter goes through the standard library's parser, which lets NaN, infinities
    and lone surrogates pass and then cannot write the error that quotes them.

    Raises:
        InvalidRequest: With every fault and its path; also for a body that is too large.
        ClientGone: The client left before its body was whole.
    """
    try:
        body = await request.body()
        check_values(body, request.app.state.limits)
        return model.model_validate_json(body)
    except ClientDisconnect:
        raise ClientGone("the client closed the connection before its request was whole") from None
    except ValidationError as error:
        raise invalid_body(error) from None


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which is cancelled when the client goes away: nobody would read it.

    Call it once the body is read: the only message that can come then is the client's leaving.

    Raises:
        ClientGone: the client left first.
    """
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGone("the client closed the connection before the answer was ready")
    finally:
        task.cancel()
        leaving.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


_REFERENCE = "#/components/schemas/{model}"
_documented: list[type[BaseModel]] = []


def body_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The part of a route's OpenAPI entry that FastAPI would have derived from a body parameter."""
    _documented.append(model)
    reference = {"$ref": _REFERENCE.format(model=model.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": reference}}}}


def describe_bodies(app: FastAPI) -> None:
    """Put the models of `body_schema` among the schemas of the app's OpenAPI document."""
    derive = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _, schemas = models_json_schema(
                [(model, "validation") for model in _documented], ref_template=_REFERENCE
            )
            derive().setdefault("components", {}).setdefault("schemas", {}).update(schemas["$defs"])
        return derive()

    app.openapi = openapi  # type: ignore[method-assign]
