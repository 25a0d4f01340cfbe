"""Both clients as objects: proxies, concurrency, event loops, other routes, pickling."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from aiohttp import web

from both_clients import GROUPS, Client, score, with_client, within
from rubricate_clients import (
    AnswerMismatch,
    AsyncRewardClient,
    InvalidRequest,
    RewardClient,
    RewardServiceError,
    ScoreAnswer,
)
from rubricate_clients.faults import ErrorDetail
from scripted_service import ScriptedService, Seen, Step, hang, raw, refuse, scores


def test_proxies_of_the_environment_are_not_used(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with ScriptedService(scores()) as service:
        assert len(score(kind, service.url, timeout_s=2).groups) == 2


def test_no_call_waits_for_another(kind: str) -> None:
    """The service answers only once all calls are in, so that a pool of connections would hang."""
    calls, arrived = 150, 0
    all_in = asyncio.Event()

    async def barrier(request: web.Request, seen: Seen) -> web.StreamResponse:
        nonlocal arrived
        arrived += 1
        if arrived == calls:
            all_in.set()
        await all_in.wait()
        return await scores()(request, seen)

    def use(client: Client) -> Any:
        if kind == "sync":
            with ThreadPoolExecutor(calls) as pool:
                return list(pool.map(lambda _: client.score(GROUPS), range(calls)))
        return asyncio.gather(*(client.score(GROUPS) for _ in range(calls)))

    with ScriptedService(barrier) as service:
        answers = with_client(kind, service.url, use, timeout_s=30)
    assert len(answers) == calls
    assert len({seen.headers["idempotency-key"] for seen in service.seen}) == calls


def test_an_async_client_outlives_its_event_loop() -> None:
    with ScriptedService(scores()) as service:
        client = AsyncRewardClient(service.url)

        async def once() -> ScoreAnswer:
            try:
                return await client.score(GROUPS)
            finally:
                await client.aclose()

        assert asyncio.run(once()) == asyncio.run(once())


def test_a_caller_that_is_cancelled_stops_at_once() -> None:
    async def main(url: str) -> None:
        async with AsyncRewardClient(url) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.score(GROUPS), 0.2)

    with ScriptedService(hang) as service, within(0.2, 0.8):
        asyncio.run(main(service.url))


def _json(body: object) -> Step:
    async def step(request: web.Request, seen: Seen) -> web.StreamResponse:
        return web.json_response(body)

    return step


ADVANTAGES = {
    "groups": [
        {"id": "1", "advantages": [0.1, 0.2, 0.3], "a_out": None, "a_proc": None},
        {"id": "rivers", "advantages": [1.0, -1.0], "a_out": [1.0, -1.0], "a_proc": [0.0, 0.0]},
    ],
    "diagnostics": {"zero_groups": 0.0},
}


def test_advantages_of_a_score_answer(kind: str) -> None:
    with ScriptedService(scores(), _json(ADVANTAGES)) as service:
        groups = score(kind, service.url).groups
        answer = with_client(
            kind, service.url, lambda client: client.advantages(groups, "rdan", quality_weight=0.5)
        )
    sent = service.seen[1].json
    assert (sent["method"], sent["quality_weight"]) == ("rdan", 0.5)
    assert sent["groups"][0]["responses"][1] == {
        "id": "b", "outcome": 1.0, "quality": 0.5, "valid": True, "eligible": True, "reward": 0.5,
    }  # fmt: skip
    assert [group.id for group in answer.groups] == ["rivers", "1"]
    assert answer.groups[0].advantages == [1.0, -1.0]


def test_advantages_for_another_number_of_responses_are_no_answer(kind: str) -> None:
    short = {**ADVANTAGES, "groups": [ADVANTAGES["groups"][0], {"id": "rivers", "advantages": [1.0], "a_out": None, "a_proc": None}]}  # type: ignore[index]  # fmt: skip  # noqa: E501
    with ScriptedService(scores(), _json(short)) as service:
        groups = score(kind, service.url).groups
        with pytest.raises(AnswerMismatch, match=r"groups\[0\]\.advantages has 1 values for 2 responses"):
            with_client(kind, service.url, lambda client: client.advantages(groups, "rdan"))


def test_a_parameter_of_another_method_is_refused(kind: str) -> None:
    numbers = [{"responses": [{"outcome": 1.0, "quality": None, "eligible": True, "valid": True}]}]
    with ScriptedService(scores()) as service, pytest.raises(InvalidRequest) as caught:
        with_client(kind, service.url, lambda client: client.advantages(numbers, "grpo", r_max=1.0))
    assert "r_max" in str(caught.value)
    assert not service.seen


@pytest.mark.usefixtures("no_wait")
def test_any_route_is_posted_to_with_retries_and_one_key(kind: str) -> None:
    with ScriptedService(refuse(503), raw(b'{"findings": []}')) as service:
        lint = lambda client: client.post("/v1/rubrics/lint", b"{}", run="r7")  # noqa: E731
        assert with_client(kind, service.url, lint, token="t") == b'{"findings": []}'
    assert [(seen.path, seen.body) for seen in service.seen] == [("/v1/rubrics/lint", b"{}")] * 2
    assert {seen.headers["x-run"] + seen.headers["authorization"] for seen in service.seen} == {"r7Bearer t"}
    assert len({seen.headers["idempotency-key"] for seen in service.seen}) == 1


def test_the_catalogue(kind: str) -> None:
    entry = {"id": "ifbench@2025:odd/id?", "version": "1"}
    with ScriptedService(_json({"checks": [entry]}), _json(entry)) as service:
        assert with_client(kind, service.url, lambda client: client.checks()) == [entry]
        assert with_client(kind, service.url, lambda client: client.check(entry["id"])) == entry
    assert [(seen.method, seen.path) for seen in service.seen] == [
        ("GET", "/v1/checks"),
        ("GET", "/v1/checks/ifbench@2025:odd/id?"),
    ]
    assert "idempotency-key" not in service.seen[0].headers


@pytest.mark.parametrize("error", [RewardServiceError, *RewardServiceError.__subclasses__()])
def test_errors_survive_pickling(error: type[RewardServiceError]) -> None:
    before = error("what was wrong", 422, "invalid_request", [ErrorDetail(path="groups", message="empty")])
    after = pickle.loads(pickle.dumps(before))
    assert type(after) is error
    assert vars(after) == vars(before)
    assert str(after) == str(before) == "what was wrong\n  groups: empty"


@pytest.mark.parametrize("client", [RewardClient, AsyncRewardClient])
def test_clients_survive_pickling(client: Client) -> None:
    copy = pickle.loads(pickle.dumps(client("http://127.0.0.1:1/", token="t0ken", timeout_s=3)))
    assert repr(copy) == f"{client.__name__}('http://127.0.0.1:1', timeout_s=3)"
    assert copy._token == "t0ken"
    assert "t0ken" not in repr(copy)


def test_importing_the_client_is_light() -> None:
    heavy = ["fastapi", "starlette", "nltk", "torch", "numpy", "aiohttp", "httpx2", "rubricate_service"]
    program = (
        "import sys, time; start = time.process_time(); import rubricate_clients.client; "
        f"print(time.process_time() - start, *(m for m in {heavy} if m in sys.modules))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(3)
    ]
    assert [modules for _, *modules in runs] == [[], [], []]
    assert min(float(seconds) for seconds, *_ in runs) < 0.4  # of the processor, whatever else runs
