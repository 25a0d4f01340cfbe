"""Rubricate for trainers: the clients of the reward service, their errors, and the models of the wire.

Advantages are in `rubricate_clients.advantages`, a fake judge for tests in `rubricate_clients.testing`.
"""

from rubricate_clients.client import AsyncRewardClient, RewardClient
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
from rubricate_clients.wire import Group, Options, Response, Rubric, ScoreAnswer

__all__ = [
    "AnswerMismatch",
    "AsyncRewardClient",
    "Conflict",
    "DeadlineExceeded",
    "Group",
    "InvalidRequest",
    "NotFound",
    "Options",
    "Response",
    "RewardClient",
    "RewardServiceError",
    "Rubric",
    "ScoreAnswer",
    "ServiceUnavailable",
    "Unauthorized",
]
