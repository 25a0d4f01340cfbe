"""Places in the queue: bounded, fair between tenants, and given back whatever happens."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from rubricate_service.errors import Overloaded
from rubricate_service.http.admission import Admission
from rubricate_service.http.settings import QueueSettings


class Scene:
    """Requests as tasks that hold their places until they are told to finish."""

    def __init__(self, **settings: Any) -> None:
        self.admission = Admission(QueueSettings(**settings))
        self.order: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._done: dict[str, asyncio.Event] = {}

    async def ask(self, name: str, tenant: str, items: int, within_s: float = 60.0) -> None:
        """Begin a request, and let the loop turn."""
        deadline = asyncio.get_running_loop().time() + within_s
        done = self._done[name] = asyncio.Event()

        async def run() -> None:
            async with self.admission.places(tenant, items, deadline):
                self.order.append(name)
                await done.wait()

        self.tasks[name] = asyncio.create_task(run())
        await asyncio.sleep(0.01)

    async def finish(self, *names: str) -> None:
        for name in names:
            self._done[name].set()
            await asyncio.sleep(0.01)

    async def refusal(self, name: str) -> Overloaded:
        with pytest.raises(Overloaded) as caught:
            await self.tasks[name]
        return caught.value


def play(script: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(script(), 30))


def test_tenants_are_served_in_turn_and_each_in_its_own_order() -> None:
    async def script() -> None:
        scene = Scene(items=2)
        await scene.ask("first", "a", 2)
        for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
            await scene.ask(name, name[0], 2)
        assert scene.order == ["first"]
        await scene.finish("first", "a1", "b1", "c1", "a2", "b2", "a3")
        assert scene.order == ["first", "a1", "b1", "c1", "a2", "b2", "a3"]

    play(script)


def test_a_tenant_at_its_cap_stands_in_nobodys_way() -> None:
    async def script() -> None:
        scene = Scene(items=10, tenant_items=4)
        await scene.ask("a1", "a", 4)
        await scene.ask("a2", "a", 1)
        await scene.ask("b1", "b", 4)
        assert scene.order == ["a1", "b1"]
        load = scene.admission.load
        assert (load.items, load.in_flight, load.waiting) == (10, 8, 1)
        assert load.in_flight_by_tenant == {"a": 4, "b": 4}
        assert load.waiting_by_tenant == {"a": 1}
        await scene.finish("a1")
        assert scene.order == ["a1", "b1", "a2"]

    play(script)


def test_a_large_request_is_not_passed_by_small_ones_for_ever() -> None:
    async def script() -> None:
        scene = Scene(items=4)
        await scene.ask("small 1", "a", 1)
        await scene.ask("large", "b", 4)
        await scene.ask("small 2", "a", 1)
        assert scene.order == ["small 1"]
        await scene.finish("small 1")
        assert scene.order == ["small 1", "large"]

    play(script)


def test_a_request_larger_than_all_there_is_runs_alone() -> None:
    async def script() -> None:
        scene = Scene(items=4, tenant_items=3)
        await scene.ask("other", "b", 2)
        await scene.ask("huge", "a", 1000)
        assert scene.order == ["other"]
        await scene.finish("other")
        assert scene.order == ["other", "huge"]
        assert scene.admission.load.in_flight == 3

    play(script)


@pytest.mark.parametrize(("wait_s", "within_s"), [(0.05, 60.0), (60.0, 0.05), (0.0, 60.0)])
def test_who_waits_too_long_is_told_what_is_full_and_when_to_come_back(
    wait_s: float, within_s: float
) -> None:
    async def script() -> None:
        scene = Scene(items=4, wait_s=wait_s)
        await scene.ask("first", "a", 3)
        await scene.ask("late", "b", 2, within_s)
        refusal = await scene.refusal("late")
        assert (refusal.status, refusal.type) == (429, "overloaded")
        assert "3 of 4 responses of this service are in flight (`queue.items`)" in refusal.message
        assert 1 <= int(refusal.headers["Retry-After"]) <= 60
        assert scene.admission.load.waiting == 0
        await scene.finish("first")
        assert scene.admission.load.in_flight == 0

    play(script)


def test_the_tenants_cap_is_named_where_it_is_what_limits() -> None:
    async def script() -> None:
        scene = Scene(items=100, tenant_items=4, wait_s=0)
        await scene.ask("first", "a", 3)
        await scene.ask("late", "a", 2)
        message = (await scene.refusal("late")).message
        assert "3 of 4 responses of tenant 'a' are in flight (`queue.tenant_items`)" in message

    play(script)


def test_what_may_wait_is_bounded_for_each_tenant_alone() -> None:
    async def script() -> None:
        scene = Scene(items=1, waiting_items=5)
        await scene.ask("first", "a", 1)
        for n in range(5):
            await scene.ask(f"a{n}", "a", 1)
        began = time.monotonic()
        await scene.ask("too much", "a", 1)
        refusal = await scene.refusal("too much")
        assert time.monotonic() - began < 5
        assert "5 responses of tenant 'a' wait already (`queue.waiting_items` is 5)" in refusal.message
        await scene.ask("b", "b", 1)
        await scene.finish("first", "a0")
        assert scene.order == ["first", "a0", "b"]

    play(script)


def test_the_hint_when_to_come_back_follows_the_pace() -> None:
    async def script() -> None:
        scene = Scene(items=100, wait_s=0)
        for n in range(10):  # 100 responses within a second
            await scene.ask(f"quick {n}", "a", 10)
            await scene.finish(f"quick {n}")
        await scene.ask("first", "a", 100)
        await scene.ask("small", "b", 1)
        await scene.ask("large", "b", 100)
        assert (await scene.refusal("small")).headers["Retry-After"] == "1"
        assert int((await scene.refusal("large")).headers["Retry-After"]) <= 2

    play(script)


def test_who_leaves_while_waiting_makes_room_for_those_behind() -> None:
    async def script() -> None:
        scene = Scene(items=4)
        await scene.ask("first", "a", 2)
        await scene.ask("large", "b", 4)
        await scene.ask("small", "c", 2)
        assert scene.order == ["first"]
        scene.tasks["large"].cancel()
        await asyncio.sleep(0.01)
        assert scene.order == ["first", "small"]

    play(script)


def test_who_leaves_at_the_very_moment_of_admission_gives_the_places_back() -> None:
    async def script() -> None:
        scene = Scene(items=1)
        await scene.ask("first", "a", 1)
        await scene.ask("leaves", "b", 1)
        await scene.ask("next", "c", 1)
        scene._done["first"].set()
        await asyncio.sleep(0)  # `first` gives its place to `leaves`, which has not run yet
        scene.tasks["leaves"].cancel()
        await asyncio.sleep(0.01)
        assert scene.order == ["first", "next"]
        await scene.finish("next")
        assert scene.admission.load.in_flight == 0

    play(script)


@pytest.mark.parametrize("seed", range(10))
def test_whatever_happens_the_bounds_hold_and_every_place_comes_back(seed: int) -> None:
    async def script() -> None:
        rng = random.Random(seed)
        admission = Admission(QueueSettings(items=8, tenant_items=5, waiting_items=12, wait_s=0.02))
        worst: list[int] = []

        async def request(tenant: str, items: int) -> None:
            deadline = asyncio.get_running_loop().time() + rng.choice([0.005, 1.0])
            try:
                async with admission.places(tenant, items, deadline):
                    load = admission.load
                    worst.append(load.in_flight)
                    assert load.in_flight_by_tenant[tenant] <= 5
                    await asyncio.sleep(rng.random() * 0.01)
                    if rng.random() < 0.1:
                        raise ZeroDivisionError
            except (Overloaded, ZeroDivisionError):
                pass

        tasks = []
        for _ in range(200):
            tasks.append(asyncio.create_task(request(rng.choice("abc"), rng.randint(1, 9))))
            if rng.random() < 0.3:
                rng.choice(tasks).cancel()
            await asyncio.sleep(rng.random() * 0.002)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert 0 < max(worst) <= 8
        assert (admission.load.in_flight, admission.load.waiting) == (0, 0)

    play(script)
