"""How often a question is asked again after a failure, and how long is waited before."""

from __future__ import annotations

import random

from rubricate_service.judge.reading import JudgeFailure

_CLASS = {"unreachable": "infrastructure", "unreadable": "content", "truncated": "content"}
_BASE_S = {"infrastructure": 0.1, "overload": 0.25}
_CAP_S = 5.0


class Patience:
    """The retries left to one question.

    The engine's machinery failing is retried twice and an answer that cannot be read once. An engine that
    turns a question away before any work, being overloaded, is asked again for as long as there is time.
    Nothing else is asked again: the same question would fail in the same way.
    """

    def __init__(self) -> None:
        self._left = {"infrastructure": 2, "content": 1}
        self._attempts = {"infrastructure": 0, "overload": 0}

    def pause(self, failure: JudgeFailure) -> float | None:
        """Seconds to wait before the next attempt, or None when there shall be none.

        Pauses are drawn evenly from zero to a bound that doubles each time ("full jitter"), so that those
        who failed together do not come back together. An overloaded engine's ``retry_after`` is waited for
        in full.
        """
        if failure.kind == "overloaded":
            return max(failure.retry_after or 0.0, self._jitter("overload"))
        failure_class = _CLASS.get(failure.kind)
        if failure_class is None or not self._left[failure_class]:
            return None
        self._left[failure_class] -= 1
        return 0.0 if failure_class == "content" else self._jitter(failure_class)

    def _jitter(self, name: str) -> float:
        bound = min(_CAP_S, _BASE_S[name] * 2 ** self._attempts[name])
        self._attempts[name] += 1
        return random.uniform(0.0, bound)  # noqa: S311  not a secret
