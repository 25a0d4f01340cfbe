"""Where the members of a group meet: in this process, or elsewhere (`redis_place`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from cachetools import TTLCache
from pydantic import BaseModel

from rubricate_service.compat.result import Result

RETRY_S = 60.0
"""How long what a member's retry needs waits for it: the result that was not handed over, and its round."""

Answered = Callable[[str, Result], None]
"""Takes the answer for the seat of this name."""


class Seat(BaseModel):
    """A member that waits: a name of its own, its response, and the process that waits for it."""

    name: str
    text: str
    host: str


class Place(Protocol):
    """Seats by the key of their group, results that were not handed over, and rounds with undecided members.

    Whoever is given a group's seats must score them: they are not there any more. All methods may raise
    `Unavailable`.
    """

    host: str
    """Name of this process among those that meet here."""

    async def open(self, answered: Answered) -> None:
        """Begin: answers for seats of this process go to `answered`."""

    async def join(self, key: str, seat: Seat, size: int) -> list[Seat] | None:
        """Take a seat; gives all seats once they are `size`."""

    async def take(self, key: str, seat: Seat) -> list[Seat]:
        """All seats of the group that this seat is of, empty when somebody else has them."""

    async def leave(self, key: str, seat: Seat) -> bool:
        """Give a seat back; False when it is not there any more."""

    async def deliver(self, answers: Sequence[tuple[Seat, Result]]) -> None:
        """Hand results to the processes that wait for them."""

    async def put(self, name: str, result: Result) -> None:
        """Put a result aside for whoever asks next; several under one name are given out one by one."""

    async def pop(self, name: str) -> Result | None:
        """Take a result that was put aside in the last `RETRY_S` seconds."""

    async def keep(self, round: str, texts: Sequence[str]) -> None:
        """Keep the responses of a round, so that any of them can be scored among the others again."""

    async def kept(self, round: str) -> list[str] | None:
        """The responses of a round, which is kept for another `RETRY_S`; None when it is gone."""

    async def close(self) -> None:
        """Let go of everything."""


class LocalPlace:
    """A place within one process.

    Args:
        most: Under how many names it puts results aside; the oldest make room.
        most_bytes: How much memory the rounds take that it keeps; likewise.
    """

    host = ""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._groups: dict[str, dict[str, Seat]] = {}
        self._aside: TTLCache[str, list[Result]] = TTLCache(most, RETRY_S)
        self._rounds: TTLCache[str, list[str]] = TTLCache(most_bytes, RETRY_S, getsizeof=_size_bytes)

    async def open(self, answered: Answered) -> None:
        """See `Place`; the same holds for the other methods."""
        self._answered = answered

    async def join(self, key: str, seat: Seat, size: int) -> list[Seat] | None:  # noqa: D102
        seats = self._groups.setdefault(key, {})
        seats[seat.name] = seat
        return await self.take(key, seat) if len(seats) >= size else None

    async def take(self, key: str, seat: Seat) -> list[Seat]:  # noqa: D102
        if seat.name not in self._groups.get(key, ()):
            return []
        return list(self._groups.pop(key).values())

    async def leave(self, key: str, seat: Seat) -> bool:  # noqa: D102
        seats = self._groups.get(key, {})
        was_there = seats.pop(seat.name, None) is not None
        if was_there and not seats:
            del self._groups[key]
        return was_there

    async def deliver(self, answers: Sequence[tuple[Seat, Result]]) -> None:  # noqa: D102
        for seat, result in answers:
            self._answered(seat.name, result)

    async def put(self, name: str, result: Result) -> None:  # noqa: D102
        self._aside[name] = [*self._aside.get(name, ()), result]

    async def pop(self, name: str) -> Result | None:  # noqa: D102
        results = self._aside.pop(name, [])
        if len(results) > 1:
            self._aside[name] = results[1:]
        return results[0] if results else None

    async def keep(self, round: str, texts: Sequence[str]) -> None:  # noqa: D102
        with suppress(ValueError):  # one that is larger than all that may be kept is not
            self._rounds[round] = list(texts)

    async def kept(self, round: str) -> list[str] | None:  # noqa: D102
        texts = self._rounds.get(round)
        if texts is not None:
            self._rounds[round] = texts  # its time begins anew
        return texts

    async def close(self) -> None:  # noqa: D102
        self._groups.clear()


def _size_bytes(texts: Sequence[str]) -> int:
    return sum(map(sys.getsizeof, texts))
