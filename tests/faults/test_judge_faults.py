"""A judge that is down, hangs or answers garbage: the rest of the batch arrives, in time and right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from rubricate_clients.testing import Answer, FakeCall, FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.judge.signatures import RECENT
from rubricate_service.settings import JudgeSettings, Mode, Settings
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


SLACK_S = 0.5  # for a machine that does other things as well
ONCE = ("refused", "identity", "too_long", "unauthorized", "timeout")
FAULTS: list[tuple[str, Fault, str, float]] = [
    # row of the list, fault, kind, seconds within which everything is there
    ("F3", Fault.hang(), "timeout", 2.6),
    ("F4", Fault.drip(1, 0.2), "timeout", 2.6),
    ("F5", Fault.garbage("html"), "unreadable", 1.0),
    ("F5", Fault.garbage("utf8"), "unreadable", 1.0),
    ("F5", Fault.garbage("json"), "unreadable", 1.0),
    ("F5", Fault.text("I think it is fine: 2"), "unreadable", 1.0),
    ("F5", Fault.refusal(), "refused", 1.0),
    ("F6", Fault.truncated(), "truncated", 1.0),
    ("F7", Fault.wrong_model("impostor"), "identity", 1.0),
    ("F8", Fault.status(429, retry_after=0.1), "overloaded", 2.6),
    ("F8", Fault.status(503), "overloaded", 2.6),
    ("F9", Fault.too_long(), "too_long", 1.0),
    ("F10", Fault.status(500), "unreachable", 3.0),
    ("F10", Fault.reset(), "unreachable", 2.0),
    ("A17", Fault.status(401), "unauthorized", 1.0),
]


@pytest.mark.parametrize(
    ("fault", "kind", "seconds"),
    [pytest.param(f, k, s, id=f"{row}-{f.name}") for row, f, k, s in FAULTS],
)
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
    assert took < seconds + SLACK_S
    asked = [call for call in judge.calls if "answer is kind" in call.text]
    if kind in ONCE:
        assert len(asked) == 2  # one each: the same question would fail in the same way
    judge.heal()
    assert kinds(score(client, advantages={"method": "rdan"})[0], 1) == ["scored", "scored", "skipped"]


def test_f1_a_judge_that_is_down_fails_fast_and_serves_again_when_it_is_back(
    client: TestClient, judge: FakeJudge
) -> None:
    judge.stop()
    body, took = score(client)
    assert kinds(body, 0) == ["scored"] * 3
    assert kinds(body, 1) == ["unreachable", "unreachable", "skipped"]
    assert [r["reward"] for r in body["groups"][0]["responses"]] == [None, None, 0.0]
    assert took < 1.0 + SLACK_S
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert ready.json()["checks"]["judge"]["status"] == "failing"
    assert judge.url.removeprefix("http://") in ready.json()["checks"]["judge"]["reason"]
    judge.start()
    assert kinds(score(client)[0], 1) == ["scored", "scored", "skipped"]
    assert client.get("/readyz").json()["status"] == "ok"


def test_f3_an_endless_check_and_a_hanging_judge_leave_the_other_verdicts(
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


@pytest.mark.parametrize("mode", ["per_rubric", "one_call"])
def test_f6_a_truncated_verdict_is_asked_for_again_with_twice_the_budget(
    judge: FakeJudge, tmp_path: Path, mode: Mode
) -> None:
    judge.fail_when(Fault.truncated(), lambda call: True)
    judges = {"j": JudgeSettings(url=judge.url, mode=mode)}
    settings = Settings(judges=judges, judge="j", cache=str(tmp_path / "v.db"), check_workers=1)
    with TestClient(create_app(settings)) as client:
        body, _ = score(client)
    errors = [v["error"] for r in body["groups"][0]["responses"] for v in r["rubrics"] if "error" in v]
    assert [error["kind"] for error in errors] == ["truncated"] * 4
    budgets = [(call.text, call.body["max_tokens"]) for call in judge.calls]
    for text in {text for text, _ in budgets}:
        usual, *more = [budget for other, budget in budgets if other == text]
        assert more == [2 * usual]
    alone = min(budget for _, budget in budgets)
    assert all(f"of at most {2 * alone} tokens" in error["message"] for error in errors)


def test_f6_twice_the_budget_may_be_enough(client: TestClient, judge: FakeJudge) -> None:
    usual: set[int] = set()

    def verdict(call: FakeCall) -> Answer:
        usual.add(call.body["max_tokens"])
        return "2" if call.body["max_tokens"] > min(usual) else Fault.truncated()

    judge.answer = verdict
    body, _ = score(client)
    assert kinds(body, 1) == ["scored", "scored", "skipped"]
    assert (body["stats"]["judge"]["scored"], len(judge.calls)) == (4, 8)


def test_f7_what_another_version_judged_is_not_used_when_it_is_gone(
    client: TestClient, judge: FakeJudge
) -> None:
    first, _ = score(client)
    judge.fingerprint = "fp-new"
    assert score(client)[0]["stats"]["judge"]["cached"] == 4  # nothing says yet that it has changed
    group = GROUP | {"responses": [f"another {n}" for n in range(RECENT // 2)]}
    client.post("/v1/score", json={"groups": [group]})
    again, _ = score(client)
    assert (again["stats"]["judge"]["calls"], again["stats"]["judge"]["cached"]) == (4, 0)
    fingerprints = [body["provenance"]["judge"]["fingerprint"] for body in (first, again)]
    assert len(set(fingerprints)) == 2


def test_f7_a_model_set_up_otherwise_is_named_by_readiness(client: TestClient, judge: FakeJudge) -> None:
    judge.max_model_len = 1024
    ready = client.get("/readyz").json()
    assert (ready["status"], ready["checks"]["judge"]["status"]) == ("degraded", "failing")
    assert "set up otherwise" in ready["checks"]["judge"]["reason"]


@pytest.mark.parametrize("status", [429, 503])
def test_f8_rejections_before_work_are_queued_again_and_all_is_scored(
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
    (replica,) = client.get("/readyz").json()["checks"]["judge"]["replicas"]
    assert replica["limit"] < 16  # it gets less at a time than at the start


def test_f8_retry_after_is_waited_for_and_the_deadline_is_kept(client: TestClient, judge: FakeJudge) -> None:
    judge.fail_next(Fault.status(429, retry_after=0.5))
    body, took = score(client)
    assert body["stats"]["judge"]["scored"] == 4
    assert took >= 0.5
    judge.fail_when(Fault.status(429, retry_after=3600), lambda call: True)
    group = GROUP | {"responses": ["a fresh one"]}
    began = time.monotonic()
    options = {"deadline_s": 2.0}
    body = client.post("/v1/score", json={"groups": [group], "options": options}).json()
    assert time.monotonic() - began < 2.0 + SLACK_S
    assert kinds(body, 1) == ["overloaded"]


def test_f9_what_does_not_fit_is_not_kept_as_a_verdict(client: TestClient, judge: FakeJudge) -> None:
    judge.fail_when(Fault.too_long(), lambda call: True)
    body, _ = score(client)
    assert kinds(body, 1) == ["too_long", "too_long", "skipped"]
    assert len(judge.calls) == 4
    assert score(client)[0]["stats"]["judge"]["calls"] == 4  # asked anew, not remembered
    assert "context" in body["groups"][0]["responses"][0]["rubrics"][1]["error"]["message"]


def test_f17_a_client_that_goes_away_has_its_judge_calls_cancelled(judge: FakeJudge, tmp_path: Path) -> None:
    judge.fail_when(Fault.hang(), lambda call: "answer is kind" in call.text)
    settings = Settings(judge=judge.url, cache=str(tmp_path / "v.db"), check_workers=1)
    with running_server(create_app(settings)) as url:
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.post(f"{url}/v1/score", json={"groups": [GROUP]}, timeout=1.0, trust_env=False)
        assert (len(judge.calls), judge.in_flight) == (4, 2)
        until = time.monotonic() + 0.5 + SLACK_S
        while judge.in_flight and time.monotonic() < until:
            time.sleep(0.01)
        assert judge.in_flight == 0
        (replica,) = httpx2.get(f"{url}/readyz", trust_env=False).json()["checks"]["judge"]["replicas"]
        assert (replica["in_flight"], replica["waiting"]) == (0, 0)
        judge.heal()
        answer = httpx2.post(f"{url}/v1/score", json={"groups": [GROUP]}, timeout=30, trust_env=False)
    counts = answer.json()["stats"]["judge"]
    assert (counts["scored"], counts["calls"], counts["cached"]) == (4, 2, 2)  # what was finished is kept
