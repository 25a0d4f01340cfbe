"""One call of the API: its attempts, when to try again, and the error that ends it. No I/O."""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from pydantic import ValidationError

from rubricate_clients.errors import (
    AnswerMismatch,
    Conflict,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    RewardServiceError,
    ServiceUnavailable,
    Unauthorized,
)
from rubricate_clients.wire import ErrorAnswer

CONNECT_S = 15.0
"""Seconds after which an attempt to connect is given up, so that another one may meet a living replica."""

_BACKOFF_S, _BACKOFF_MAX_S = 0.25, 10.0
_USEFUL_S, _USEFUL_SHARE = 1.0, 0.1  # what the last attempt has left, the lesser of seconds and share
_RETRIED = frozenset({429, 500, 502, 503, 504})
_ERRORS: dict[int, type[RewardServiceError]] = {
    401: Unauthorized,
    403: Unauthorized,
    404: NotFound,
    409: Conflict,
}
_log = logging.getLogger("rubricate")


class Reply(NamedTuple):
    """An HTTP answer, as far as the core looks at it."""

    status: int
    retry_after: str | None
    body: bytes


@dataclass
class Call:
    """One call of the API with all its attempts, inside one deadline of `timeout_s` seconds."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None
    timeout_s: float
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[], float] = random.random
    attempts: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._ends = self.clock() + self.timeout_s
        self._useful_s = min(_USEFUL_S, _USEFUL_SHARE * self.timeout_s)
        self._internal = 0
        self._last_try = False
        self._failure: RewardServiceError | None = None

    def time_left(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self._ends - self.clock())

    def after(self, outcome: Reply | Exception) -> float:
        """Seconds to wait before the next attempt, after one that brought no answer.

        A connection error, 429, 502, 503 and 504 are tried again until the deadline, with full jitter
        (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/) on top of what a
        `Retry-After` asks for. A wait that would outlast the deadline is cut, so that a last attempt is made
        in time. A 500 is tried again once: another replica may do better, but a bug stays.

        Raises:
            RewardServiceError: No further attempt is of use, or none fits the time left.
        """
        if isinstance(outcome, Exception) and not self.time_left():
            raise self.expired() from outcome
        self.attempts += 1
        error = self._error(outcome)
        self._internal += error.status == 500
        if not isinstance(error, ServiceUnavailable) or self._internal > 1:
            raise error
        doublings = min(self.attempts - 1, 8)  # far beyond the cap, and no overflow after a day of attempts
        asked_s = retry_after_s(outcome.retry_after, time.time()) if isinstance(outcome, Reply) else 0.0
        wait_s = asked_s + self.draw() * min(_BACKOFF_MAX_S, _BACKOFF_S * (1 << doublings))
        room_s = self.time_left() - self._useful_s
        if self._last_try or room_s <= 0 or asked_s > room_s:
            wish = f"the service asks for a pause of {asked_s:.1f} s, and " if asked_s else ""
            message = (
                f"{error.message} (attempt {self.attempts}, the last that fits: {wish}"
                f"{self.time_left():.1f} of {self.timeout_s:g} s are left)"
            )
            raise ServiceUnavailable(message, error.status, error.type, error.details)
        if wait_s > room_s:
            wait_s, self._last_try = room_s, True
        self._failure = error
        _log.warning("%s; trying again in %.1f s", error.message, wait_s)
        return wait_s

    def expired(self) -> DeadlineExceeded:
        """The error of a call whose time is over; `details` are those of the attempt before, if it failed."""
        before = f" The attempt before failed: {self._failure.message}." if self._failure else ""
        return DeadlineExceeded(
            f"{self.method} {self.url}: no answer within {self.timeout_s:g} s (attempt {self.attempts + 1})."
            f"{before} Raise the client's `timeout_s`, or send fewer groups a call.",
            details=self._failure.details if self._failure else (),
        )

    def _error(self, outcome: Reply | Exception) -> RewardServiceError:
        where = f"{self.method} {self.url}"
        if isinstance(outcome, Exception):
            return ServiceUnavailable(f"{where}: cannot be reached: {str(outcome) or type(outcome).__name__}")
        status = outcome.status
        try:
            fault = ErrorAnswer.model_validate_json(outcome.body).error
            message, type_, details = fault.message, fault.type, fault.details
        except ValidationError:
            message, type_, details = f"not the service's own answer: {_excerpt(outcome.body)}", "", []
        if status in _RETRIED:
            kind: type[RewardServiceError] = ServiceUnavailable
        elif 400 <= status < 500:
            kind = _ERRORS.get(status, InvalidRequest)
        else:
            kind = AnswerMismatch
        return kind(f"{where}: {status} {message}", status, type_, details)


def _excerpt(body: bytes) -> str:
    text = body.decode(errors="replace")
    return repr(text if len(text) <= 200 else text[:200] + "…")


def retry_after_s(value: str | None, now: float) -> float:
    """Seconds that a `Retry-After` header asks for: a number of them or an HTTP date (RFC 9110, 10.2.3).

    Args:
        value: The header; 0 for None and for what is neither.
        now: Unix time in seconds, from which a date counts.
    """
    if value is None:
        return 0.0
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return 0.0
