"""What the cache asks of a store, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class StoreError(Exception):
    """The store did not do what it was asked; the message says why, and holds no secret."""


class StoreDown(StoreError):
    """The store's server does not answer, so that nothing can be asked of it for now."""


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a store holds.

    Attributes:
        entries: Verdicts in it, those that are expired and not yet removed included, and a few notes of
            the judge's own.
        bytes: What they take: of the file, or of the server's memory with all that is in it.
        most_bytes: The bound on ``bytes``, or None when there is none.
    """

    entries: int
    bytes: int
    most_bytes: int | None


class Store(Protocol):
    """Bytes under bytes, outside the process, in batches.

    The methods may raise anything: the cache takes that for a miss.
    """

    @property
    def name(self) -> str:
        """What it is, for people; holds no secret."""

    async def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Values of those keys that are there and not expired."""

    async def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep all values, in place of older ones."""

    async def stats(self) -> StoreStats:
        """What the store holds."""

    async def purge(self) -> int:
        """Remove everything; returns how many entries there were."""

    async def close(self) -> None:
        """Give back what the store holds open; a later call opens it again."""
