"""Which replica a response goes to: the same for all its criteria, whoever asks."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

SLACK = 1.25
"""No replica is given new work while it has this many times the mean."""


def choose(prefix: bytes, loads: Mapping[str, int]) -> str:
    """The replica for all that begins with one prefix.

    Rendezvous hashing (Thaler and Ravishankar 1996): each prefix ranks the replicas in its own random order,
    so that a replica that comes or goes moves no prefix between the others. With bounded loads (Mirrokni,
    Thorup and Zadimoghaddam 2016): the first of them is taken whose load is below ``SLACK`` times the mean,
    this one included.

    Args:
        prefix: Digest of what the prompts share.
        loads: Calls that each replica has to answer, waiting ones included, by its name; at least one.
    """
    bound = math.ceil(SLACK * (sum(loads.values()) + 1) / len(loads))
    open_ = (name for name, load in loads.items() if load < bound)
    return max(open_, key=lambda name: _weight(prefix, name))


def _weight(prefix: bytes, name: str) -> bytes:
    return hashlib.blake2b(len(prefix).to_bytes(8, "big") + prefix + name.encode(), digest_size=8).digest()
