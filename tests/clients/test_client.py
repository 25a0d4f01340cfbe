"""Both clients against a scripted service: retries, deadlines, ids, and what they send."""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from scripted_service import Body, ScriptedService, Seen, Step, cut, drip, hang, raw, refuse, scores

from rubricate_clients import (
    AnswerMismatch,
    AsyncRewardClient,
    Conflict,
    DeadlineExceeded,
    Group,
    InvalidRequest,
    NotFound,
    Options,
    RewardClient,
    RewardServiceError,
    Rubric,
    ScoreAnswer,
    ServiceUnavailable,
    Unauthorized,
)
from rubricate_clients.faults import ErrorDetail

GROUPS: list[dict[str, Any]] = [
    {
        "id": "rivers",
        "prompt": "Name three rivers.",
        "rubrics": [
            {"id": "short", "check": "text:word_count", "kwargs": {"max": 5}},
            {"id": "true", "criterion": "All three are rivers."},
        ],
        "responses": ["Rhine, Nile, Amazon", {"id": "b", "text": "There are many."}],
    },
    {"prompt": "Say no.", "rubrics": [{"criterion": "It says no."}], "responses": ["No.", "Yes.", "No."]},
]

Client = Any  # one of the two: the same calls, awaited or not


def with_client(kind: str, url: str, use: Callable[[Client], Any], **arguments: Any) -> Any:
    """Result of `use` on a client of that kind, which is closed afterwards."""
    if kind == "sync":
        with RewardClient(url, **arguments) as client:
            return use(client)

    async def main() -> Any:
        async with AsyncRewardClient(url, **arguments) as client:
            return await use(client)

    return asyncio.run(main())


