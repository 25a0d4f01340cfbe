"""The barrier with a scripted scorer: who is scored with whom, at both kinds of place."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from barriers import LONG, MakePlace, Scorer, ask, play, until
from redis_server import RedisServer, needs_redis, running_redis
from rubricate_clients.wire import Options
from rubricate_service.compat.barrier import Barrier
from rubricate_service.compat.errors import Unavailable
from rubricate_service.compat.place import LocalPlace, Seat
from rubricate_service.compat.redis_place import RedisPlace
from rubricate_service.compat.result import Result
from rubricate_service.compat.room import Room
from rubricate_service.compat.task import Task
from rubricate_service.errors import InvalidRequest, Overloaded


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
