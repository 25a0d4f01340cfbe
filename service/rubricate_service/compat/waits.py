"""Who waits at the barrier in this process, and whose client has left."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from rubricate_service.compat.place import Seat
from rubricate_service.compat.result import Result
from rubricate_service.compat.task import Task
from rubricate_service.errors import ApiError


@dataclass(frozen=True)
class Member:
    """A response to score, and what it is scored by.

    Attributes:
        label_at: Path in the body of what the task was read from.
        text_at: Path in the body of what the response was read from.
    """

    task: Task
    text: str
    label_at: str = ""
    text_at: str = ""

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes while it waits."""
        return sys.getsizeof(self.text) + self.task.size_bytes

    @cached_property
    def key(self) -> str:
        """Name of its group."""
        return self.task.key

    @cached_property
    def name(self) -> str:
        """By which a retry is told: its group and its text. Equal members share it."""
        return f"{self.key}:{sha256(self.text.encode()).hexdigest()}"


@dataclass(eq=False, slots=True)
class Round:
    """A group that is being scored in this process.

    Attributes:
        work: Scores it.
        present: Names of those of its seats whose clients are still there; of those of other processes, it
            is not known that they leave.
    """

    work: asyncio.Task[None]
    present: set[str]


@dataclass(eq=False)
class Wait:
    """A member at its seat.

    Attributes:
        answer: Its result; an error only while somebody waits for it.
        due: When the time of its group is out, by the loop's clock; a retry does not put it off.
        joining: The work of taking the seat.
        round: The scoring of its group, once that has begun in this process.
        is_present: Whether its client is still there.
    """

    member: Member
    seat: Seat
    answer: asyncio.Future[Result]
    due: float
    joining: asyncio.Task[None] = field(init=False)
    round: Round | None = None
    is_present: bool = True

    def settle(self, answer: Result | ApiError) -> None:
        """Give the answer to whoever waits; a second one is dropped."""
        if self.answer.done():
            return
        if isinstance(answer, Result):
            self.answer.set_result(answer)
        elif self.is_present:
            self.answer.set_exception(answer)


class Waits:
    """All waits, by their seats."""

    def __init__(self) -> None:
        self._by_seat: dict[str, Wait] = {}
        # by member: those that a client left while the group was being scored
        self._left: defaultdict[str, list[Wait]] = defaultdict(list)

    def __iter__(self) -> Iterator[Wait]:
        return iter(self._by_seat.values())

    def __contains__(self, seat: str) -> bool:
        return seat in self._by_seat

    def add(self, wait: Wait) -> None:
        """Begin a wait."""
        self._by_seat[wait.seat.name] = wait

    def begin(self, round: Round) -> None:
        """Note that the group of these seats is being scored."""
        for seat in round.present:
            if (wait := self._by_seat.get(seat)) is not None:
                wait.round = round

    def leave(self, wait: Wait) -> None:
        """Its client is gone, and its answer comes all the same; with the last client its round ends."""
        self._left[wait.member.name].append(wait)
        if (round := wait.round) is not None:
            round.present.discard(wait.seat.name)
            if not round.present:
                round.work.cancel()

    def come_again(self, member: Member) -> Wait | None:
        """A wait that a client left, and to which this seems to be its retry."""
        left = self._left.get(member.name, ())
        wait = next((wait for wait in left if wait.round is None or wait.round.present), None)
        if wait is not None:
            self._return(wait)
            wait.is_present = True
            if wait.round is not None:
                wait.round.present.add(wait.seat.name)
        return wait

    def end(self, seat: str) -> Wait | None:
        """Take a wait out."""
        wait = self._by_seat.pop(seat, None)
        if wait is not None:
            self._return(wait)
        return wait

    def forget(self, seat: str) -> None:
        """Take a wait out unless somebody is there."""
        if seat in self._by_seat and not self._by_seat[seat].is_present:
            self.end(seat)

    def _return(self, wait: Wait) -> None:
        waits = self._left.get(wait.member.name, [])
        if wait in waits:
            waits.remove(wait)
            if not waits:
                del self._left[wait.member.name]
