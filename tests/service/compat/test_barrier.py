"""The barrier with a scripted scorer: who is scored with whom, at both kinds of place."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from redis_server import RedisServer, needs_redis, running_redis
from rubricate_clients.wire import Options, Rubric
from rubricate_service.compat.barrier import Barrier
from rubricate_service.compat.errors import Unavailable
from rubricate_service.compat.place import LocalPlace, Place, Seat
from rubricate_service.compat.redis_place import RedisPlace
from rubricate_service.compat.result import Result, Undecided
from rubricate_service.compat.room import Room
from rubricate_service.compat.task import Task
from rubricate_service.compat.waits import Member
from rubricate_service.errors import InvalidRequest, Overloaded

LONG = 30.0
"""Seconds that no test waits out."""

MakePlace = Callable[[float], Place]
Script = Callable[[Barrier, "Scorer"], Awaitable[None]]


class Scorer:
    """Scores a response with its length, and says who was there.

    Attributes:
        rounds: The responses of each group that it was asked to score.
        gate: What scoring waits for.
        undecided: Responses that it cannot decide.
    """

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.undecided: set[str] = set()
        self.cancelled = 0

    async def __call__(self, task: Task, texts: Sequence[str]) -> list[Result]:
        self.rounds.append(sorted(texts))
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        fault = [Undecided(path="rubrics[0]", message="timeout: too late")]
        return [
            Result(
                a_out=float(len(text)),
                members=len(texts),
                missing=task.size - len(texts),
                undecided=fault if text in self.undecided else [],
            )
            for text in texts
        ]


def task_of(size: int = 3, **fields: Any) -> Task:
    rubric = Rubric(check="punctuation:no_comma")
    given = {"prompt": "Say it.", "reference": None, "rubrics": [rubric], "options": Options()}
    return Task(**{**given, "tenant": "", "run": "", "group": "", "size": size, **fields})


def ask(barrier: Barrier, text: str, size: int = 3, **fields: Any) -> asyncio.Task[Result]:
    return asyncio.create_task(barrier.result(Member(task_of(size, **fields), text)))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["local", pytest.param("redis", marks=needs_redis)])
def place(request: pytest.FixtureRequest) -> MakePlace:
    if request.param == "local":
        return lambda timeout_s: LocalPlace(100, 1 << 20)
    server: RedisServer = request.getfixturevalue("redis")
    server.command("FLUSHALL")
    return lambda timeout_s: RedisPlace(server.url, timeout_s)


def play(
    place: MakePlace | None,
    script: Script,
    *,
    timeout_s: float = LONG,
    most: int = 100,
    most_bytes: int = 1 << 20,
) -> Scorer:
    """Run a script against a barrier, and see that it leaves nothing behind."""

    async def played() -> Scorer:
        scorer = Scorer()
        at = place(timeout_s) if place is not None else None
        barrier = Barrier(scorer, at, Room(most, most_bytes), timeout_s=timeout_s, settle_s=LONG)
        await barrier.open()
        try:
            await script(barrier, scorer)
            assert (barrier.waiting_members, barrier.open_groups) == (0, 0)
        finally:
            await barrier.close()
        return scorer

    return asyncio.run(played())


def test_a_group_is_scored_as_one_when_its_last_member_has_come(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        first = [ask(barrier, "a"), ask(barrier, "bb")]
        await until(lambda: (barrier.waiting_members, barrier.open_groups) == (2, 1))
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in first)
        results = await asyncio.gather(*first, ask(barrier, "ccc"))
        assert [r.advantage for r in results] == [1.0, 2.0, 3.0]
        assert {(r.members, r.missing) for r in results} == {(3, 0)}
        assert (barrier.released_by_size, barrier.released_by_timeout) == (1, 0)

    assert play(place, script).rounds == [["a", "bb", "ccc"]]


def test_groups_of_one_prompt_follow_each_other(place: MakePlace) -> None:
    """The prompt is sampled twice, and some responses are equal: each is a member of its own."""

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        results = await asyncio.gather(*(ask(barrier, text) for text in ["a", "a", "b", "a", "a", "b"]))
        assert {(r.members, r.missing) for r in results} == {(3, 0)}
        assert barrier.released_by_size == 2

    assert sorted(map(len, play(place, script).rounds)) == [3, 3]


@pytest.mark.parametrize(
    "other", [{"group": "2"}, {"tenant": "x"}, {"run": "x"}, {"prompt": "Else."}, {"reference": "r"}]
)
def test_other_tasks_are_other_groups(other: dict[str, str]) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        one, two = ask(barrier, "a", 2), ask(barrier, "b", 2, **other)
        await until(lambda: barrier.open_groups == 2)
        await asyncio.gather(one, two, ask(barrier, "c", 2), ask(barrier, "d", 2, **other))

    assert sorted(play(lambda timeout_s: LocalPlace(9, 1 << 20), script).rounds) == [["a", "c"], ["b", "d"]]


def test_at_the_time_out_those_who_are_there_are_scored_and_the_late_begin_anew(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        results = await asyncio.gather(ask(barrier, "a"), ask(barrier, "bb"))
        assert [(r.advantage, r.members, r.missing) for r in results] == [(1.0, 2, 1), (2.0, 2, 1)]
        late = await ask(barrier, "ccc")
        assert (late.members, late.missing) == (1, 2)
        assert (barrier.released_by_size, barrier.released_by_timeout) == (0, 2)

    assert play(place, script, timeout_s=0.3).rounds == [["a", "bb"], ["ccc"]]


def test_a_slow_group_does_not_take_the_next_one_along(place: MakePlace) -> None:
    """A member whose own group is scored when its time is out leaves the seats of the next group alone."""

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        scorer.gate.clear()
        slow = [ask(barrier, text) for text in ("a", "b", "c")]
        await until(lambda: len(scorer.rounds) == 1)
        await asyncio.sleep(0.6)
        early = ask(barrier, "d")
        await asyncio.sleep(0.6)  # by now the first three would have taken it
        assert len(scorer.rounds) == 1
        late = [ask(barrier, "e"), ask(barrier, "f")]
        await until(lambda: len(scorer.rounds) == 2)
        scorer.gate.set()
        results = await asyncio.gather(*slow, early, *late)
        assert {r.members for r in results} == {3}

    assert play(place, script, timeout_s=1.0).rounds == [["a", "b", "c"], ["d", "e", "f"]]


def test_a_client_that_leaves_gives_its_seat_back(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        gone = ask(barrier, "gone")
        await until(lambda: barrier.waiting_members == 1)
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        await asyncio.sleep(0.1)
        await asyncio.gather(*(ask(barrier, text) for text in "abc"))

    assert play(place, script).rounds == [["a", "b", "c"]]


@pytest.mark.parametrize("again", ["while it is scored", "when it is scored"])
def test_a_retry_during_or_after_the_scoring_is_no_other_member(place: MakePlace, again: str) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        scorer.gate.clear()
        others = [ask(barrier, "a"), ask(barrier, "bb")]
        lost = ask(barrier, "ccc")
        await until(lambda: len(scorer.rounds) == 1)
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
        await asyncio.sleep(0.1)
        if again == "when it is scored":
            scorer.gate.set()
            await asyncio.gather(*others)
            await asyncio.sleep(0.1)
            result = await ask(barrier, "ccc")
        else:
            retry = ask(barrier, "ccc")
            await asyncio.sleep(0.1)
            scorer.gate.set()
            result = await retry
        assert (result.advantage, result.members) == (3.0, 3)
        await asyncio.gather(*others)

    assert play(place, script).rounds == [["a", "bb", "ccc"]]


def test_scoring_ends_when_all_clients_left(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        scorer.gate.clear()
        everyone = [ask(barrier, text) for text in ("a", "b", "b")]
        await until(lambda: len(scorer.rounds) == 1)
        for task in everyone:
            task.cancel()
        await asyncio.gather(*everyone, return_exceptions=True)
        await until(lambda: scorer.cancelled == 1)
        scorer.gate.set()
        await asyncio.gather(*(ask(barrier, text) for text in ("a", "b", "b")))

    assert play(place, script).rounds == [["a", "b", "b"]] * 2


@pytest.mark.parametrize("turns", range(12))
def test_a_retry_at_the_moment_when_its_round_ends_is_answered(turns: int) -> None:
    """It took the seat that it had before, in a round that was being cancelled, and waited for nothing."""

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        scorer.gate.clear()
        everyone = [ask(barrier, text) for text in "abc"]
        await until(lambda: len(scorer.rounds) == 1)
        for task in everyone:
            task.cancel()
        for _ in range(turns):  # of the event loop
            await asyncio.sleep(0)
        again = [ask(barrier, text) for text in "abc"]
        await asyncio.sleep(0.01)
        scorer.gate.set()
        async with asyncio.timeout(10):
            assert {r.members for r in await asyncio.gather(*again)} == {3}

    play(lambda timeout_s: LocalPlace(9, 1 << 20), script)


def test_members_are_forgotten_though_their_place_takes_no_seat_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waited when a Redis went away stayed in memory for ever."""

    class Gone(LocalPlace):
        async def leave(self, key: str, seat: Seat) -> bool:
            raise Unavailable("gone")

    monkeypatch.setattr("rubricate_service.compat.barrier._GRACE_S", 0.1)

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        lost = ask(barrier, "a", options=Options(deadline_s=0.1))
        await until(lambda: barrier.open_groups == 1)
        await asyncio.sleep(0.01)
        lost.cancel()
        await until(lambda: [*barrier._waits] == [])

    play(lambda timeout_s: Gone(9, 1 << 20), script, timeout_s=0.5)


