"""The scripted judge: its answers, its log of calls, its start and end."""

from __future__ import annotations

import asyncio
import math
import threading
import time

import aiohttp
import httpx2
import pytest

from judge_calls import ask, label, wait_until
from rubricate_clients.testing import LABELS, FakeCall, FakeJudge, Fault


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
