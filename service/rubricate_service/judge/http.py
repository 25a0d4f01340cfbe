"""The engine that is reached over HTTP: vLLM, or any other OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import math
import os
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import orjson
from yarl import URL

from rubricate_service.judge.chat import read_answer, read_error, request_body
from rubricate_service.judge.engine import Completion, Identity
from rubricate_service.judge.reading import JudgeFailure

log = logging.getLogger("rubricate.judge")

_MAX_BODY = 4 << 20  # bytes; an answer with log-probabilities has a few thousand
_VOLATILE = frozenset({"created", "permission"})  # of a model's entry: they differ after every restart


class HttpEngine:
    """One chat endpoint. Proxies of the environment are ignored and redirects are not followed.

    Args:
        url: Its address, with or without ``/v1``; may hold ``user:password@`` for basic authentication.
        model: The model to ask for, or None for the first one it serves.
        api_key: Bearer token, or None.

    Raises:
        ValueError: ``url`` is not an http or https address.
    """

    def __init__(self, url: str, model: str | None = None, api_key: str | None = None):
        base = URL(url.rstrip("/").removesuffix("/v1"))
        if base.scheme not in ("http", "https") or not base.host:
            raise ValueError("a judge's URL looks like http://host:8000 or https://host/v1")
        self._place = f"the judge at {base.host}:{base.port}"
        self._models = base.with_user(None) / "v1/models"
        self._chat = base.with_user(None) / "v1/chat/completions"
        self._named = model
        self._model = model
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key.strip()}"
        elif base.user is not None:
            pair = base64.b64encode(f"{base.user}:{base.password or ''}".encode())
            self._headers["Authorization"] = f"Basic {pair.decode()}"
        self._session: aiohttp.ClientSession | None = None

    async def identify(self, deadline: float) -> Identity:
        """The model to ask for, and a digest of what ``/v1/models`` says of it.

        Where the endpoint lists no models but one was named, the digest is that of the name.
        """
        status, headers, body = await self._call("GET", self._models, None, deadline)
        entries = _entries(body) if status == 200 else []
        wanted = self._named or (entries[0]["id"] if entries else None)
        if wanted is None or status in (401, 402, 403, 429) or status >= 500:
            if status == 200:
                raise JudgeFailure(
                    "unreadable", f"{self._place} lists no model at /v1/models; name the judge's model"
                )
            raise read_error(status, body, _seconds(headers.get("Retry-After")), "")
        entry = next((entry for entry in entries if entry["id"] == wanted), None)
        if entry is None:
            log.warning(
                "%s does not list %s at /v1/models; it is known by its name alone", self._place, wanted
            )
        kept = {k: v for k, v in (entry or {"id": wanted}).items() if k not in _VOLATILE}
        canonical = orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
        self._model = self._model or wanted  # asked for even when the server changes under it
        return Identity(wanted, f"sha256:{hashlib.sha256(canonical).hexdigest()}")

    async def complete(self, messages: Sequence[Mapping[str, str]], deadline: float) -> Completion:
        """One call of ``/v1/chat/completions``."""
        model = self._model or (await self.identify(deadline)).model
        data = orjson.dumps(request_body(model, messages))
        status, headers, body = await self._call("POST", self._chat, data, deadline)
        if status == 200:
            return read_answer(body)
        sent = "\n".join(message["content"] for message in messages)
        raise read_error(status, body, _seconds(headers.get("Retry-After")), sent)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _call(
        self, method: str, url: URL, data: bytes | None, deadline: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of one exchange, the whole of it bounded by the deadline.

        Raises:
            JudgeFailure: ``timeout``, ``unreachable``, or ``unreadable`` for a body without end.
        """
        try:
            async with (
                asyncio.timeout_at(deadline) as limit,
                self._connected().request(method, url, data=data, allow_redirects=False) as answer,
            ):
                body = await _bounded_body(answer)
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            if limit.expired():
                raise JudgeFailure("timeout", f"{self._place} did not answer before the deadline") from None
            raise JudgeFailure(
                "unreachable", f"{self._place} cannot be reached ({_reason(error)}); check that it runs"
            ) from None
        return answer.status, answer.headers, body

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:  # belongs to the event loop that first asks
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                connector=aiohttp.TCPConnector(limit=0),  # the judge bounds what is in flight
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # the deadline is the one limit
                trust_env=False,
            )
        return self._session


async def _bounded_body(answer: aiohttp.ClientResponse) -> bytes:
    chunks = []
    size = 0
    async for chunk in answer.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > _MAX_BODY:
            raise JudgeFailure("unreadable", f"the judge's answer goes on past {_MAX_BODY >> 20} MB")
    return b"".join(chunks)


def _entries(body: bytes) -> list[dict[str, Any]]:
    """The models that a body of ``/v1/models`` lists."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return []
    entries = value.get("data") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]


def _seconds(retry_after: str | None) -> float | None:
    """A ``Retry-After`` of seconds or of an HTTP date, in seconds from now; None where it makes no sense."""
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except ValueError:
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _reason(error: Exception) -> str:
    """What went wrong, without the address: an error's text may hold the URL and what is secret in it."""
    cause = getattr(error, "os_error", error)
    if isinstance(cause, OSError) and cause.errno and cause.errno > 0:
        return os.strerror(cause.errno)
    return type(error).__name__