@needs_redis
@pytest.mark.parametrize("patience_s", [LONG, 1.3])
def test_members_whose_scoring_process_was_killed_are_scored_at_a_retry(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch, patience_s: float
) -> None:
    """Every retry waited for the dead process again, also that of a client that leaves before it is told."""
    monkeypatch.setattr("rubricate_service.compat.barrier._GRACE_S", 0.7)
    options = Options(deadline_s=0.1)
    refusals: list[str] = []

    async def insist(barrier: Barrier, text: str) -> Result:
        while True:
            try:
                async with asyncio.timeout(patience_s):
                    return await ask(barrier, text, options=options)
            except Unavailable as error:
                refusals.append(error.message)
            except TimeoutError:
                pass
            await asyncio.sleep(0.1)

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        clients = [asyncio.create_task(insist(barrier, text)) for text in ("a", "bb")]
        key = task_of(options=options).key
        await until(lambda: redis.command("HLEN", f"rubricate:group:{key}") == 2)
        killed = RedisPlace(redis.url, LONG)
        seats = await killed.join(key, Seat(name="last", text="ccc", host=killed.host), 3)
        await killed.close()
        assert seats is not None
        async with asyncio.timeout(20):
            results = await asyncio.gather(*clients)
        assert [r.advantage for r in results] == [1.0, 2.0]
        assert all("went away" in message for message in refusals)

    redis.command("FLUSHALL")
    play(lambda timeout_s: RedisPlace(redis.url, timeout_s), script, timeout_s=1.0)