def score(kind: str, url: str, timeout_s: float = 10.0) -> ScoreAnswer:
    answer: ScoreAnswer = with_client(kind, url, lambda client: client.score(GROUPS), timeout_s=timeout_s)
    return answer


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without a pause; those that a Retry-After asks for stay."""
    monkeypatch.setattr("rubricate_clients._call._BACKOFF_S", 0.0)


@contextmanager
def within(low: float, high: float) -> Iterator[None]:
    """Asserts that the block takes so many seconds."""
    start = time.monotonic()
    yield
    assert low <= time.monotonic() - start < high


def test_answer_is_the_services(kind: str) -> None:
    with ScriptedService(scores()) as service:
        answer = score(kind, service.url)
    assert [group.id for group in answer.groups] == ["rivers", "1"]
    assert [response.id for response in answer.groups[0].responses] == ["0", "b"]
    assert [verdict.score for verdict in answer.groups[0].responses[1].rubrics] == [1 / 2, 1 / 3]
    assert len(service.seen) == 1


@pytest.mark.usefixtures("no_wait")
@pytest.mark.parametrize(
    "failure",
    [*(refuse(status) for status in (429, 500, 502, 503, 504)), raw(b"<h1>busy</h1>", 503), cut],
    ids=["429", "500", "502", "503", "504", "503 of a proxy", "cut"],
)
def test_failures_of_the_service_are_retried_as_the_same_request(kind: str, failure: Step) -> None:
    with ScriptedService(failure, scores()) as service:
        answer = score(kind, service.url)
    assert len(answer.groups) == 2
    first, second = service.seen
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"] != ""


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (302, AnswerMismatch),
        (400, InvalidRequest),
        (401, Unauthorized),
        (403, Unauthorized),
        (404, NotFound),
        (405, InvalidRequest),
        (409, Conflict),
        (413, InvalidRequest),
        (422, InvalidRequest),
    ],
)
def test_faults_of_the_caller_are_not_retried(
    kind: str, status: int, error: type[RewardServiceError]
) -> None:
    step = refuse(status, "some_type", "told so", Location="/elsewhere")
    with ScriptedService(step) as service, pytest.raises(error, match="told so") as caught:
        score(kind, service.url)
    assert (caught.value.status, caught.value.type) == (status, "some_type")
    assert len(service.seen) == 1


def test_details_of_a_refusal_reach_the_caller(kind: str) -> None:
    body = (
        b'{"error": {"type": "invalid_request", "message": "1 fault", "details": '
        b'[{"path": "groups[0].rubrics[1].id", "message": "taken"}]}}'
    )
    with ScriptedService(raw(body, 422)) as service, pytest.raises(InvalidRequest) as caught:
        score(kind, service.url)
    assert caught.value.details == (ErrorDetail(path="groups[0].rubrics[1].id", message="taken"),)
    assert "groups[0].rubrics[1].id: taken" in str(caught.value)


@pytest.mark.usefixtures("no_wait")
def test_a_second_500_is_the_end(kind: str) -> None:
    steps = refuse(503), refuse(500), refuse(500), scores()
    with ScriptedService(*steps) as service, pytest.raises(ServiceUnavailable, match="500 scripted"):
        score(kind, service.url)
    assert len(service.seen) == 3


def test_retry_after_is_honoured(kind: str) -> None:
    with ScriptedService(refuse(429, "overloaded", Retry_After="1"), scores()) as service:
        score(kind, service.url)
    first, second = service.seen
    assert 1.0 <= second.at - first.at < 2.0


def test_retry_after_beyond_the_deadline_fails_at_once(kind: str) -> None:
    step, told = refuse(503, Retry_After="30"), r"a pause of 30\.\d s, and [12]\.\d of 2 s are left"
    with ScriptedService(step) as service, within(0, 1), pytest.raises(ServiceUnavailable, match=told):
        score(kind, service.url, timeout_s=2)
    assert len(service.seen) == 1


@pytest.mark.parametrize("step", [hang, drip], ids=["hang", "drip"])
def test_a_slow_answer_ends_at_the_deadline(kind: str, step: Step) -> None:
    told = r"no answer within 0\.5 s \(attempt 1\)"
    with ScriptedService(step) as service, within(0.5, 1.0), pytest.raises(DeadlineExceeded, match=told):
        score(kind, service.url, timeout_s=0.5)


def test_a_deadline_covers_all_attempts_and_tells_of_the_one_before(kind: str) -> None:
    steps, told = (refuse(503, message="still loading"), hang), r"\(attempt 2\).*still loading"
    with ScriptedService(*steps) as service, within(1.0, 1.5), pytest.raises(DeadlineExceeded, match=told):
        score(kind, service.url, timeout_s=1.0)


def test_headers_that_drip_end_at_the_deadline(kind: str) -> None:
    """A time-out per read, which blocking sockets have, would never fire."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Padding: ")
                    for _ in range(60):
                        time.sleep(0.05)
                        connection.sendall(b".")
                except OSError:
                    pass  # the client is gone

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with within(0.5, 1.0), pytest.raises(DeadlineExceeded):
                score(kind, f"http://127.0.0.1:{server.getsockname()[1]}", timeout_s=0.5)
        finally:
            thread.join()


def test_an_attempt_past_its_deadline_leaves_no_thread() -> None:
    with ScriptedService(drip) as service, RewardClient(service.url, timeout_s=0.3) as client:
        with pytest.raises(DeadlineExceeded):
            client.score(GROUPS)
        end = time.monotonic() + 2
        while any(thread.name == "rubricate-call" for thread in threading.enumerate()):
            assert time.monotonic() < end, "the thread reads on"
            time.sleep(0.02)


def test_a_service_that_is_down_is_unavailable(kind: str) -> None:
    with ScriptedService(scores()) as service:
        pass
    with within(0, 1.5), pytest.raises(ServiceUnavailable, match="cannot be reached") as caught:
        score(kind, service.url, timeout_s=1.0)
    assert caught.value.status is None


def test_a_service_that_starts_late_is_waited_for(kind: str) -> None:
    with ScriptedService(scores()) as service:
        pass
    later = threading.Timer(0.5, service.start)
    later.start()
    try:
        assert len(score(kind, service.url).groups) == 2
    finally:
        later.join()
        service.stop()


def test_retries_are_logged(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "rubricate")
    with ScriptedService(refuse(503, message="still loading"), scores()) as service:
        score(kind, service.url)
    assert [record.name for record in caplog.records] == ["rubricate"]
    assert "503 still loading; trying again in" in caplog.text


