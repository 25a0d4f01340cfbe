"""A judge that is down, hangs or answers garbage: the rest of the batch arrives, in time and right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.settings import Settings
from serving import running_server

GROUP = {
    "prompt": "Say something.",
    "rubrics": [
        {"id": "comma", "check": "punctuation:no_comma"},
        {"id": "kind", "criterion": "The answer is kind."},
        {"id": "true", "criterion": "The answer is true."},
    ],
    "responses": ["good one", "good two", "bad, three"],
}


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="2") as judge:
        yield judge


@pytest.fixture
def client(judge: FakeJudge, tmp_path: Path) -> Iterator[TestClient]:
    settings = Settings(judge=judge.url, cache=str(tmp_path / "v.db"), check_workers=1)
    with TestClient(create_app(settings)) as client:
        yield client


def score(client: TestClient, **options: Any) -> tuple[dict[str, Any], float]:
    began = time.monotonic()
    answer = client.post("/v1/score", json={"groups": [GROUP], "options": options})
    assert answer.status_code == 200, answer.text
    return answer.json(), time.monotonic() - began


def kinds(body: dict[str, Any], rubric: int) -> list[str | None]:
    verdicts = [r["rubrics"][rubric] for r in body["groups"][0]["responses"]]
    assert all((v["score"] is None) == (v["status"] != "scored") for v in verdicts)
    return [v["error"]["kind"] if v["status"] == "failed" else v["status"] for v in verdicts]


# fault -> kind, seconds within which everything is there
FAULTS: list[tuple[Fault, str, float]] = [
    (Fault.status(500), "unreachable", 3.0),
    (Fault.status(503), "overloaded", 2.6),
    (Fault.status(429, retry_after=0.1), "overloaded", 2.6),
    (Fault.status(401), "unauthorized", 1.0),
    (Fault.hang(), "timeout", 2.6),
    (Fault.drip(1, 0.2), "timeout", 2.6),
    (Fault.garbage("html"), "unreadable", 1.0),
    (Fault.garbage("utf8"), "unreadable", 1.0),
    (Fault.text("I think it is fine: 2"), "unreadable", 1.0),
    (Fault.truncated(), "truncated", 1.0),
    (Fault.refusal(), "refused", 1.0),
    (Fault.too_long(), "too_long", 1.0),
    (Fault.wrong_model("impostor"), "identity", 1.0),
    (Fault.reset(), "unreachable", 2.0),
]


@pytest.mark.parametrize(("fault", "kind", "seconds"), FAULTS, ids=lambda v: str(v)[:40])
def test_a_fault_on_one_criterion_leaves_the_others_alone(
    client: TestClient, judge: FakeJudge, fault: Fault, kind: str, seconds: float
) -> None:
    judge.fail_when(fault, lambda call: "answer is kind" in call.text)
    body, took = score(client, deadline_s=2.0, advantages={"method": "rdan"})
    assert kinds(body, 0) == ["scored"] * 3
    assert kinds(body, 1) == [kind, kind, "skipped"]
    assert kinds(body, 2) == ["scored", "scored", "skipped"]
    responses = body["groups"][0]["responses"]
    assert [r["outcome"] for r in responses] == [1.0, 1.0, 0.0]
    assert [r["quality"] for r in responses] == [None] * 3
    assert [r["a_proc"] for r in responses] == [0.0] * 3
    assert took < seconds
    judge.heal()
    assert kinds(score(client, advantages={"method": "rdan"})[0], 1) == ["scored", "scored", "skipped"]


def test_a_judge_that_is_down_fails_fast_and_serves_again_when_it_is_back(
    client: TestClient, judge: FakeJudge
) -> None:
    judge.stop()
    body, took = score(client)
    assert kinds(body, 0) == ["scored"] * 3
    assert kinds(body, 1) == ["unreachable", "unreachable", "skipped"]
    assert took < 2.0
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert ready.json()["checks"]["judge"]["status"] == "failing"
    judge.start()
    assert kinds(score(client)[0], 1) == ["scored", "scored", "skipped"]
    assert client.get("/readyz").json()["status"] == "ok"


def test_an_endless_check_and_a_hanging_judge_leave_the_other_verdicts(
    client: TestClient, judge: FakeJudge
) -> None:
    judge.fail_when(Fault.hang(), lambda call: "answer is kind" in call.text)
    endless = {"check": "keywords:existence", "kwargs": {"keywords": ["(a+)+$"]}, "hard": False}
    group = {
        "prompt": "Say something.",
        "rubrics": [endless, *GROUP["rubrics"]],
        "responses": ["a" * 40 + "b", "good"],
    }
    began = time.monotonic()
    answer = client.post("/v1/score", json={"groups": [group], "options": {"deadline_s": 2.0}})
    assert time.monotonic() - began < 3.0
    first, second = answer.json()["groups"][0]["responses"]
    assert [v["status"] for v in first["rubrics"]] == ["failed", "scored", "failed", "scored"]
    assert [v["status"] for v in second["rubrics"]] == ["scored", "scored", "failed", "scored"]
    assert first["rubrics"][0]["error"]["kind"] == "timeout"


def test_a_client_that_goes_away_has_its_judge_calls_cancelled(judge: FakeJudge, tmp_path: Path) -> None:
    judge.fail_when(Fault.hang(), lambda call: True)
    settings = Settings(judge=judge.url, cache=str(tmp_path / "v.db"), check_workers=1)
    with running_server(create_app(settings)) as url:
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.post(f"{url}/v1/score", json={"groups": [GROUP]}, timeout=1.0, trust_env=False)
        assert judge.in_flight == len(judge.calls) == 4
        until = time.monotonic() + 0.5
        while judge.in_flight and time.monotonic() < until:
            time.sleep(0.01)
        assert judge.in_flight == 0


@pytest.mark.parametrize("status", [429, 503])
def test_rejections_before_work_are_queued_again_and_all_is_scored(
    client: TestClient, judge: FakeJudge, status: int
) -> None:
    judge.fail_share(Fault.status(status, retry_after=0.1), 0.5)
    group = {
        "prompt": "Say something.",
        "rubrics": [{"criterion": f"The answer is {word}."} for word in ("kind", "true", "short")],
        "responses": [f"answer number {n}" for n in range(30)],
    }
    answer = client.post("/v1/score", json={"groups": [group], "options": {"deadline_s": 30}})
    assert answer.json()["stats"]["judge"]["scored"] == 90
    assert len(judge.calls) > 120