def test_a_retry_is_not_told_of_an_outage_that_is_over() -> None:
    """It got the refusal of its first try once more, though its place took seats again."""

    class Unsteady(LocalPlace):
        is_away = True

        async def join(self, key: str, seat: Seat, size: int) -> list[Seat] | None:
            if self.is_away:
                raise Unavailable("away")
            return await super().join(key, seat, size)

    place = Unsteady(9, 1 << 20)

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        with pytest.raises(Unavailable, match="away"):
            await ask(barrier, "a")
        await until(lambda: [*barrier._waits] == [])
        place.is_away = False
        await asyncio.gather(*(ask(barrier, text) for text in "abc"))

    assert play(lambda timeout_s: place, script).rounds == [["a", "b", "c"]]


def test_an_undecided_member_is_scored_again_within_its_group(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        scorer.undecided = {"ccc"}
        *_, undecided = await asyncio.gather(*(ask(barrier, text) for text in ("a", "bb", "ccc")))
        assert undecided.undecided[0].message == "timeout: too late"
        for decided in (False, True):
            await barrier.put_aside(Member(task_of(), "ccc"), undecided)
            scorer.undecided = set() if decided else {"ccc"}
            again = await ask(barrier, "ccc")
            assert (again.members, bool(again.undecided)) == (3, not decided)

    assert play(place, script).rounds == [["a", "bb", "ccc"]] * 3


def test_the_texts_of_a_round_are_kept_once_for_all_its_undecided_members(place: MakePlace) -> None:
    """Each of them carried all others: a gigabyte went through Redis for a group of 512."""

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        texts = [letter * 1000 for letter in "abcdefgh"]
        scorer.undecided = {*texts}
        results = await asyncio.gather(*(ask(barrier, text, 8) for text in texts))
        assert sum(len(result.model_dump_json()) for result in results) < 8 * 1000
        assert len({result.round for result in results}) == 1
        scorer.undecided = set()
        for text, result in zip(texts, results, strict=True):
            await barrier.put_aside(Member(task_of(8), text), result)
        again = await asyncio.gather(*(ask(barrier, text, 8) for text in texts))
        assert [(r.members, r.undecided) for r in again] == [(8, [])] * 8

    rounds = play(place, script).rounds
    assert rounds == [rounds[0]] * 9


def test_a_member_whose_round_is_too_large_to_be_kept_is_scored_among_those_who_come() -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        scorer.undecided = {"a"}
        first, _, _ = await asyncio.gather(*(ask(barrier, text) for text in ("a", "bb", "ccc")))
        assert first.members == 3
        await barrier.put_aside(Member(task_of(), "a"), first)
        await asyncio.gather(*(ask(barrier, text) for text in ("a", "dd", "eee")))

    assert play(lambda timeout_s: LocalPlace(9, 10), script).rounds == [
        ["a", "bb", "ccc"],
        ["a", "dd", "eee"],
    ]


def test_a_member_with_a_faulty_rubric_is_told_so_again_without_scoring(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        fault = Undecided(path="rubrics[0].check", message="unknown_check", is_final=True)
        await barrier.put_aside(Member(task_of(), "a"), Result(members=3, undecided=[fault]))
        assert (await ask(barrier, "a")).undecided == [fault]

    assert play(place, script).rounds == []


def test_equal_members_that_are_put_aside_are_given_out_one_by_one(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        member = Member(task_of(), "same")
        for number in (1, 2):
            await barrier.put_aside(member, Result(members=number))
        assert [(await barrier.result(member)).members for _ in range(2)] == [1, 2]
        await asyncio.gather(*(ask(barrier, "same") for _ in range(3)))

    assert play(place, script).rounds == [["same"] * 3]


def test_without_a_group_nobody_waits(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        assert (await ask(barrier, "alone", 1)).members == 1

    play(place, script)
    play(None, script)


def test_where_members_cannot_meet_they_are_told_what_to_do() -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        with pytest.raises(Unavailable, match=r"--workers 1, or with --cache redis"):
            await ask(barrier, "a")

    assert play(None, script).rounds == []


def test_only_so_many_may_wait(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        waiting = [ask(barrier, "a"), ask(barrier, "b")]
        await until(lambda: barrier.waiting_members == 2)
        with pytest.raises(Overloaded, match=r"2 responses wait .*group_waiting") as refused:
            await ask(barrier, "c")
        assert refused.value.headers == {"Retry-After": "1"}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    play(place, script, most=2)


def test_many_long_responses_take_no_more_memory_than_they_may(place: MakePlace) -> None:
    """Members were only counted: 8,192 of a megabyte each took 15 GB."""

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        waiting = [ask(barrier, letter * 40_000) for letter in "ab"]
        await until(lambda: barrier.waiting_members == 2)
        with pytest.raises(
            Overloaded, match=r"2 responses wait .* more memory than they may \(100,000 bytes"
        ):
            await ask(barrier, "c" * 40_000)
        await asyncio.gather(*waiting, ask(barrier, "c"))
        await asyncio.gather(*(ask(barrier, letter * 20_000) for letter in "abc"))  # there is room again

    play(place, script, most_bytes=100_000)


def test_a_service_that_stops_sends_those_away_who_wait_for_others(place: MakePlace) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        scorer.gate.clear()
        scored = [ask(barrier, text) for text in "abc"]
        await until(lambda: len(scorer.rounds) == 1)
        waiting = ask(barrier, "d")
        await until(lambda: barrier.waiting_members == 4)
        barrier.drain()
        for task in (waiting, ask(barrier, "e")):
            with pytest.raises(Unavailable, match="is stopping"):
                await task
        scorer.gate.set()
        assert {r.members for r in await asyncio.gather(*scored)} == {3}

    play(place, script)


@pytest.mark.parametrize(
    ("error", "told"),
    [(InvalidRequest("no room"), "no room"), (ValueError("secret text"), "internal: scoring broke")],
)
def test_scoring_that_breaks_decides_nothing(place: MakePlace, error: Exception, told: str) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        async def broken(task: Task, texts: Sequence[str]) -> list[Result]:
            raise error

        barrier._rate = broken
        results = await asyncio.gather(*(ask(barrier, text) for text in ("a", "b", "c")))
        for result in results:
            assert result.undecided[0].message.startswith(told)
            assert not result.valid

    play(place, script)


def test_scores_that_got_lost_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that scored the group has died: nothing comes, and nothing is taken for a score."""

    class Lossy(LocalPlace):
        async def deliver(self, answers: Sequence[tuple[Seat, Result]]) -> None:
            pass

    monkeypatch.setattr("rubricate_service.compat.barrier._GRACE_S", 0.1)

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        asked = [ask(barrier, text, options=Options(deadline_s=0.1)) for text in "abc"]
        for error in await asyncio.gather(*asked, return_exceptions=True):
            assert isinstance(error, Unavailable)
            assert "went away" in error.message
        await asyncio.sleep(0.3)

    assert play(lambda timeout_s: Lossy(9, 1 << 20), script, timeout_s=0.1).rounds == [["a", "b", "c"]]


@needs_redis
def test_a_member_whose_seat_got_lost_begins_anew(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a retry that came at once waited at the lost seat again, and so did the next one, for ever."""
    monkeypatch.setattr("rubricate_service.compat.barrier._GRACE_S", 0.1)
    options = Options(deadline_s=0.9)

    async def script(barrier: Barrier, scorer: Scorer) -> None:
        lost = ask(barrier, "a", size=2, options=options)
        await until(lambda: redis.command("KEYS", "rubricate:group:*") != [])
        redis.command("FLUSHALL")  # what a Redis that is killed leaves of a group
        with pytest.raises(Unavailable, match="went away"):
            await lost
        await asyncio.sleep(0.2)  # as a client pauses
        again = [ask(barrier, text, size=2, options=options) for text in "ab"]
        assert [result.members for result in await asyncio.gather(*again)] == [2, 2]

    redis.command("FLUSHALL")
    assert play(lambda timeout_s: RedisPlace(redis.url, timeout_s), script, timeout_s=0.5).rounds == [
        ["a", "b"]
    ]


@needs_redis
def test_members_of_two_processes_meet(redis: RedisServer) -> None:
    async def played() -> None:
        scorer = Scorer()
        barriers = [
            Barrier(scorer, RedisPlace(redis.url, LONG), Room(99, 1 << 20), timeout_s=LONG, settle_s=LONG)
            for _ in range(2)
        ]
        for barrier in barriers:
            await barrier.open()
        texts = [f"{group}{'x' * n}" for group in "abcd" for n in range(3)]
        asked = [
            ask(barriers[(n + n // 3) % 2], text, prompt=f"Say {text[0]}.") for n, text in enumerate(texts)
        ]
        results = await asyncio.gather(*asked)
        assert [r.advantage for r in results] == [float(len(text)) for text in texts]
        assert {(r.members, r.missing) for r in results} == {(3, 0)}
        assert sorted(map(tuple, scorer.rounds)) == [(g, g + "x", g + "xx") for g in "abcd"]
        assert sum(barrier.released_by_size for barrier in barriers) == 4
        for barrier in barriers:
            await barrier.close()
        assert redis.command("KEYS", "rubricate:group:*") == []

    redis.command("FLUSHALL")
    asyncio.run(played())


@needs_redis
def test_a_redis_that_is_gone_is_named_and_comes_back(tmp_path: Path) -> None:
    async def script(barrier: Barrier, scorer: Scorer) -> None:
        assert {r.members for r in await asyncio.gather(*(ask(barrier, t) for t in "abc"))} == {3}
        server.kill()
        with pytest.raises(Unavailable, match=rf"meet in redis://127.0.0.1:{server.port}/0, which does not"):
            await ask(barrier, "a")
        server.start()
        async with asyncio.timeout(20):
            results = await asyncio.gather(*(ask(barrier, text) for text in "abc"))
        assert {r.members for r in results} == {3}

    with running_redis(tmp_path) as server:
        play(lambda timeout_s: RedisPlace(server.url, timeout_s), script)