def _response(answer: Body) -> Body:
    response: Body = answer["groups"][0]["responses"][0]
    return response


def test_a_permuted_answer_is_put_in_order(kind: str) -> None:
    def permute(answer: Body) -> None:
        for group in answer["groups"]:
            for response in group["responses"]:
                response["rubrics"].reverse()
            group["responses"].reverse()
        answer["groups"].reverse()

    with ScriptedService(scores()) as service:
        straight = score(kind, service.url)
    with ScriptedService(scores(permute)) as service:
        assert score(kind, service.url) == straight


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda a: a["groups"].pop(), r"groups are not those of the request \(missing: '1'\)"),
        (lambda a: a["groups"].append(a["groups"][0] | {"id": "x"}), r"groups .*\(not asked for: 'x'\)"),
        (lambda a: a["groups"].append(a["groups"][0]), r"groups .*\(more than once: 'rivers'\)"),
        (
            lambda a: a["groups"][1].update(id="rivers"),
            r"groups .*\(missing: '1'; more than once: 'rivers'\)",
        ),
        (
            lambda a: a["groups"][1]["responses"].pop(0),
            r"groups\[1\]\.responses .*\(missing: '0'\)",
        ),
        (
            lambda a: _response(a).update(id="b"),
            r"groups\[0\]\.responses .*\(missing: '0'; more than once: 'b'\)",
        ),
        (
            lambda a: _response(a)["rubrics"].pop(),
            r"groups\[0\]\.responses\[0\]\.rubrics .*\(missing: 'true'\)",
        ),
        (
            lambda a: _response(a)["rubrics"][0].update(id="long"),
            r"rubrics .*\(missing: 'short'; not asked for: 'long'\)",
        ),
    ],
)
def test_ids_that_do_not_match_are_no_answer(kind: str, edit: Callable[[Body], object], told: str) -> None:
    with ScriptedService(scores(edit)) as service, pytest.raises(AnswerMismatch, match=told):
        score(kind, service.url)
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (raw(b"<!doctype html>"), "(body): Invalid JSON"),
        (raw(b'{"groups": ['), "(body): Invalid JSON"),
        (raw(b'{"groups": ["\xff"]}'), "(body): Invalid JSON"),
        (raw(b"{}"), "groups: required, but missing"),
        (scores(lambda a: _response(a).pop("outcome")), "groups[0].responses[0].outcome: required"),
    ],
    ids=["html", "json that ends", "not UTF-8", "empty", "no outcome"],
)
def test_an_unreadable_answer_is_no_answer(kind: str, step: Step, told: str) -> None:
    with ScriptedService(step) as service, pytest.raises(AnswerMismatch) as caught:
        score(kind, service.url)
    assert told in str(caught.value)


GROUP = GROUPS[0]


@pytest.mark.parametrize(
    ("groups", "options", "path"),
    [
        ([], None, "groups"),
        ([{**GROUP, "promt": "x"}], None, "groups[0].promt"),
        ([GROUP, {**GROUP, "id": "rivers"}], None, "groups[1].id"),
        ([{**GROUP, "responses": []}], None, "groups[0].responses"),
        ([{**GROUP, "responses": [{"text": "\ud800"}]}], None, "groups[0].responses[0].text"),
        ([{**GROUP, "responses": [{"txt": ""}]}], None, "groups[0].responses[0].txt"),
        ([{**GROUP, "prompt": [{"role": "user"}]}], None, "groups[0].prompt[0].content"),
        (
            [{**GROUP, "rubrics": [{"criterion": "x", "weight": float("nan")}]}],
            None,
            "groups[0].rubrics[0].weight",
        ),
        (
            [{**GROUP, "rubrics": [{"check": "a:b", "kwargs": {"str": [float("inf")]}}]}],
            None,
            "groups[0].rubrics[0].kwargs.str[0]",
        ),
        ([GROUP], {"judging": "maybe"}, "options.judging"),
        ([GROUP], {"deadline_s": 0}, "options.deadline_s"),
        ([GROUP], {"advantages": {"method": "rdan", "r_max": 1.0}}, "options.advantages"),
    ],
)
def test_a_faulty_request_is_found_before_it_is_sent(
    kind: str, groups: list[Body], options: Body | None, path: str
) -> None:
    with ScriptedService(scores()) as service, pytest.raises(InvalidRequest) as caught:
        with_client(kind, service.url, lambda client: client.score(groups, options))
    assert path in [detail.path for detail in caught.value.details]
    assert caught.value.status is None
    assert not service.seen


