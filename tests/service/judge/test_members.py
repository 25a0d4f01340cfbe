"""Where the replicas are: addresses that come and go, and names that lead nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from scripted_engine import ScriptedEngine, ask, failure_of, run
from scripted_replicas import ask_all, questions, states

from rubricate_service.cache import Cache
from rubricate_service.judge import (
    Answer,
    Judge,
    ServedModel,
)
from rubricate_service.judge.connection import Address
from rubricate_service.judge.members import Listed
from rubricate_service.judge.replicas import Replicas
from rubricate_service.settings import Settings


class Named:
    """A resolver under the test's control, and the engines behind the addresses."""

    def __init__(self, *addresses: str, beside: Sequence[str] = ("http://fixed:8000",)):
        self.addresses: Sequence[str] | OSError = addresses
        self.engines: dict[str, ScriptedEngine] = {}
        self.members = Listed([*beside, "dns+http://u:secret@judge:8000"], self.make, self.resolve)
        self.members.every_s = 0.02

    def make(self, url: str, address: Address | None) -> ServedModel:
        place = address[0] if address else url
        return self.engines.setdefault(place, ScriptedEngine(latency_s=0.002))

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        assert (host, port) == ("judge", 8000)
        if isinstance(self.addresses, OSError):
            raise self.addresses
        return [(address, port) for address in self.addresses]


def test_replicas_come_and_go_with_the_addresses_of_a_name() -> None:
    async def test() -> None:
        named = Named("10.0.0.1")
        judge = Judge(Replicas(named.members), Cache(None), secret=b"test")
        await judge.start()

        async def become(*addresses: str) -> None:
            named.addresses = addresses
            names = {"http://fixed:8000"} | {f"http://{address}:8000" for address in addresses}
            async with asyncio.timeout(5):
                while set(await states(judge)) != names:
                    await asyncio.sleep(0.01)

        await become("10.0.0.1")
        await become("10.0.0.1", "10.0.0.2")
        assert set(await ask_all(judge, questions(40))) == {"ok"}
        assert all(engine.calls for engine in named.engines.values())
        assert len(named.engines) == 3
        await become("10.0.0.2")
        seen = len(named.engines["10.0.0.1"].calls)
        assert set(await ask_all(judge, questions(80)[160:])) == {"ok"}
        assert len(named.engines["10.0.0.1"].calls) == seen
        named.addresses = OSError("no DNS")
        await asyncio.sleep(0.1)
        assert set(await ask_all(judge, questions(120)[320:])) == {"ok"}
        await judge.close()

    run(test())


def test_a_replica_that_is_gone_takes_no_work_from_its_successor_of_the_same_name() -> None:
    async def test() -> None:
        named = Named("10.0.0.1")
        judge = Judge(Replicas(named.members, 2), Cache(None), secret=b"test")
        await judge.start()
        old, fixed = named.engines["10.0.0.1"], named.engines["http://fixed:8000"]
        old.latency_s = fixed.latency_s = 0.3
        asked = asyncio.create_task(ask_all(judge, questions(40)))
        await asyncio.sleep(0.05)
        assert old.in_flight == 2
        named.addresses = ["10.0.0.2"]
        del named.engines["10.0.0.1"]
        await asyncio.sleep(0.05)
        named.addresses = ["10.0.0.1", "10.0.0.2"]
        fixed.latency_s = 0.002
        assert set(await asked) == {"ok"}
        assert len(old.calls) == 2
        assert named.engines["10.0.0.1"].calls
        await judge.close()

    run(test())


def test_a_name_that_leads_nowhere_is_unreachable_and_looked_up_again() -> None:
    async def test() -> None:
        named = Named(beside=())
        judge = Judge(Replicas(named.members), Cache(None), secret=b"test")
        failure = await failure_of(ask(judge))
        assert failure.kind == "unreachable"
        assert "judge leads to no address" in failure.message
        named.addresses = ["10.0.0.1"]
        assert await ask(judge) == Answer(1.0)
        await judge.close()

    run(test())


def test_a_name_that_leads_nowhere_costs_no_other_replica() -> None:
    async def test() -> None:
        named = Named()
        judge = Judge(Replicas(named.members), Cache(None), secret=b"test")
        assert await ask(judge) == Answer(1.0)
        named.addresses = ["10.0.0.1"]
        async with asyncio.timeout(5):
            while len(await states(judge)) < 2:
                await asyncio.sleep(0.01)
        await judge.close()

    run(test())


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("http://a:8000", ["http://a:8000"]),
        ("http://a:8000, https://b/v1", ["http://a:8000", "https://b/v1"]),
        ("dns+http://judge:8000", ["dns+http://judge:8000"]),
        ("http://a,dns+https://b", ["http://a", "dns+https://b"]),
        ("http://a,b", None),
        ("http://a,", None),
        ("dns+judge:8000", None),
        ("http://u:secret@a:port", None),
    ],
)
def test_which_values_say_where_replicas_are(value: str, urls: list[str] | None) -> None:
    if urls is None:
        with pytest.raises(ValueError, match="judge") as caught:
            Settings(judge=value)
        assert "secret" not in str(caught.value)
    else:
        chosen = Settings(judge=value).judge_chosen
        assert chosen is not None
        assert chosen.urls == urls
