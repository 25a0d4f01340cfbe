"""One server that is asked over HTTP: its address, its key, and exchanges that end in time."""

from __future__ import annotations

import asyncio
import base64
import math
import os
import socket
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from rubricate_service.judge.reading import JudgeFailure

_MAX_BODY = 4 << 20  # bytes; an answer with log-probabilities has a few thousand

Address = tuple[str, int]
"""An IP address and a port."""


class Reply(NamedTuple):
    """What a server answered: its status, its body, and the seconds of its ``Retry-After``, if any."""

    status: int
    body: bytes
    retry_after: float | None = None


class Connection:
    """The way to one server. Proxies of the environment are ignored and redirects are not followed.

    Args:
        url: Its address, with or without ``/v1``; may hold ``user:password@`` for basic authentication.
        api_key: Bearer token, or None.
        address: IP address and port to connect to instead of those that the host's name leads to, or None;
            the ``Host`` header and the name that TLS checks stay the URL's.

    Attributes:
        place: What it is called in messages; holds no secret.

    Raises:
        ValueError: ``url`` is not an http or https address.
    """

    def __init__(self, url: str, api_key: str | None = None, address: Address | None = None):
        base = URL(url.rstrip("/").removesuffix("/v1"))
        if base.scheme not in ("http", "https") or not base.host:
            raise ValueError("a judge's URL looks like http://host:8000 or https://host/v1")
        host, port = address or (base.host, base.port)
        self.place = f"the judge at {host}:{port}"
        self._resolver = _OneAddress(address) if address else None
        self._base = base.with_user(None)
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key.strip()}"
        elif base.user is not None:
            pair = base64.b64encode(f"{base.user}:{base.password or ''}".encode())
            self._headers["Authorization"] = f"Basic {pair.decode()}"
        self._urls: dict[str, URL] = {}
        self._session: aiohttp.ClientSession | None = None

    async def call(
        self,
        method: str,
        path: str,
        data: bytes | None,
        deadline: float,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """One exchange, the whole of it bounded by the deadline.

        Raises:
            JudgeFailure: ``timeout``, ``unreachable``, or ``unreadable`` for a body without end.
        """
        url = self._urls.get(path)
        if url is None:  # taken apart and put together once, not for every call
            url = self._urls[path] = self._base / path
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
                raise JudgeFailure("timeout", f"{self.place} did not answer before the deadline") from None
            raise JudgeFailure(
                "unreachable", f"{self.place} cannot be reached ({_reason(error)}); check that it runs"
            ) from None
        return Reply(answer.status, body, _seconds(answer.headers.get("Retry-After")))

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

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


def _seconds(retry_after: str | None) -> float | None:
    """A ``Retry-After`` of seconds or of an HTTP date, in seconds from now.

    None where it makes no sense, or says that this is no reason to wait: who says so is busy all the same.
    """
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return seconds if 0 < seconds < math.inf else None


def _reason(error: Exception) -> str:
    """What went wrong, without the address: an error's text may hold the URL and what is secret in it."""
    cause = getattr(error, "os_error", error)
    if isinstance(cause, OSError) and cause.errno and cause.errno > 0:
        return os.strerror(cause.errno)
    return type(error).__name__
