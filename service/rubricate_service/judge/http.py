"""The engine that is reached over HTTP: vLLM, or any other OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import math
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import orjson
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from rubricate_service.judge.chat import (
    body_for_all,
    read_answer,
    read_error,
    refuses_structured_outputs,
    request_body,
)
from rubricate_service.judge.engine import Completion, Identity
from rubricate_service.judge.prefill import learn_label_ids, prefilled_body, read_prefilled
from rubricate_service.judge.reading import JudgeFailure

log = logging.getLogger("rubricate.judge")

_MAX_BODY = 4 << 20  # bytes; an answer with log-probabilities has a few thousand
_VOLATILE = frozenset({"created", "permission"})  # of a model's entry: they differ after every restart


Address = tuple[str, int]
"""An IP address and a port."""


class HttpEngine:
    """One chat endpoint. Proxies of the environment are ignored and redirects are not followed.

    Args:
        url: Its address, with or without ``/v1``; may hold ``user:password@`` for basic authentication.
        model: The model to ask for, or None for the first one it serves.
        api_key: Bearer token, or None.
        address: IP address and port to connect to instead of those that the host's name leads to, or None;
            the ``Host`` header and the name that TLS checks stay the URL's.
        by_schema: Whether labels are asked for by ``response_format`` from the start.

    Raises:
        ValueError: ``url`` is not an http or https address.
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        api_key: str | None = None,
        address: Address | None = None,
        *,
        by_schema: bool = False,
    ):
        base = URL(url.rstrip("/").removesuffix("/v1"))
        if base.scheme not in ("http", "https") or not base.host:
            raise ValueError("a judge's URL looks like http://host:8000 or https://host/v1")
        host, port = address or (base.host, base.port)
        self._place = f"the judge at {host}:{port}"
        self._resolver = _OneAddress(address) if address else None
        self._base = base.with_user(None)
        self._models = self._base / "v1/models"
        self._chat = self._base / "v1/chat/completions"
        self._named = model
        self._model = model
        self._label_ids: tuple[int, ...] = ()
        self._learned_of = ""  # the fingerprint of the model whose label ids these are
        self._is_schema_wanted = by_schema
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
        fingerprint = f"sha256:{hashlib.sha256(canonical).hexdigest()}"
        if fingerprint != self._learned_of:
            self._label_ids = await learn_label_ids(self._post, wanted, deadline)
            self._learned_of = fingerprint
        self._model = self._model or wanted  # asked for even when the server changes under it
        return Identity(wanted, fingerprint, "prefilled" if self._label_ids else "plain")

    async def complete(
        self,
        messages: Sequence[Mapping[str, str]],
        deadline: float,
        prefix: bytes = b"",
        ids: Sequence[str] = (),
    ) -> Completion:
        """One call of ``/v1/chat/completions``.

        An endpoint that refuses ``structured_outputs`` is asked by ``response_format`` from then on. The
        answer differs a little, so that the completion's ``system_fingerprint`` says it.

        Routers find the prefix in ``X-Session-Id``, by which vllm-router's ``consistent_hash`` spreads calls.
        """
        model = self._model or (await self.identify(deadline)).model
        sent = "\n".join(message["content"] for message in messages)
        session = {"X-Session-Id": prefix.hex()} if prefix else None
        by_schema = self._is_schema_wanted
        is_begun = bool(self._label_ids) and messages[-1]["role"] == "assistant"
        if ids:
            wanted = body_for_all(model, messages, ids)
        elif is_begun:
            wanted = prefilled_body(model, messages, self._label_ids)
        else:
            wanted = request_body(model, messages, by_schema=by_schema)
        status, headers, body = await self._call("POST", self._chat, orjson.dumps(wanted), deadline, session)
        if not by_schema and refuses_structured_outputs(status, body, sent):
            self._is_schema_wanted = True
            return await self.complete(messages, deadline, prefix, ids)
        if status != 200:
            raise read_error(status, body, _seconds(headers.get("Retry-After")), sent)
        completion = read_prefilled(body) if is_begun else read_answer(body)
        if by_schema:
            return replace(
                completion, system_fingerprint=f"{completion.system_fingerprint or ''} response_format"
            )
        return completion

    async def _post(self, path: str, wanted: Mapping[str, Any], deadline: float) -> tuple[int, bytes]:
        status, _, body = await self._call("POST", self._base / path, orjson.dumps(wanted), deadline)
        return status, body

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _call(
        self,
        method: str,
        url: URL,
        data: bytes | None,
        deadline: float,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of one exchange, the whole of it bounded by the deadline.

        Raises:
            JudgeFailure: ``timeout``, ``unreachable``, or ``unreadable`` for a body without end.
        """
        try:
            async with (
                asyncio.timeout_at(deadline) as limit,
                self._connected().request(
                    method, url, data=data, headers=headers, allow_redirects=False
                ) as answer,
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
                # the replica's limit bounds what is in flight
                connector=aiohttp.TCPConnector(limit=0, resolver=self._resolver),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # the deadline is the one limit
                trust_env=False,
            )
        return self._session


class _OneAddress(AbstractResolver):
    """Leads every name to one address."""

    def __init__(self, address: Address):
        self._address = address

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """That address."""
        ip, port = self._address
        family = socket.AF_INET6 if ":" in ip else socket.AF_INET
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [ResolveResult(hostname=host, host=ip, port=port, family=family, proto=0, flags=flags)]

    async def close(self) -> None:
        """Nothing to close."""


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
