"""The adapters' log, and what is told there once instead of at every step."""

from __future__ import annotations

import logging
from functools import cache

log = logging.getLogger("rubricate.adapters")


@cache
def warn_once(text: str) -> None:
    """Log a warning that this process has not logged yet."""
    log.warning(text)
