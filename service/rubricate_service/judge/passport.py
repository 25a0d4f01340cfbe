"""Who a judge is: learned once, confirmed by every answer, and part of every verdict's key."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from rubricate_service.cache import Cache
from rubricate_service.judge.key import digest
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import Completion, Identified, Identity

log = logging.getLogger("rubricate.judge")

_SNAPSHOT = re.compile(r"-\d{4}(-?\d{2}-?\d{2})?")  # -2026-05-13, -20260513, -0513


class Signing(Identified, Protocol):
    """Who says who it is, and signs its answers."""

    @property
    def fingerprints(self) -> frozenset[str]:
        """The ``system_fingerprint`` of each that answers now, "" for none; empty before the first answer."""

    def expect(self, fingerprints: frozenset[str]) -> None:
        """Take these for those of answers that came before this process began."""


class Passport:
    """The identities under which a judge's verdicts are kept, and under which they are looked for.

    A verdict is kept under what the judge said of itself when it was first asked, together with the
    ``system_fingerprint`` of the answer. It is looked for under every fingerprint that is served now: while
    replicas are replaced one by one these are two, and neither one's verdicts are asked for again. The cache
    remembers the fingerprints, so that a restarted service finds what this configuration judged before, and
    nothing of an older one's.

    Attributes:
        first: What the judge said when it was first asked.
        current: Who gave the last answer.
    """

    def __init__(self, first: Identity, judge: Signing, cache: Cache):
        self.first = self.current = first
        self._judge = judge
        self._cache = cache
        self._remembered: frozenset[str] = frozenset()

    @classmethod
    async def issue(cls, judge: Signing, cache: Cache, deadline: float) -> Passport:
        """Ask the judge who it is.

        Raises:
            JudgeFailure: It did not say so.
        """
        identity = await judge.identify(deadline)
        log.info("the judge is %s (%s)", identity.model, identity.fingerprint)
        passport = cls(identity, judge, cache)
        passport.current = (await passport.served())[0]
        return passport

    async def served(self) -> list[Identity]:
        """The identities whose verdicts count now, at least one."""
        if not self._judge.fingerprints:
            await self._recall()
        fingerprints = sorted(self._judge.fingerprints)
        return [_signed(self.first, fingerprint) for fingerprint in fingerprints] or [self.first]

    def confirm(self, completion: Completion) -> Identity:
        """The identity that gave this completion.

        Raises:
            JudgeFailure: ``identity``: another model answered than the one that was asked.
        """
        if completion.model and not is_same_model(self.first.model, completion.model):
            raise JudgeFailure(
                "identity",
                f"the answer came from {completion.model!r}, and the judge is {self.first.model!r}; "
                "serve that model again, or restart the service to take the new one",
            )
        self._remember(self._judge.fingerprints)
        self.current = _signed(self.first, completion.system_fingerprint or "")
        return self.current

    async def _recall(self) -> None:
        key = _memory_key(self.first)
        remembered = (await self._cache.get_many([key])).get(key)
        if remembered is not None and not self._judge.fingerprints:
            self._remembered = frozenset(json.loads(remembered))
            self._judge.expect(self._remembered)

    def _remember(self, fingerprints: frozenset[str]) -> None:
        if not fingerprints or fingerprints == self._remembered:
            return  # none: the answer is that of a replica that is gone, and no other has answered yet
        if self._remembered:
            log.warning(
                "the judge answers with the system_fingerprints %s now, and before with %s: what was judged "
                "under one that is gone is judged again",
                sorted(fingerprints),
                sorted(self._remembered),
            )
        self._remembered = fingerprints
        self._cache.put_many({_memory_key(self.first): json.dumps(sorted(fingerprints)).encode()})


def is_same_model(asked: str, answered: str) -> bool:
    """Whether a name in an answer means the model that was asked.

    It does when the two are the same but for the folder or organisation before them, or when the answer adds
    the date of a snapshot (``<model>-2026-05-13``).
    """
    asked, answered = (name.rstrip("/").rpartition("/")[2] for name in (asked, answered))
    suffix = answered.removeprefix(asked)
    return answered == asked or (suffix != answered and _SNAPSHOT.fullmatch(suffix) is not None)


@lru_cache(256)
def _signed(first: Identity, system_fingerprint: str) -> Identity:
    if not system_fingerprint:
        return first
    rolled = digest((first.fingerprint, system_fingerprint))
    return replace(first, fingerprint=f"sha256:{rolled.hex()}")


def _memory_key(identity: Identity) -> bytes:
    return digest(("system_fingerprints", identity.model, identity.fingerprint))
