"""Members of a group that leave, come again, or could not be decided."""

from __future__ import annotations

import asyncio

import pytest

from barriers import LONG, MakePlace, Scorer, ask, play, task_of, until
from redis_server import RedisServer, needs_redis
from rubricate_clients.wire import Options
from rubricate_service.compat.barrier import Barrier
from rubricate_service.compat.errors import Unavailable
from rubricate_service.compat.place import LocalPlace, Seat
from rubricate_service.compat.redis_place import RedisPlace
from rubricate_service.compat.result import Result, Undecided
from rubricate_service.compat.waits import Member


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
