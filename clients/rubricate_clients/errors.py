"""Errors of the clients, named by who failed.

    RewardServiceError        all of them
    ├── InvalidRequest        the caller: a request that cannot be scored (found here, or 400, 413, 422)
    ├── Unauthorized          the caller's token (401, 403)
    ├── NotFound              the caller asked for what is not there, such as an unknown check id (404)
    ├── Conflict              the caller used one idempotency key for two different requests (409)
    ├── ServiceUnavailable    the service: unreachable, overloaded or broken until no retry fitted (429, 5xx)
    ├── DeadlineExceeded      the service: no answer within the client's `timeout_s`
    └── AnswerMismatch        the answer: not readable, or not an answer to what was asked

None of them carries a score, and each can be pickled, as Ray and multiprocessing ask.
A rubric that could not be decided is no error: its verdict is `failed`, beside the decided ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from rubricate_clients.faults import ErrorDetail


class RewardServiceError(Exception):
    """A call that brought no scores.

    Attributes:
        message: What was wrong and what to do, for people.
        status: HTTP status of the answer; None when there was none.
        type: The error type of contract section 1; `""` when the service did not name one.
        details: Every single fault with its path in the request.
    """

    def __init__(
        self, message: str, status: int | None = None, type: str = "", details: Sequence[ErrorDetail] = ()
    ) -> None:
        # all four are handed on as `args`, since pickle calls the class with these again
        super().__init__(message, status, type, tuple(details))
        self.message = message
        self.status = status
        self.type = type
        self.details = tuple(details)

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"  {d.path or '(body)'}: {d.message}" for d in self.details)])


class InvalidRequest(RewardServiceError):
    """The request cannot be scored as it is; `details` lists every fault, and nothing was scored."""


class Unauthorized(RewardServiceError):
    """The service does not take this client's token, or does not allow it this."""


class NotFound(RewardServiceError):
    """The service does not have what was asked for."""


class Conflict(RewardServiceError):
    """The idempotency key was used before, for another request."""


class ServiceUnavailable(RewardServiceError):
    """The service could not be reached or could not serve, and the next retry did not fit the deadline."""


class DeadlineExceeded(RewardServiceError):
    """The service did not answer within `timeout_s` seconds."""


class AnswerMismatch(RewardServiceError):
    """What came back is not the answer to what was sent; its scores must not be used."""
