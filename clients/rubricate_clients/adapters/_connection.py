"""The service, as an adapter's settings say where it is, and what becomes of responses it did not score."""

from __future__ import annotations

from typing import Any

from rubricate_clients.adapters._background import close_with
from rubricate_clients.adapters._log import log
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.client import AsyncRewardClient
from rubricate_clients.errors import RewardServiceError


class Unscored(RewardServiceError):
    """Nothing could be scored, and the settings say to raise rather than to mask."""


class Connection:
    """The service with the settings' deadline and token; copies in other processes open their own."""

    def __init__(self, settings: AdapterSettings) -> None:
        self.settings = settings
        token = settings.token.get_secret_value() if settings.token else None
        self._client = AsyncRewardClient(settings.url, token, settings.timeout_s)
        close_with(self, self._client)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.settings,)

    def _lost(self, count: int, why: str, cause: Exception | None = None) -> None:
        """Nothing of a call's `count` responses was scored: raise it or mask them, as the settings say.

        Raises:
            Unscored: The settings say so.
        """
        if self.settings.unscored == "raise":
            raise Unscored(
                f"{_none_of(count)}: {why}. To leave such responses out of training instead, "
                "set `unscored` to `mask`"
            ) from cause
        tell_masked(count, why)


def tell_masked(count: int, why: str) -> None:
    """Log that `count` responses, all of a call, are left out of training."""
    log.warning("%s, masked: %s", _none_of(count), why)


def _none_of(count: int) -> str:
    return "the response could not be scored" if count == 1 else f"none of {count} responses could be scored"
