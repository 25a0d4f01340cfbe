"""What a client knows before it opens a connection."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlsplit

from rubricate_clients._call import Call


class BaseClient:
    """Where the service is and how long it may take."""

    def __init__(self, url: str, token: str | None = None, timeout_s: float = 120.0) -> None:
        parts = urlsplit(url)
        if "@" in parts.netloc:
            raise ValueError("the address has a user or password in it; give the token as `token` instead")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{url!r} is not the address of a service, such as 'http://127.0.0.1:8080'")
        _ = parts.port  # a ValueError where it is none
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ValueError("the token has characters that no header can carry; is there a newline in it?")
        if not (timeout_s > 0 and math.isfinite(timeout_s)):
            raise ValueError(f"`timeout_s` is {timeout_s}; it must be a finite number of seconds above 0")
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s
        self._token = token

    def __reduce__(self) -> tuple[Any, ...]:
        # connections stay here; a copy in another process opens its own
        return type(self), (self.url, self._token, self.timeout_s)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, timeout_s={self.timeout_s})"

    def _call(self, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Call:
        """A call whose time runs from now: a POST of the body, or a GET where there is none."""
        own = {"Accept": "application/json", **(headers or {})}
        if body is not None:
            own["Content-Type"] = "application/json"
        if self._token is not None:
            own["Authorization"] = f"Bearer {self._token}"
        return Call("GET" if body is None else "POST", self.url + path, own, body, self.timeout_s)
