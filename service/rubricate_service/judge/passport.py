"""Who a judge's engine is: learned once, confirmed by every answer."""

from __future__ import annotations

import asyncio
import logging
import re

from rubricate_service.cache import Cache
from rubricate_service.judge.engine import Completion, Engine, Identity
from rubricate_service.judge.key import digest
from rubricate_service.judge.reading import JudgeFailure

log = logging.getLogger("rubricate.judge")

_SNAPSHOT = re.compile(r"-\d{4}(-?\d{2}-?\d{2})?")  # -2026-05-13, -20260513, -0513


class Passport:
    """The identity under which an engine's verdicts are kept.

    It is the identity that the engine gave when it was first asked, together with the
    ``system_fingerprint`` of its last answer. That fingerprint is remembered in the cache, so that a
    restarted service finds what was judged before and not what an older configuration judged.

    Args:
        engine: Whom to ask.
        cache: Where the last ``system_fingerprint`` is remembered.
    """

    def __init__(self, engine: Engine, cache: Cache):
        self._engine = engine
        self._cache = cache
        self._lock = asyncio.Lock()
        self._system_fingerprint: str | None = None
        self.first: Identity | None = None
        """The identity that the engine gave, once it is known."""

    @property
    def current(self) -> Identity | None:
        """The identity under which verdicts are kept now, once it is known."""
        if self.first is None or self._system_fingerprint is None:
            return self.first
        rolled = digest((self.first.fingerprint, self._system_fingerprint))
        return Identity(self.first.model, f"sha256:{rolled.hex()}")

    async def learn(self, deadline: float) -> Identity:
        """The current identity; the engine is asked when it is not known yet.

        Raises:
            JudgeFailure: The engine did not say who it is.
        """
        async with self._lock:
            if self.first is None:
                identity = await self._engine.identify(deadline)
                key = _memory_key(identity)
                remembered = (await self._cache.get_many([key])).get(key)
                self._system_fingerprint = None if remembered is None else remembered.decode()
                self.first = identity
                log.info("the judge is %s (%s)", identity.model, identity.fingerprint)
        assert self.current is not None
        return self.current

    def confirm(self, completion: Completion) -> Identity:
        """The identity that gave this completion; a new ``system_fingerprint`` becomes part of it.

        Raises:
            JudgeFailure: ``identity``: another model answered than the one that was asked.
        """
        assert self.first is not None
        if completion.model and not is_same_model(self.first.model, completion.model):
            raise JudgeFailure(
                "identity",
                f"the answer came from {completion.model!r}, and the judge is {self.first.model!r}; "
                "serve that model again, or restart the service to take the new one",
            )
        fingerprint = completion.system_fingerprint
        if fingerprint and fingerprint != self._system_fingerprint:
            if self._system_fingerprint is not None:
                log.warning(
                    "the judge's system_fingerprint changed; its earlier verdicts are not used any more"
                )
            self._system_fingerprint = fingerprint
            self._cache.put_many({_memory_key(self.first): fingerprint.encode("utf-8", "replace")})
        assert self.current is not None
        return self.current


def is_same_model(asked: str, answered: str) -> bool:
    """Whether a name in an answer means the model that was asked.

    It does when it is the same, when it differs in the folder or organisation before it alone, or when it
    adds the date of a snapshot (``<model>-2026-05-13``).
    """
    asked, answered = asked.rstrip("/").rpartition("/")[2], answered.rstrip("/").rpartition("/")[2]
    return answered == asked or (
        answered.startswith(asked) and _SNAPSHOT.fullmatch(answered[len(asked) :]) is not None
    )


def _memory_key(identity: Identity) -> bytes:
    return digest(("system_fingerprint", identity.model, identity.fingerprint))
