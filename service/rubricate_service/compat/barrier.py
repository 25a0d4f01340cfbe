"""The group barrier: holds a response until all of its group have come, or its time is out.

A member that has come takes a seat at a place (`place.py`). Who takes the last seat of a group has the group
scored; at the time-out whoever waited longest takes the seats that there are and has those scored. A member
that comes after that begins a new round of the same group, as does the prompt when it is sampled again.

Each member that has come is a `Wait` in `Waits` until it is answered:

| state | its seat at the place | `round` | `is_present` | ends when |
|---|---|---|---|---|
| joining | not taken yet | None | yes | the place has answered |
| waiting | taken | None | yes | all have come; the time is out; its client leaves, giving the seat back |
| scored | handed out | set | yes | its result comes; its client leaves |
| left | handed out | set | no | its result comes; its retry comes; the result got lost |

A result has got lost after a time that counts from the member's first try, however often it comes again. A
member that is refused, then or before, is forgotten: its retry takes a new seat.

`round` is set only in the process that scores. What comes for a member that has left is put aside at the
place; its retry, which is told by its text, gets that without counting as another member. A member that was
undecided and comes again is scored again within its round, whose texts the place keeps for that; where the
rubrics are at fault it is told so again. A round whose clients have all left is not scored to its end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any
from uuid import uuid4

from rubricate_service.compat.errors import Unavailable
from rubricate_service.compat.place import Place, Seat
from rubricate_service.compat.result import Result
from rubricate_service.compat.room import Room
from rubricate_service.compat.rounds import Rate, score_again, score_round
from rubricate_service.compat.task import Task
from rubricate_service.compat.waits import Member, Round, Wait, Waits
from rubricate_service.errors import ApiError

log = logging.getLogger("rubricate.compat")

_GRACE_S = 10.0  # for scoring that ends at its deadline, and for the way here

_NO_PLACE = (
    "the members of a group may come to different processes of this service, and these share no Redis where "
    "they could meet: start it with --workers 1, or with --cache redis://HOST"
)
_STOPPING = "the service is stopping; send the response again"
_LOST = "the process that scored this group went away; send the response again"


class Barrier:
    """Scores members together with their group.

    Args:
        rate: Scores a group.
        place: Where members meet; None where they cannot, since several processes share no Redis.
        room: For the members that wait in this process.
        timeout_s: How long a member waits for its group.
        settle_s: How long it waits for the scores then, when the task has no deadline of its own.

    Attributes:
        released_by_size: Groups scored in this process because they were complete.
        released_by_timeout: Groups scored in this process because the time was out.
    """

    def __init__(
        self, rate: Rate, place: Place | None, room: Room, *, timeout_s: float, settle_s: float
    ) -> None:
        self._rate = rate
        self._place = place
        self._room = room
        self._timeout_s = timeout_s
        self._settle_s = settle_s
        self._waits = Waits()
        self._tasks: set[asyncio.Task[None]] = set()
        self._draining = False
        self.released_by_size = 0
        self.released_by_timeout = 0

    @property
    def waiting_members(self) -> int:
        """Requests that wait in this process, for their group or for its scores."""
        return self._room.members

    @property
    def open_groups(self) -> int:
        """Groups of the members that wait in this process."""
        return len({wait.member.key for wait in self._waits if wait.is_present})

    async def open(self) -> None:
        """Begin."""
        if self._place is not None:
            await self._place.open(self._answered)

    def drain(self) -> None:
        """Refuse from now on all that would wait, and those that wait for others; what is scored goes on."""
        self._draining = True
        for wait in self._waits:
            if wait.round is None:
                wait.settle(Unavailable(_STOPPING))

    async def close(self) -> None:
        """End everything."""
        self.drain()
        for task in (tasks := [*self._tasks]):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._place is not None:
            await self._place.close()

    async def result(self, member: Member) -> Result:
        """The member's result within its group, as soon as it is there.

        Cancel it when nobody waits any more: that gives the seat back.

        Raises:
            Overloaded: Too many members wait.
            Unavailable: The group cannot meet, or its scores got lost.
        """
        if member.task.size == 1:
            return (await self._rate(member.task, [member.text]))[0]
        if self._place is None:
            raise Unavailable(_NO_PLACE)
        if self._draining:
            raise Unavailable(_STOPPING)
        with self._room.taken(member.size_bytes):
            return await self._result(self._place, member)

    async def put_aside(self, member: Member, result: Result) -> None:
        """Have the result ready for the member's next try: it will not be handed over now."""
        if self._place is not None and member.task.size > 1:
            await self._place.put(member.name, result)

    async def _result(self, place: Place, member: Member) -> Result:
        earlier = await place.pop(member.name)
        if earlier is None:
            return await self._among_others(place, member)
        if earlier.is_final:
            return earlier
        try:
            result = await score_again(self._rate, place, member.task, member.text, earlier.round)
        except BaseException:  # the client leaving, too
            self._spawn(place.put(member.name, earlier))
            raise
        return await self._among_others(place, member) if result is None else result

    async def _among_others(self, place: Place, member: Member) -> Result:
        wait = self._waits.come_again(member)
        if wait is None:
            seat = Seat(name=uuid4().hex, text=member.text, host=place.host)
            loop = asyncio.get_running_loop()
            wait = Wait(member, seat, loop.create_future(), due=loop.time() + self._timeout_s)
            self._waits.add(wait)
            wait.joining = self._spawn(self._join(place, wait))
        try:
            return await self._answer(place, wait)
        except BaseException:  # the client leaving, too
            wait.is_present = False
            if wait.answer.done() and wait.answer.exception() is None:
                self._spawn(self.put_aside(member, wait.answer.result()))
            else:
                self._spawn(self._give_back(place, wait))
            raise

    async def _answer(self, place: Place, wait: Wait) -> Result:
        # what is waited for does not end with the wait: a group whose seats were taken must be scored
        now = asyncio.get_running_loop().time
        done, _ = await asyncio.wait({wait.answer}, timeout=wait.due - now())
        if not done:
            self._spawn(self._take(place, wait))
            await asyncio.wait({wait.answer}, timeout=self._lost_at(wait) - now())
        wait.settle(Unavailable(_LOST))  # where nothing has come
        return wait.answer.result()

    def _lost_at(self, wait: Wait) -> float:
        """When its scores have got lost, by the loop's clock."""
        return wait.due + (wait.member.task.options.deadline_s or self._settle_s) + _GRACE_S

    async def _join(self, place: Place, wait: Wait) -> None:
        try:
            seats = await place.join(wait.member.key, wait.seat, wait.member.task.size)
        except ApiError as error:
            wait.settle(error)
            return
        if seats is not None:
            self.released_by_size += 1
            self._begin(place, wait.member.task, seats)

    async def _take(self, place: Place, wait: Wait) -> None:
        seats = await place.take(wait.member.key, wait.seat)
        if seats:
            self.released_by_timeout += 1
            self._begin(place, wait.member.task, seats)

    def _begin(self, place: Place, task: Task, seats: Sequence[Seat]) -> None:
        self._waits.begin(Round(self._spawn(self._score(place, task, seats)), {seat.name for seat in seats}))

    async def _score(self, place: Place, task: Task, seats: Sequence[Seat]) -> None:
        try:
            results = await score_round(self._rate, place, task, [seat.text for seat in seats])
        except asyncio.CancelledError:  # all clients left
            for seat in seats:
                self._waits.forget(seat.name)
            raise
        await place.deliver(list(zip(seats, results, strict=True)))

    def _answered(self, seat: str, result: Result) -> None:
        wait = self._waits.end(seat)
        if wait is None:
            return
        if not wait.is_present:
            self._spawn(self.put_aside(wait.member, result))
        wait.settle(result)

    async def _give_back(self, place: Place, wait: Wait) -> None:
        """Give back the seat of a client that left; with the last one of a round, end its scoring."""
        seat = wait.seat.name
        await asyncio.wait({wait.joining})
        try:
            is_free = await place.leave(wait.member.key, wait.seat)
        except Unavailable as error:
            log.warning("a seat is not given back: %s", error.message)
            is_free = False
        if is_free:
            self._waits.forget(seat)
        elif seat in self._waits:
            self._waits.leave(wait)
            if wait.answer.done():  # refused: a retry needs a new seat
                self._waits.forget(seat)
            else:
                asyncio.get_running_loop().call_at(self._lost_at(wait), self._waits.forget, seat)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something that goes on when the request that wanted it is gone."""

        async def guarded() -> None:
            try:
                await work
            except ApiError as error:
                log.warning("the group barrier: %s", error.message)

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
