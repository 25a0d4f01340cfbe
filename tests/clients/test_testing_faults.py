"""The faults of the scripted judge: each alone, in turns, and on a share of the calls."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from judge_calls import ask, label, wait_until
from rubricate_clients.testing import FakeJudge, Fault


@pytest.mark.parametrize(
    ("status", "type"),
    [
        (400, "BadRequestError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
        (503, "Service Unavailable"),
    ],
)
def test_error_statuses(judge: FakeJudge, status: int, type: str) -> None:
    judge.fail_next(Fault.status(status))
    answer = ask(judge)
    error = {"message": f"scripted status {status}", "type": type, "param": None, "code": status}
    assert (answer.status_code, answer.json()) == (status, {"error": error})
    assert "retry-after" not in answer.headers
    assert label(judge) == "1"


def test_401_is_a_plain_string(judge: FakeJudge) -> None:
    judge.fail_next(Fault.status(401))
    answer = ask(judge)
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})


def test_retry_after(judge: FakeJudge) -> None:
    judge.fail_next(Fault.status(503, retry_after=3))
    assert ask(judge).headers["Retry-After"] == "3"


def test_too_long_is_vllms_400(judge: FakeJudge) -> None:
    judge.fail_next(Fault.too_long(2048))
    answer = ask(judge)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["param"]) == (400, "BadRequestError", "input_tokens")
    assert "maximum context length is 2048 tokens" in error["message"]


@pytest.mark.parametrize(
    ("fault", "choice"),
    [
        (Fault.text("maybe"), {"content": "maybe", "finish_reason": "stop"}),
        (Fault.truncated(), {"content": "", "finish_reason": "length"}),
        (Fault.refusal(), {"content": None, "finish_reason": "stop"}),
    ],
    ids=lambda value: value.name if isinstance(value, Fault) else "",
)
def test_content_faults(judge: FakeJudge, fault: Fault, choice: dict[str, Any]) -> None:
    judge.fail_next(fault)
    (seen,) = ask(judge, logprobs=True).json()["choices"]
    assert {"content": seen["message"]["content"], "finish_reason": seen["finish_reason"]} == choice
    assert bool(seen["message"].get("refusal")) == (fault.name == "refusal")
    assert seen["logprobs"] is None


def test_identity_faults(judge: FakeJudge) -> None:
    judge.fail_next(Fault.wrong_model("other"))
    judge.fail_next(Fault.fingerprint("fp2"))
    answers = [ask(judge).json() for _ in range(3)]
    assert [(a["model"], a["system_fingerprint"]) for a in answers] == [
        ("other", "fp-fake"),
        ("judge", "fp2"),
        ("judge", "fp-fake"),
    ]
    assert {a["choices"][0]["message"]["content"] for a in answers} == {"1"}


def test_a_model_that_is_not_served_is_a_404(judge: FakeJudge) -> None:
    answer = ask(judge, model="nope")
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "NotFoundError")


@pytest.mark.parametrize("kind", ["html", "json", "utf8"])
def test_garbage(judge: FakeJudge, kind: Any) -> None:
    judge.fail_next(Fault.garbage(kind))
    answer = ask(judge)
    assert answer.status_code == 200
    with pytest.raises(ValueError):
        json.loads(answer.content)
    assert answer.headers["Content-Type"].startswith("text/html" if kind == "html" else "application/json")


def test_slow(judge: FakeJudge) -> None:
    judge.fail_next(Fault.slow(0.3))
    start = time.monotonic()
    assert label(judge) == "1"
    assert 0.3 <= time.monotonic() - start < 2  # one after the other they would take 2.4 s


def test_latency_is_that_of_every_answer(judge: FakeJudge) -> None:
    judge.latency_s = 0.3
    start = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda n: label(judge, f"text {n}"), range(8))) == ["1"] * 8
    assert 0.3 <= time.monotonic() - start < 2  # one after the other they would take 2.4 s
    assert max(call.in_flight for call in judge.calls) > 1


def test_hang_holds_the_call_until_the_caller_leaves(judge: FakeJudge) -> None:
    judge.fail_next(Fault.hang())
    with pytest.raises(httpx2.ReadTimeout):
        ask(judge, timeout_s=0.3)
    wait_until(lambda: judge.in_flight == 0)


def test_drip_comes_whole_but_slowly(judge: FakeJudge) -> None:
    judge.fail_next(Fault.drip(size=100, pause_s=0.05))
    start = time.monotonic()
    answer = ask(judge)
    assert answer.json()["choices"][0]["message"]["content"] == "1"
    assert time.monotonic() - start >= 0.05 * (len(answer.content) // 100)


def test_reset_cuts_the_answer(judge: FakeJudge) -> None:
    judge.fail_next(Fault.reset())
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(judge)
    assert label(judge) == "1"


def test_faults_take_turns(judge: FakeJudge) -> None:
    judge.fail_next(Fault.status(503), 2)
    judge.fail_next(Fault.status(500))
    judge.fail_when(Fault.text("maybe"), lambda call: "bad" in call.text)
    statuses = [ask(judge, text).status_code for text in ("good", "bad", "good", "good")]
    assert statuses == [503, 503, 500, 200]
    assert [label(judge, "bad") for _ in range(3)] == ["maybe"] * 3
    judge.heal()
    assert label(judge, "bad") == "1"


def test_a_share_fails_the_same_in_every_run_and_order() -> None:
    texts = [f"criterion {n}" for n in range(60)]

    def failed(order: list[str]) -> dict[str, int]:
        with FakeJudge() as judge:
            judge.fail_share(Fault.status(503), 0.5)
            return {text: ask(judge, text).status_code for text in order}

    first = failed(texts)
    assert failed(texts[::-1]) == first
    assert 15 < sum(status == 503 for status in first.values()) < 45


def test_a_retry_draws_anew(judge: FakeJudge) -> None:
    judge.fail_share(Fault.status(503), 0.5)
    statuses = [ask(judge).status_code for _ in range(20)]
    assert set(statuses) == {200, 503}


def test_the_draws_of_a_long_text_do_not_depend_on_each_other(judge: FakeJudge) -> None:
    """At 0.3 nobody fails ten times running; of a CRC the attempts of a text are no draws of their own."""
    judge.fail_share(Fault.status(503), 0.3)
    texts = [f"{number} {'word ' * 180}" for number in range(30)]
    statuses = [[ask(judge, text).status_code for _ in range(10)] for text in texts]
    assert all(200 in of_text for of_text in statuses)
    assert 50 < sum(of_text.count(503) for of_text in statuses) < 130


@pytest.mark.parametrize(("share", "statuses"), [(0.0, {200}), (1.0, {503})])
def test_shares_at_the_ends(judge: FakeJudge, share: float, statuses: set[int]) -> None:
    judge.fail_share(Fault.status(503), share)
    assert {ask(judge, str(n)).status_code for n in range(5)} == statuses
