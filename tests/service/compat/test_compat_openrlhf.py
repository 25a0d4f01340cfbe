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

from rubricate_clients.adapters.openrlhf import reward_with
from rubricate_clients.errors import InvalidRequest
from rubricate_clients.testing import FakeJudge, Fault
from rubricate_clients.wire import Options
from rubricate_service.compat.barrier import Barrier
from rubricate_service.compat.compat import Compat
from rubricate_service.compat.label import read_label
from rubricate_service.compat.result import Result
from rubricate_service.compat.room import Room
from rubricate_service.compat.settings import CompatSettings
from rubricate_service.compat.task import Context, Task
from rubricate_service.compat.waits import Member
from rubricate_service.importers.node import Node

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
                "the response could not be scored: labels[0].rubrics[1]: rubric 'kind': refused: "
            )
            assert [detail["path"] for detail in error["details"]] == ["labels[0].rubrics[1]"]
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
    ("change", "path", "message"),
    [
        ({"labels": [""]}, "labels[0]", "is empty; it carries the rubrics"),
        ({"labels": ["{'rubrics': "]}, "labels[0]", "is neither JSON"),
        ({"labels": [{"rubrics": [NO_COMMA]}]}, "labels[0]", "says no `size`"),
        ({"query": ["Sake: hush"]}, "query[0]", "does not begin with the prompt"),
        ({"labels": [None]}, "labels[0]", "an object with `rubrics`, or such an object written out"),
        (
            {"labels": [{"rubrics": [{"check": "no:such"}], "size": 1}]},
            "labels[0].rubrics[0].check",
            "no check",
        ),
        (
            {"labels": [{"rubrics": [{"criterion": "Is kind."}] * 300, "size": 1}]},
            "labels[0].rubrics",
            "`limits.rubrics` is 256",
        ),
        ({"prompts": []}, "", "1 queries, 0 prompts and 1 labels"),
        ({"extra": 1}, "extra", "unknown field"),
    ],
)
def test_errors_say_what_and_where(
    client: TestClient, change: dict[str, Any], path: str, message: str
) -> None:
    answer = client.post(ROUTE, json={**body("Say.", "a", rubrics=[NO_COMMA], size=1), **change})
    assert answer.status_code == 422
    (detail,) = answer.json()["error"]["details"]
    assert detail["path"] == path
    assert message in detail["message"]
    assert "hush" not in answer.text  # no response is told, nor a piece of one


@pytest.mark.parametrize(
    ("count", "rubrics", "told"),
    [
        (8193, 1, "8,193 responses in a request, more than this service takes (`limits.responses` is 8,192)"),
        (1200, 240, "288,000 verdicts"),
    ],
)
def test_a_body_may_hold_no_more_than_a_request_to_score(
    client: TestClient, count: int, rubrics: int, told: str
) -> None:
    label = json.dumps({"rubrics": [NO_COMMA | {"id": str(n)} for n in range(rubrics)], "size": 2})
    sent = {"query": ["Say. a"] * count, "prompts": ["Say."] * count, "labels": [label] * count}
    answer = client.post(ROUTE, json=sent)
    assert answer.status_code == 422
    (detail,) = answer.json()["error"]["details"]
    assert (detail["path"], told in detail["message"]) == ("", True)


def test_a_long_body_leaves_others_their_turns() -> None:
    """All of its members began to wait in one turn of the event loop, which took two seconds."""
    most = 0

    async def played() -> None:
        nonlocal most
        begun = seen = 0

        async def rate(task: Task, texts: Sequence[str]) -> list[Result]:
            nonlocal begun
            begun += 1
            return [Result(members=1)]

        barrier = Barrier(rate, None, Room(1, 1), timeout_s=1, settle_s=1)
        task = read_label({"rubrics": [NO_COMMA], "size": 1}, "", Node("Say."), Context(1, Options()))
        compat = Compat(barrier, CompatSettings(unscored="mask"))
        working = asyncio.create_task(compat._results([Member(task, "a")] * 2000))
        while not working.done():
            await asyncio.sleep(0)
            most, seen = max(most, begun - seen), begun
        assert len(await working) == begun == 2000

    run(played())
    assert most <= 2 * 64


def test_the_client_does_not_try_again_what_no_retry_can_mend(served: str) -> None:
    reward = reward_with(url=served, timeout_s=20.0, unscored="mask")
    sent = body("Say.", "a", rubrics=[{"check": "no:such"}], size=1)
    with pytest.raises(InvalidRequest, match=r"labels\[0\]\.rubrics\[0\]\.check.*no:such") as refused:
        reward(sent["query"], sent["prompts"], sent["labels"])
    assert refused.value.status == 422


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
