"""Both clients against a service that fails: retries, deadlines, and what is told."""

from __future__ import annotations

import logging
import socket
import threading
import time

import pytest

from both_clients import GROUPS, score, within
from rubricate_clients import (
    AnswerMismatch,
    Conflict,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    RewardClient,
    RewardServiceError,
    ServiceUnavailable,
    Unauthorized,
)
from rubricate_clients.faults import ErrorDetail
from scripted_service import ScriptedService, Step, cut, drip, hang, raw, refuse, scores


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
