"""Who a judge's engine is: learned once, confirmed by every answer."""

from __future__ import annotations

import logging
import re
from dataclasses import replace

from rubricate_service.cache import Cache
from rubricate_service.judge.engine import Completion, Identified, Identity
from rubricate_service.judge.key import digest
from rubricate_service.judge.reading import JudgeFailure

log = logging.getLogger("rubricate.judge")

_SNAPSHOT = re.compile(r"-\d{4}(-?\d{2}-?\d{2})?")  # -2026-05-13, -20260513, -0513


class Passport:
    """The identity under which an engine's verdicts are kept.

    It is what the engine said when it was first asked, together with the ``system_fingerprint`` of its last
    answer. The cache remembers that fingerprint, so that a restarted service finds what this configuration
    judged before, and nothing of an older one's.

    Attributes:
        first: What the engine said when it was first asked.
        current: The identity under which verdicts are kept now.
    """

    def __init__(self, first: Identity, system_fingerprint: str | None, cache: Cache):
        self.first = first
        self._cache = cache
        self._stamp(system_fingerprint)

    @classmethod
    async def issue(cls, engine: Identified, cache: Cache, deadline: float) -> Passport:
        """Ask the engine who it is.

        Raises:
            JudgeFailure: It did not say so.
        """
        identity = await engine.identify(deadline)
        log.info("the judge is %s (%s)", identity.model, identity.fingerprint)
        passport = cls(identity, None, cache)
        await passport.recall()
        return passport

    async def recall(self) -> None:
        """Take over the ``system_fingerprint`` that the cache remembers, if there was no answer yet."""
        if self._system_fingerprint is None:
            key = _memory_key(self.first)
            remembered = (await self._cache.get_many([key])).get(key)
            if remembered is not None and self._system_fingerprint is None:
                self._stamp(remembered.decode())

    def confirm(self, completion: Completion) -> Identity:
        """The identity that gave this completion; a new ``system_fingerprint`` becomes part of it.

        Raises:
            JudgeFailure: ``identity``: another model answered than the one that was asked.
        """
        if completion.model and not is_same_model(self.first.model, completion.model):
            raise JudgeFailure(
                "identity",
                f"the answer came from {completion.model!r}, and the judge is {self.first.model!r}; "
                "serve that model again, or restart the service to take the new one",
            )
        fingerprint = completion.system_fingerprint
        if fingerprint and fingerprint != self._system_fingerprint:
            if self._system_fingerprint is not None:
                log.warning("the judge's system_fingerprint changed: what it judged before is not used now")
            self._stamp(fingerprint)
            self._cache.put_many({_memory_key(self.first): fingerprint.encode("utf-8", "replace")})
        return self.current

    def _stamp(self, system_fingerprint: str | None) -> None:
        self._system_fingerprint = system_fingerprint
        self.current = self.first
        if system_fingerprint is not None:
            rolled = digest((self.first.fingerprint, system_fingerprint))
            self.current = replace(self.first, fingerprint=f"sha256:{rolled.hex()}")


def is_same_model(asked: str, answered: str) -> bool:
    """Whether a name in an answer means the model that was asked.

    It does when the two are the same but for the folder or organisation before them, or when the answer adds
    the date of a snapshot (``<model>-2026-05-13``).
    """
    asked, answered = (name.rstrip("/").rpartition("/")[2] for name in (asked, answered))
    suffix = answered.removeprefix(asked)
    return answered == asked or (suffix != answered and _SNAPSHOT.fullmatch(suffix) is not None)


def _memory_key(identity: Identity) -> bytes:
    return digest(("system_fingerprint", identity.model, identity.fingerprint))
