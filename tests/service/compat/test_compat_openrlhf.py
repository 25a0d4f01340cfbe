"""`POST /compat/openrlhf/get_reward` as OpenRLHF's rollouts call it: each response for itself."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import aiohttp
import pytest
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge, Fault

T = TypeVar("T")

NO_COMMA = {"id": "comma", "check": "punctuation:no_comma"}
WORDS = {"id": "words", "check": "length_constraints:number_words", "hard": False}
WORDS["kwargs"] = {"num_words": 4, "relation": "at least"}
KIND = {"id": "kind", "criterion": "The answer is kind."}
GENTLE = {"id": "gentle", "criterion": "The answer is gentle.", "weight": 2.0}

ROUTE = "/compat/openrlhf/get_reward"


def templated(prompt: str) -> str:
    return f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"


def body(prompt: str, response: str, **label: Any) -> dict[str, Any]:
    """What the trainer sends for one response; the label is JSON, as in a column of texts."""
    asked = templated(prompt)
    label = {"prompt": prompt, **label}
    return {"query": [asked + response + "<|im_end|>"], "prompts": [asked], "labels": [json.dumps(label)]}


async def posted(session: aiohttp.ClientSession, url: str, sent: dict[str, Any]) -> dict[str, Any]:
    """The answer, which must be one."""
    async with session.post(url, json=sent) as answer:
        assert answer.status == 200, await answer.text()
        got: dict[str, Any] = await answer.json()
        return got


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def responses_of(group: int, rng: random.Random) -> list[str]:
    words = ["calm", "kind", "quick,", "warm", "slow", "fine"]
    texts = [" ".join(rng.choices(words, k=rng.randint(2, 7))) + f" {group}" for _ in range(7)]
    return [*texts, texts[0]]  # equal responses are two members


def test_512_single_requests_are_the_batch_call(served: str, judge: FakeJudge) -> None:
    """64 prompts x 8 responses, one a request and in any order, from 64 clients."""
    rng = random.Random(7)
    rubrics = [NO_COMMA, WORDS, KIND, GENTLE]
    groups: list[dict[str, Any]] = [
        {"prompt": f"Thing {g}.", "rubrics": rubrics, "responses": responses_of(g, rng)} for g in range(64)
    ]
    singles = [(g, r) for g in range(64) for r in range(8)]
    rng.shuffle(singles)

    async def played() -> tuple[dict[str, Any], list[dict[str, Any]]]:
        clients = [aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) for _ in range(64)]
        try:
            options = {"advantages": {"method": "rdan"}}
            batch = await posted(clients[0], f"{served}/v1/score", {"groups": groups, "options": options})
            calls = len(judge.calls)
            asked = [
                posted(
                    clients[n % 64],
                    served + ROUTE,
                    body(groups[g]["prompt"], groups[g]["responses"][r], rubrics=rubrics, size=8),
                )
                for n, (g, r) in enumerate(singles)
            ]
            answers = await asyncio.gather(*asked)
            assert len(judge.calls) == calls, "everything had been judged"
            return batch, answers
        finally:
            for client in clients:
                await client.close()

    batch, answers = run(played())
    judged = 0
    for (g, r), answer in zip(singles, answers, strict=True):
        wanted = batch["groups"][g]["responses"][r]
        logs = answer["extra_logs"]
        assert answer["rewards"] == [pytest.approx(wanted["advantage"], abs=1e-9)]
        assert answer["scores"] == [wanted["outcome"]]
        assert logs["a_out"] == [pytest.approx(wanted["a_out"], abs=1e-9)]
        assert logs["a_proc"] == [pytest.approx(wanted["a_proc"], abs=1e-9)]
        assert logs["quality"] == [wanted["quality"] or 0.0]
        assert (logs["members"], logs["incomplete"]) == ([8.0], [0.0])
        judged += wanted["quality"] is not None and wanted["a_proc"] != 0.0
    assert judged > 50, "the example says something about the quality channel"
    assert len({tuple(answer["extra_logs"]) for answer in answers}) == 1, "all have the same keys"


def test_a_missing_member_leaves_the_others_their_scores_flagged(impatient: str) -> None:
    async def played() -> list[dict[str, Any]]:
        async with aiohttp.ClientSession() as session:
            asked = [
                posted(session, impatient + ROUTE, body("Say.", text, rubrics=[NO_COMMA]))
                for text in ("yes", "no, no", "no")
            ]
            return await asyncio.gather(*asked)

    answers = run(played())
    assert [a["scores"] for a in answers] == [[1.0], [0.0], [1.0]]
    assert sum(a["rewards"][0] for a in answers) == pytest.approx(0.0, abs=1e-9)
    assert answers[1]["rewards"][0] < -1.0
    for answer in answers:
        assert (answer["extra_logs"]["incomplete"], answer["extra_logs"]["members"]) == ([1.0], [3.0])


def test_an_undecided_response_alone_is_an_error_and_its_retry_is_scored_in_its_group(
    served: str, judge: FakeJudge
) -> None:
    judge.answer = "2"
    judge.fail_when(Fault.refusal(), lambda call: "shy" in call.text)
    label = {"rubrics": [NO_COMMA, KIND], "size": 4}
    texts = ["bold words", "calm words", "shy words", "no, words"]

    async def played() -> None:
        async with aiohttp.ClientSession() as session:

            async def ask(text: str) -> tuple[int, dict[str, Any]]:
                async with session.post(served + ROUTE, json=body("Undecided?", text, **label)) as answer:
                    return answer.status, await answer.json()

            answers = await asyncio.gather(*map(ask, texts))
            assert [status for status, _ in answers] == [200, 200, 503, 200]
            decided = [got["rewards"][0] for status, got in answers if status == 200]
            # the undecided one has a decided outcome, which counts; its quality is what is missing
            assert decided == pytest.approx([0.5, 0.5, -1.5], abs=1e-4)
            error = answers[2][1]["error"]
            assert error["type"] == "unavailable"
            assert error["message"].startswith(
                "the response could not be scored: rubrics[1]: rubric 'kind': refused: "
            )
            assert [detail["path"] for detail in error["details"]] == ["rubrics[1]"]
            # the trainer's client tries again, at first too soon
            assert (await ask(texts[2]))[0] == 503
            judge.heal()
            status, got = await ask(texts[2])
            assert status == 200
            assert got["rewards"] == [pytest.approx(0.5, abs=1e-4)]
            assert (got["extra_logs"]["members"], got["extra_logs"]["incomplete"]) == ([4.0], [0.0])

    run(played())


def several(*texts: str, **label: Any) -> dict[str, Any]:
    bodies = [body("Say.", text, **label) for text in texts]
    return {name: [one[name][0] for one in bodies] for name in bodies[0]}


def test_a_request_may_hold_a_whole_group(client: TestClient) -> None:
    answer = client.post(ROUTE, json=several("a", "b, c", rubrics=[NO_COMMA], size=2)).json()
    assert answer["rewards"] == pytest.approx([0.7071, -0.7071], abs=1e-4)
    assert answer["extra_logs"]["members"] == [2.0, 2.0]


def test_an_empty_request_is_answered_at_once(client: TestClient) -> None:
    answer = client.post(ROUTE, json={"query": [], "prompts": [], "labels": []})
    assert (answer.status_code, answer.json()) == (200, {"rewards": [], "scores": [], "extra_logs": {}})


def test_without_a_group_the_reward_is_the_reward(client: TestClient, judge: FakeJudge) -> None:
    judge.answer = "1"
    answer = client.post(ROUTE, json=body("Alone.", "kind words", rubrics=[NO_COMMA, KIND], size=1)).json()
    assert (answer["rewards"], answer["scores"]) == ([0.5], [1.0])
    assert answer["extra_logs"]["quality"] == [0.5]


@pytest.mark.parametrize(
    ("response", "rubric", "score"),
    [
        ("plain words<|endoftext|>", {"check": "startend:end_checker", "kwargs": {"end_phrase": "words"}}, 1),
        ("<think>a, b</think>words", NO_COMMA, 1),
        ("a, b</think>words", NO_COMMA, 1),
        (", ", NO_COMMA, 0),
    ],
)
def test_what_is_scored_is_the_answer(
    client: TestClient, response: str, rubric: dict[str, Any], score: float
) -> None:
    answer = client.post(ROUTE, json=body("Say.", response, rubrics=[rubric], size=1)).json()
    assert answer["scores"] == [score]


def test_thinking_that_the_template_began_and_nothing_ended_is_no_answer(client: TestClient) -> None:
    asked = templated("Think.") + "<think>\n"
    label = {"rubrics": [NO_COMMA], "size": 1}
    for text, score in (("still at it", 0.0), ("a, b\n</think>\n\nsettled", 1.0)):
        sent = {"query": [asked + text], "prompts": [asked], "labels": [label]}
        assert client.post(ROUTE, json=sent).json()["scores"] == [score]


@pytest.mark.parametrize(
    ("change", "status", "path", "message"),
    [
        ({"labels": [""]}, 422, "labels[0]", "is empty; it carries the rubrics"),
        ({"labels": ["{'rubrics': "]}, 422, "labels[0]", "is neither JSON"),
        ({"labels": [{"rubrics": [NO_COMMA]}]}, 422, "labels[0]", "says no `size`"),
        ({"query": ["Else."]}, 422, "query[0]", "does not begin with the prompt"),
        ({"prompts": []}, 422, "", "1 queries, 0 prompts and 1 labels"),
        ({"extra": 1}, 422, "extra", "unknown field"),
        ({"labels": [{"rubrics": [{"check": "no:such"}], "size": 1}]}, 503, "rubrics[0].check", "no check"),
    ],
)
def test_errors_say_what_and_where(
    client: TestClient, change: dict[str, Any], status: int, path: str, message: str
) -> None:
    answer = client.post(ROUTE, json={**body("Say.", "a", rubrics=[NO_COMMA], size=1), **change})
    assert answer.status_code == status
    (detail,) = answer.json()["error"]["details"]
    assert detail["path"] == path
    assert message in detail["message"]


def test_one_key_is_one_member(impatient: str) -> None:
    """Tries that name themselves share a seat, and a later one has the first one's answer."""
    sent = body("Say.", "a", rubrics=[NO_COMMA], size=2)
    headers = {"Idempotency-Key": "r1"}

    async def played() -> Sequence[dict[str, Any]]:
        async with aiohttp.ClientSession(headers=headers) as session:
            both = await asyncio.gather(*(posted(session, impatient + ROUTE, sent) for _ in range(2)))
            return [*both, await posted(session, impatient + ROUTE, sent)]

    for answer in run(played()):
        assert (answer["extra_logs"]["members"], answer["extra_logs"]["incomplete"]) == ([1.0], [1.0])


def test_a_client_that_leaves_takes_its_member_along(impatient: str) -> None:
    async def played() -> list[dict[str, Any]]:
        async with aiohttp.ClientSession() as session:
            gone = asyncio.create_task(
                posted(session, impatient + ROUTE, body("Say.", "gone", rubrics=[NO_COMMA], size=2))
            )
            await asyncio.sleep(0.2)
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)
            await asyncio.sleep(0.2)
            sent = [body("Say.", text, rubrics=[NO_COMMA], size=2) for text in ("a", "b, c")]
            return await asyncio.gather(*(posted(session, impatient + ROUTE, one) for one in sent))

    first, second = run(played())
    assert first["rewards"][0] == pytest.approx(-second["rewards"][0])
    assert first["rewards"][0] > 0.7
