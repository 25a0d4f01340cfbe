"""`/docs` and `/redoc`: the OpenAPI document for people, from files of the installation alone.

Addresses in the pages are relative to the page, so they hold under any prefix that a proxy gives the service.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import FileResponse, HTMLResponse

from rubricate_service.errors import NotFound

router = APIRouter(include_in_schema=False)

_ASSETS = Path(str(files("fastapi_offline"))) / "static"
_SERVED = ("swagger-ui-bundle.js", "swagger-ui.css", "redoc.standalone.js")
_EXAMPLES = Path(__file__).with_name("docs_examples.json")
_ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='none' stroke='teal'"
    " stroke-width='2'><path d='M2 2h12v12H2zM5 8l2 3 4-6'/></svg>"
)
# ReDoc fetches its makers' logo and searches in a worker made of a blob: the first is kept from leaving
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def _guarded(page: HTMLResponse) -> HTMLResponse:
    page.headers["Content-Security-Policy"] = _POLICY
    page.headers["X-Content-Type-Options"] = "nosniff"
    page.headers["Referrer-Policy"] = "no-referrer"
    return page


@router.get("/docs")
async def swagger_ui(request: Request) -> HTMLResponse:
    """Swagger UI: every route, to be tried out; `Authorize` takes a token."""
    return _guarded(
        get_swagger_ui_html(
            openapi_url="openapi.json",
            title=request.app.title,
            swagger_js_url="docs/swagger-ui-bundle.js",
            swagger_css_url="docs/swagger-ui.css",
            swagger_favicon_url=_ICON,
            swagger_ui_parameters={"validatorUrl": None},  # else a site of its makers gets the document
        )
    )


@router.get("/redoc")
async def redoc(request: Request) -> HTMLResponse:
    """ReDoc: every route, to be read."""
    return _guarded(
        get_redoc_html(
            openapi_url="openapi.json",
            title=request.app.title,
            redoc_js_url="docs/redoc.standalone.js",
            redoc_favicon_url=_ICON,
            with_google_fonts=False,
        )
    )


@router.get("/docs/{name}")
async def asset(name: str) -> FileResponse:
    """A script or style sheet of the two pages."""
    if name not in _SERVED:
        raise NotFound(f"there is no /docs/{name}; /docs and /redoc are the pages")
    return FileResponse(_ASSETS / name)


def add_examples(app: FastAPI) -> None:
    """Put the bodies of `docs_examples.json` (path, name, body) among the document's requests."""
    derive = app.openapi
    examples: dict[str, dict[str, Any]] = json.loads(_EXAMPLES.read_text())

    def openapi() -> dict[str, Any]:
        document = derive()
        for path, named in examples.items():
            content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
            content["examples"] = {name: {"value": body} for name, body in named.items()}
        return document

    app.openapi = openapi  # type: ignore[method-assign]
