"""The fake judge, seen by a plain HTTP client: every fault, the script, the log of calls."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import httpx2
import pytest

from rubricate_clients.testing import LABELS, FakeCall, FakeJudge, Fault


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="1") as running:
        yield running


def ask(judge: FakeJudge, text: str = "Is it so?", timeout_s: float = 2.0, **fields: Any) -> httpx2.Response:
    body = {"model": "judge", "messages": [{"role": "user", "content": text}], **fields}
    with httpx2.Client(trust_env=False, timeout=timeout_s) as client:
        return client.post(f"{judge.url}/v1/chat/completions", json=body, headers={"X-Mark": "m"})


def label(judge: FakeJudge, text: str = "Is it so?") -> str:
    content: str = ask(judge, text).json()["choices"][0]["message"]["content"]
    return content


def wait_until(condition: Any) -> None:
    end = time.monotonic() + 2
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_healthy_answer(judge: FakeJudge) -> None:
    answer = ask(judge, "x" * 400).json()
    (choice,) = answer["choices"]
    assert choice["message"] == {"role": "assistant", "content": "1"}
    assert (choice["finish_reason"], choice["logprobs"]) == ("stop", None)
    assert (answer["model"], answer["system_fingerprint"]) == ("judge", "fp-fake")
    assert answer["usage"] == {
        "prompt_tokens": 101,
        "completion_tokens": 1,
        "total_tokens": 102,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def test_the_other_routes(judge: FakeJudge) -> None:
    with httpx2.Client(base_url=judge.url, trust_env=False) as client:
        assert client.get("/health").status_code == 200
        (card,) = client.get("/v1/models").json()["data"]
        assert client.get("/v1/nothing").status_code == 404
    assert (card["id"], card["root"], card["max_model_len"]) == ("judge", "judge", 4096)
    assert judge.calls == []


def test_the_default_answer_depends_on_the_text_alone() -> None:
    texts = [f"criterion {n}" for n in range(40)]
    runs = []
    for _ in range(2):
        with FakeJudge() as judge:
            runs.append([label(judge, text) for text in texts])
    assert runs[0] == runs[1]
    assert set(runs[0]) == set(LABELS)


def test_answers_of_a_function() -> None:
    def answer(call: FakeCall) -> str | Fault:
        return Fault.status(503) if "flood" in call.text else "2" if "river" in call.text else "0"

    with FakeJudge(answer) as judge:
        assert (label(judge, "a river"), label(judge, "a road")) == ("2", "0")
        assert ask(judge, "a flood").status_code == 503


def test_log_probabilities_of_labels() -> None:
    with FakeJudge({"0": 0.1, "1": 0.25, "2": 0.5, "maybe": 0.0}) as judge:
        choice = ask(judge, logprobs=True, top_logprobs=2).json()["choices"][0]
        by_id = ask(judge, logprobs=True, logprob_token_ids=[5, 6, 7]).json()["choices"][0]
    (token,) = choice["logprobs"]["content"]
    assert choice["message"]["content"] == token["token"] == "2"
    assert token["logprob"] == pytest.approx(math.log(0.5))
    assert [(t["token"], round(math.exp(t["logprob"]), 9)) for t in token["top_logprobs"]] == [
        ("2", 0.5),
        ("1", 0.25),
    ]
    shown = by_id["logprobs"]["content"][0]["top_logprobs"]
    assert [t["token"] for t in shown] == ["2", "1", "0", "maybe"]
    assert shown[-1]["logprob"] == -9999.0


def test_a_vllm_samples_among_the_allowed_tokens_and_weighs_them_among_all() -> None:
    with FakeJudge({"0": 0.1, "1": 0.2, "Well": 0.7}, vllm=True) as judge:
        with httpx2.Client(base_url=judge.url, trust_env=False) as http:
            assert http.get("/version").json().keys() == {"version"}
            ids = [http.post("/tokenize", json={"prompt": label}).json()["tokens"] for label in "012"]
        assert [len(tokens) for tokens in ids] == [1, 1, 1]
        wanted = [token for (token,) in ids]
        choice = ask(judge, logprobs=True, logprob_token_ids=wanted, allowed_token_ids=wanted).json()[
            "choices"
        ][0]
    assert choice["message"]["content"] == "1"
    (token,) = choice["logprobs"]["content"]
    weighed = {t["token"]: t["logprob"] for t in token["top_logprobs"]}
    assert weighed == {"0": pytest.approx(math.log(0.1)), "1": pytest.approx(math.log(0.2)), "2": -9999.0}


@pytest.mark.parametrize("path", ["/version", "/tokenize"])
def test_what_only_a_vllm_has(judge: FakeJudge, path: str) -> None:
    assert httpx2.get(judge.url + path, trust_env=False).status_code == 404


def test_log_probabilities_of_a_text_leave_mass_for_other_tokens(judge: FakeJudge) -> None:
    top = ask(judge, logprobs=True, top_logprobs=20).json()["choices"][0]["logprobs"]["content"][0][
        "top_logprobs"
    ]
    assert [t["token"] for t in top] == ["1", "0", "2"]
    assert sum(math.exp(t["logprob"]) for t in top) == pytest.approx(0.96)


def test_prefixes_are_cached_in_whole_blocks(judge: FakeJudge) -> None:
    def cached(text: str) -> int:
        tokens: int = ask(judge, text).json()["usage"]["prompt_tokens_details"]["cached_tokens"]
        return tokens

    shared = "p" * 130
    assert [cached(t) for t in (shared + "a" * 70, shared + "b" * 70, "q" + shared)] == [0, 32, 0]


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


def test_the_log_of_calls(judge: FakeJudge) -> None:
    before = time.monotonic()
    judge.fail_next(Fault.status(503))
    ask(judge, "same")
    parts = [
        {"role": "system", "content": "Judge."},
        {"role": "user", "content": [{"type": "text", "text": "?"}]},
    ]
    ask(judge, messages=parts)
    ask(judge, "same")
    calls = judge.calls
    assert [(call.text, call.attempt, call.in_flight) for call in calls] == [
        ("same", 1, 1),
        ("Judge.\n?", 1, 1),
        ("same", 2, 1),
    ]
    assert before <= calls[0].at <= calls[1].at <= calls[2].at <= time.monotonic()
    assert calls[1].body["messages"] == parts
    assert calls[0].headers["x-mark"] == "m"


def test_reset_leaves_a_judge_as_new() -> None:
    with FakeJudge() as judge:
        first = ask(judge, "p" * 100).json()
        judge.answer = "none of the labels"
        judge.fail_when(Fault.status(503), lambda call: True)
        ask(judge)
        judge.reset()
        assert judge.calls == []
        again = ask(judge, "p" * 100).json()
    assert {**again, "created": 0} == {**first, "created": 0}


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"{}", b'{"messages": 3}', b'{"messages": [{"content": "\\ud800"}]}']
)
def test_what_is_no_chat_request_is_a_400(judge: FakeJudge, body: bytes) -> None:
    answer = httpx2.post(f"{judge.url}/v1/chat/completions", content=body, trust_env=False)
    assert answer.status_code == 400
    assert judge.calls == []


def test_down_and_back_on_the_same_port(judge: FakeJudge) -> None:
    url = judge.url
    ask(judge)
    judge.stop()
    with pytest.raises(httpx2.ConnectError):
        ask(judge)
    judge.start()
    assert judge.url == url
    assert label(judge) == "1"
    assert len(judge.calls) == 2


def test_going_down_cuts_calls_that_hang(judge: FakeJudge) -> None:
    judge.fail_next(Fault.hang())
    failed: list[Exception] = []

    def call() -> None:
        try:
            ask(judge, timeout_s=10)
        except httpx2.TransportError as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    wait_until(lambda: judge.in_flight == 1)
    start = time.monotonic()
    judge.stop()
    thread.join()
    assert time.monotonic() - start < 1
    assert len(failed) == 1


def test_a_judge_that_runs_cannot_be_started(judge: FakeJudge) -> None:
    with pytest.raises(RuntimeError, match="runs already"):
        judge.start()


def test_a_taken_port_is_an_error(judge: FakeJudge) -> None:
    with pytest.raises(OSError, match="address already in use"):
        FakeJudge(port=int(judge.url.rsplit(":", 1)[1])).start()


def test_from_async_code(judge: FakeJudge) -> None:
    async def main() -> list[str]:
        async with aiohttp.ClientSession() as session:

            async def one(n: int) -> str:
                body = {"model": "judge", "messages": [{"role": "user", "content": str(n)}]}
                async with session.post(f"{judge.url}/v1/chat/completions", json=body) as answer:
                    content: str = (await answer.json())["choices"][0]["message"]["content"]
                    return content

            return await asyncio.gather(*map(one, range(50)))

    assert asyncio.run(main()) == ["1"] * 50
    assert len(judge.calls) == 50
