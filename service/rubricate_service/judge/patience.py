"""How often a question is asked again after a failure, and how long is waited before."""

from __future__ import annotations

import random

from rubricate_service.judge.budget import RetryBudget
from rubricate_service.judge.reading import JudgeFailure

_CLASS = {"unreachable": "infrastructure", "unreadable": "content", "truncated": "content"}
_PAUSE_S = 0.1


class Patience:
    """The retries left to one question, as far as all questions together have any left.

    The engine's machinery failing is retried twice and an answer that cannot be read once. An engine that
    turns a question away before any work, being overloaded, is asked again for as long as there is time, at
    nobody's expense. Nothing else is asked again: the same question would fail in the same way.

    Args:
        budget: The retries that all questions share.
    """

    def __init__(self, budget: RetryBudget) -> None:
        self._budget = budget
        self._left = {"infrastructure": 2, "content": 1}
        self._bound_s = _PAUSE_S

    def pause(self, failure: JudgeFailure) -> float | None:
        """Seconds to wait before the next attempt, or None when there shall be none.

        After a failure of the machinery they are drawn evenly from zero to a bound that doubles each time
        ("full jitter"), so that those who failed together do not come back together. An overloaded engine's
        ``retry_after`` is waited for in full.
        """
        if failure.kind == "overloaded":
            return failure.retry_after or 0.0
        failure_class = _CLASS.get(failure.kind)
        if failure_class is None or not self._left[failure_class] or not self._budget.withdraw():
            return None
        self._left[failure_class] -= 1
        return 0.0 if failure_class == "content" else self._jitter()

    def _jitter(self) -> float:
        bound = self._bound_s
        self._bound_s *= 2
        return random.uniform(0.0, bound)  # noqa: S311  not a secret
