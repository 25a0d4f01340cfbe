"""The load of the soak: requests whose verdicts are known from a quiet run, sent by clients of all kinds.

Every case is asked again and again with another serial number in its texts, so that little of it is cached;
neither the checks nor the fake judge take note of the number, and the quiet run shows that they do not.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import aiohttp
import orjson
from _soak_verdicts import Fault, Tally
from _texts import text

from rubricate_checkers import CheckerError, Text, build, catalogue, evaluate
from rubricate_clients import AsyncRewardClient
from rubricate_clients.errors import RewardServiceError

PATIENCE_S = 120.0
"""Of a client: members whose Redis is killed are told after 40 s, and may meet that twice."""
DEADLINE_S = 20.0
MEMBERS = 4
_COMPARED = ("outcome", "quality")
_CRITERIA = ("The answer is clear.", "The answer stays on topic.", "The tone is apt.", "It names a river.")
_RULES = (
    "def check_following(instruction, response):\n    return len(response.split()) > 60",
    "import re\ndef check_following(instruction, response):\n    return bool(re.search('river', response))",
    "def check_following(instruction, response):\n    return response.count(',') % 2 == 0",
    "def check_following(instruction, response):\n    return len(response) / response.count('zzz') > 1",
)

Case = Callable[[int], dict[str, Any]]
"""Makes a body for `POST /v1/score` with a serial number in its texts."""


def case(kind: str, number: int) -> Case:
    """The case of a kind and a number: always the same one."""
    rng = random.Random(f"{kind} {number}")
    shape = {"step": (12, 8), "judge": (1, 8), "rules": (4, 4), "single": (1, 1), "group": (1, MEMBERS)}[kind]
    groups = [_group(kind, rng, shape[1]) for _ in range(shape[0])]
    options: dict[str, Any] = {"deadline_s": DEADLINE_S}
    if shape[1] > 1:
        options["advantages"] = {"method": "rdan"}
    if kind == "judge":
        options["judging"] = "all"

    def body(serial: int) -> dict[str, Any]:
        numbered = [
            {**group, "responses": [f"{response} Entry {serial:09d}." for response in group["responses"]]}
            for group in groups
        ]
        # what is asked for once only would fill the table of recent verdicts for hours, and its growth
        # would look like a leak
        cache = "off" if serial else "use"
        return {"groups": numbered, "options": {**options, "cache": cache}}

    return body


def _group(kind: str, rng: random.Random, responses: int) -> dict[str, Any]:
    checks = rng.sample(CHECKS, {"step": 4, "single": 2, "judge": 0}.get(kind, 1))
    if kind == "rules":
        checks = [{"check": "rule:python", "kwargs": {"source": source}} for source in rng.sample(_RULES, 3)]
    criteria: list[dict[str, Any]] = [
        {"criterion": criterion}
        for criterion in rng.sample(_CRITERIA, {"judge": 4, "rules": 0, "single": 1}.get(kind, 2))
    ]
    if kind == "step" and rng.random() < 0.3:
        criteria[0] |= {"hard": True, "pass_at": 0.5}
    # soft ones, so that there are responses left to judge
    soft = [{**check, "hard": rng.random() < 0.3} for check in checks]
    return {
        "prompt": text(rng, (1, 1))[:300],
        "rubrics": soft + criteria,
        "responses": [text(rng, (1, 3)) for _ in range(responses)],
    }


def _usable_checks() -> list[dict[str, Any]]:
    found = []
    for entry in catalogue():
        if entry.suite in ("ifeval", "ifbench", "text"):
            with suppress(CheckerError):  # its data is not installed
                check = build(entry.id, entry.example.kwargs)
                evaluate(Text("Some words.", "Some words."), check)
                found.append({"check": entry.id, "kwargs": entry.example.kwargs})
    return found


CHECKS = _usable_checks()


@dataclass
class Load:
    """Clients that send cases to services at random, and compare what comes back.

    Args:
        urls: Addresses of the services.
        overlapping: The faults that a request of a time may have met.
        tally: Where results are counted.
    """

    urls: list[str]
    overlapping: Callable[[float, float], list[Fault]]
    tally: Tally
    latencies: dict[str, list[float]] = field(default_factory=dict)
    _quiet: dict[tuple[str, int], list[dict[str, Any]]] = field(default_factory=dict)
    _serial: int = 0

    async def learn(self, cases: dict[str, int]) -> None:
        """Score so many cases of each kind without faults, each twice; their verdicts are the right ones.

        Raises:
            ValueError: A verdict depends on the serial number, or failed: the case is of no use.
        """
        async with AsyncRewardClient(self.urls[0], timeout_s=PATIENCE_S) as client:
            for kind, count in cases.items():
                for number in range(count):
                    body = case(kind, number)
                    first, second = [await _score(client, body(serial)) for serial in (0, 123_456_789)]
                    trial = Tally()
                    trial.compare(first, second, [])
                    if trial.wrong:
                        raise ValueError(f"{kind} {number} depends on its serial number: {trial.wrong[0]}")
                    self._quiet[kind, number] = first

    async def run(self, until: float) -> None:
        """Send requests until then (monotonic), and wait for the answers of the last ones."""
        async with AsyncExitStack() as stack:
            session = await stack.enter_async_context(aiohttp.ClientSession())
            clients = [
                await stack.enter_async_context(AsyncRewardClient(url, timeout_s=PATIENCE_S))
                for url in self.urls
            ]
            work: list[Callable[[random.Random], Coroutine[Any, Any, None]]] = [
                *[lambda rng: self._ask("step", rng, clients)] * 2,
                *[lambda rng: self._ask("single", rng, clients)] * 4,
                *[lambda rng: self._ask("judge", rng, clients)] * 2,
                lambda rng: self._ask("rules", rng, clients),
                *[lambda rng: self._meet(rng, session)] * 2,
                lambda rng: self._leave(rng, session),
            ]

            async def client(number: int) -> None:
                rng = random.Random(number)
                while time.monotonic() < until:
                    await work[number](rng)
                    await asyncio.sleep(rng.uniform(0.0, 0.6))

            await asyncio.gather(*map(client, range(len(work))))

    async def _ask(self, kind: str, rng: random.Random, clients: list[AsyncRewardClient]) -> None:
        """One request of a client that tries again by itself."""
        number, quiet = self._choose(kind, rng)
        body, began = case(kind, number)(self._next_serial(rng)), time.monotonic()
        try:
            got = await _score(rng.choice(clients), body)
        except RewardServiceError as error:
            self.tally.accuse(f"a {kind} request was lost: {type(error).__name__}: {error.message}")
            return
        self._count(kind, began)
        self.tally.compare(quiet, got, self.overlapping(began, time.monotonic()))

    async def _meet(self, rng: random.Random, session: aiohttp.ClientSession) -> None:
        """A group whose members are sent one by one to any service, as slime sends them."""
        number, quiet = self._choose("group", rng)
        serial = self._next_serial(rng) or self._next_serial(None)
        body = case("group", number)(serial)
        (group,), options = body["groups"], body["options"]
        label = {"rubrics": group["rubrics"], "size": MEMBERS, "group": serial, "options": options}

        async def member(index: int) -> None:
            sample = {"prompt": group["prompt"], "response": group["responses"][index], "label": label}
            began = time.monotonic()
            got = await self._persist(session, rng, orjson.dumps(sample))
            if got is None:
                return
            faults = self.overlapping(began, time.monotonic())
            self._count("group member", began)
            self._compare_member(quiet[0]["responses"][index], got, faults)

        await asyncio.gather(*map(member, range(MEMBERS)))

    async def _persist(
        self, session: aiohttp.ClientSession, rng: random.Random, sample: bytes
    ) -> dict[str, float] | None:
        """The answer to a sample that is sent until it is answered, or None when patience has ended."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid4().hex}
        began, attempts = time.monotonic(), []
        while time.monotonic() < began + PATIENCE_S:
            url = f"{rng.choice(self.urls)}/compat/slime"
            try:
                async with session.post(url, data=sample, headers=headers) as answer:
                    content = await answer.read()
            except (aiohttp.ClientError, TimeoutError) as error:
                said = type(error).__name__
            else:
                if answer.status == 200:
                    numbers: dict[str, float] = orjson.loads(content)
                    return numbers
                said = f"{answer.status} {content[:200]!r}"
                if answer.status not in (429, 503):
                    break
            attempts.append(f"{time.monotonic() - began:.0f} s: {said}")
            await asyncio.sleep(0.5)
        self.tally.accuse(f"a member of a group was lost; after {'; '.join(attempts)}")
        return None

    def _compare_member(self, quiet: dict[str, Any], got: dict[str, float], faults: list[Fault]) -> None:
        """A member's own scores must be those of the quiet run; advantages when no fault met it."""
        around = ", ".join(fault.name for fault in faults) or "no fault"
        for name in _COMPARED:
            if got[name] != (quiet[name] or 0.0) and not (name == "quality" and not got["quality_valid"]):
                self.tally.accuse(f"{name} {got[name]} of a member instead of {quiet[name]} during {around}")
        if faults:
            return
        if got["members"] != MEMBERS or not got["valid"]:
            self.tally.accuse(f"a group had {got['members']:.0f} members of {MEMBERS} during {around}")
        elif abs(got["advantage"] - quiet["advantage"]) > 1e-9:
            self.tally.accuse(f"advantage {got['advantage']} instead of {quiet['advantage']} during {around}")

    async def _leave(self, rng: random.Random, session: aiohttp.ClientSession) -> None:
        """A client that closes its connection before the answer has come, or just then."""
        number, _ = self._choose("step", rng)
        body = case("step", number)(self._next_serial(rng))
        timeout = aiohttp.ClientTimeout(total=rng.uniform(0.01, 0.5))
        with suppress(aiohttp.ClientError, TimeoutError):
            url = f"{rng.choice(self.urls)}/v1/score"
            async with session.post(url, data=orjson.dumps(body), timeout=timeout) as answer:
                await answer.read()
        self.tally.requests["left"] += 1

    def _choose(self, kind: str, rng: random.Random) -> tuple[int, list[dict[str, Any]]]:
        number = rng.choice([number for known, number in self._quiet if known == kind])
        return number, self._quiet[kind, number]

    def _next_serial(self, rng: random.Random | None) -> int:
        """A number not used before; now and then 0, whose verdicts are in the cache."""
        if rng is not None and rng.random() < 0.2:
            return 0
        self._serial += 1
        return self._serial

    def _count(self, kind: str, began: float) -> None:
        self.tally.requests[kind] += 1
        self.latencies.setdefault(kind, []).append(time.monotonic() - began)


async def _score(client: AsyncRewardClient, body: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await client.score(body["groups"], body["options"])
    return [group.model_dump() for group in answer.groups]