def _nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("kwargs", "told"),
    [
        ({"n": np.int64(3)}, "groups[0].rubrics[0].kwargs.n: a int64 is not a JSON value"),
        ({"n": [1, object()]}, "groups[0].rubrics[0].kwargs.n[1]: a object is not a JSON value"),
        ({"n": "a\ud800"}, "groups[0].rubrics[0].kwargs.n: a lone surrogate at character 1 is no text"),
        ({"n": _nested(500)}, "cannot be written as JSON"),
        ({"n": _nested(100_000)}, "nested too deeply"),
    ],
    ids=["numpy", "object", "surrogate", "deep", "very deep"],
)
def test_kwargs_that_are_not_json_are_found_before_they_are_sent(kind: str, kwargs: Body, told: str) -> None:
    groups = [{**GROUP, "rubrics": [{"check": "a:b", "kwargs": kwargs}]}]
    with ScriptedService(scores()) as service, pytest.raises(InvalidRequest, match="was not sent") as caught:
        with_client(kind, service.url, lambda client: client.score(groups))
    assert told in str(caught.value)
    assert not service.seen


def test_what_is_sent(kind: str) -> None:
    labels = {"request_id": "r-1", "run": "trial", "step": 7, "idempotency_key": "k-1"}
    with ScriptedService(scores()) as service:
        with_client(
            kind,
            service.url,
            lambda client: client.score(GROUPS, {"mode": "loose"}, **labels),
            token="t0ken",
            timeout_s=20.0,
        )
    (seen,) = service.seen
    assert (seen.method, seen.path) == ("POST", "/v1/score")
    assert seen.json == {"groups": GROUPS, "options": {"mode": "loose", "deadline_s": 18.0}}
    sent = {
        "authorization": "Bearer t0ken",
        "content-type": "application/json",
        "x-request-id": "r-1",
        "x-run": "trial",
        "x-step": "7",
        "idempotency-key": "k-1",
    }
    assert sent.items() <= seen.headers.items()


def test_models_are_sent_as_the_same_bytes_as_dicts(kind: str) -> None:
    groups = [Group(prompt="Say no.", rubrics=[Rubric(criterion="It says no.")], responses=["No."])]
    options = Options(deadline_s=5.0)
    with ScriptedService(scores()) as service:
        with_client(kind, service.url, lambda client: client.score(groups, options))
        plain = [{"prompt": "Say no.", "rubrics": [{"criterion": "It says no."}], "responses": ["No."]}]
        with_client(kind, service.url, lambda client: client.score(plain, {"deadline_s": 5.0}))
    assert service.seen[0].body == service.seen[1].body
    assert options == Options(deadline_s=5.0)


@pytest.mark.parametrize("label", ["two\nlines", "naïve"])
def test_a_label_that_no_header_can_carry_is_refused(kind: str, label: str) -> None:
    with ScriptedService(scores()) as service, pytest.raises(InvalidRequest, match="X-Run"):
        with_client(kind, service.url, lambda client: client.score(GROUPS, run=label))
    assert not service.seen


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"url": "127.0.0.1:8080"}, "address of a service"),
        ({"url": "http://"}, "address of a service"),
        ({"url": "http://host:99999"}, "out of range"),
        ({"url": "http://user:pass@host"}, "user or password"),
        ({"url": "http://host", "token": "a\n"}, "newline"),
        ({"url": "http://host", "timeout_s": 0}, "above 0"),
        ({"url": "http://host", "timeout_s": float("nan")}, "above 0"),
    ],
)
@pytest.mark.parametrize("client", [RewardClient, AsyncRewardClient])
def test_a_client_that_cannot_work_is_not_made(client: Client, arguments: Body, told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        client(**arguments)
    assert "pass" not in str(caught.value).replace("password", "")


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
