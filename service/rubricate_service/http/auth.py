"""Who asks: bearer tokens with a tenant and scopes, kept as digests.

A token is 256 random bits, so a fast digest is right: a slow one (argon2, bcrypt) makes guessing dear where
people choose secrets, and nobody guesses one of 2^256; it would only make every request dear.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Depends, Request
from fastapi.params import Depends as Dependency
from fastapi.security import HTTPBearer
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from rubricate_service.errors import Forbidden, Unauthorized, answer_to
from rubricate_service.http.settings import Scope, TokenSettings

_PROBES = ("/livez", "/readyz", "/startupz")
_DOCS = ("/docs", "/redoc", "/openapi.json")
_DOCS_FILES = ("/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/docs/redoc.standalone.js")
OPEN = frozenset(_PROBES + _DOCS + _DOCS_FILES)
"""Paths that need no token.

An orchestrator sends none with its probes, nor does a browser with a page. The pages and their document say
what the routes are, which is public with the code, and nothing of what this service holds.
"""

_PREFIX = "rubricate_"  # by which scanners find a token that was committed


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request: a token's name, whose work it is (`""`: nobody has to say), what it may do."""

    name: str
    tenant: str
    scopes: frozenset[Scope]

    def may(self, scope: Scope) -> bool:
        """Whether the caller has a scope; any scope includes `read`."""
        return scope in self.scopes or (scope == "read" and bool(self.scopes))


ANYONE = Caller("", "", frozenset({"read", "score", "admin"}))
"""Who asks a service without tokens: nobody is told apart, and everybody may do everything."""


def new_token() -> str:
    """A token of 256 random bits."""
    return _PREFIX + secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """A token as it stands in the settings."""
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


class Tokens:
    """The tokens of the settings; with none, everybody may do everything."""

    def __init__(self, tokens: Mapping[str, TokenSettings]) -> None:
        self._callers = [
            (table.hash, Caller(name, table.tenant or name, frozenset(table.scopes)))
            for name, table in tokens.items()
        ]

    @property
    def are_needed(self) -> bool:
        """Whether a request must name a token."""
        return bool(self._callers)

    def caller(self, authorization: str) -> Caller:
        """Who sends this `Authorization` header.

        Raises:
            Unauthorized: It names no token that is known.
        """
        if not self.are_needed:
            return ANYONE
        scheme, _, token = authorization.strip().partition(" ")
        if not authorization:
            raise Unauthorized("this service wants a token: send `Authorization: Bearer TOKEN`")
        if scheme.lower() != "bearer":
            raise Unauthorized("the Authorization header is not of the form `Bearer TOKEN`")
        presented, found = digest(token.strip()), None
        for known, caller in self._callers:
            # all are compared, so that the time tells nothing
            if hmac.compare_digest(known, presented):
                found = caller
        if found is None:
            raise Unauthorized("the token is not known here (it may have been replaced)")
        return found


class Authentication:
    """ASGI middleware: puts the `Caller` into the request's state, and refuses who has no token.

    It stands before the routes, so that a route cannot be forgotten. An open path is served to anyone; its
    caller is None where a token is wanted and none that is known was sent.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # several are one with commas (RFC 9110, section 5.3), which is no token: none of them is chosen
        header = b", ".join(value for name, value in scope["headers"] if name == b"authorization")
        caller: Caller | None = None
        try:
            caller = self._tokens.caller(header.decode("latin-1"))
        except Unauthorized as refusal:
            if scope["path"].removeprefix(scope.get("root_path", "")) not in OPEN:
                await answer_to(refusal)(scope, receive, send)
                return
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, send)


def caller_of(request: HTTPConnection) -> Caller | None:
    """Who sent a request; None on an open path where nobody said so."""
    caller: Caller | None = request.state.caller
    return caller


def tenant_of(request: Request) -> str:
    """Whose work a request is; `""` where nobody has to say so."""
    caller = caller_of(request)
    return caller.tenant if caller else ""


class _Needs(HTTPBearer):
    """Lets only callers with one scope in, and shows in the OpenAPI document that a token is wanted.

    `Authentication` has looked at the token before, so nothing of `HTTPBearer` is used but its entry: as a
    dependency of its own it costs a small request a tenth of its time.
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__(scheme_name="token", bearerFormat="rubricate_…", auto_error=False)
        self._scope = scope

    async def __call__(self, request: HTTPConnection) -> None:
        """Let a request pass; raises `Forbidden`."""
        caller = caller_of(request)
        if caller is None or not caller.may(self._scope):
            name = f"the token {caller.name!r}" if caller else "a request without a token"
            raise Forbidden(f"{request.url.path} needs the scope `{self._scope}`, which {name} lacks")


def needs(scope: Scope) -> Dependency:
    """A dependency that lets only callers with this scope in: `APIRouter(dependencies=[needs("score")])`."""
    dependency: Dependency = Depends(_Needs(scope))
    return dependency
