"""`/compat/nemo_gym/…`: a row goes in whole and comes back whole, with its reward in two parts."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge

ROUTE = "/compat/nemo_gym"
NO_INDICES: list[Any] = ["a", [], {}, 1.5, True]
KIND = {"id": "kind", "criterion": "The answer is kind."}


def message(*texts: str) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": parts}


def row(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    given = {
        "id": 2**70,  # beyond what 64 bits hold
        "instruction_id_list": ["punctuation:no_comma"],
        "kwargs": [{"unused": None}],
        "grading_mode": "binary",
        "_ng_task_index": 3,
        "agent_ref": {"name": "agent"},
        "responses_create_params": {"input": [{"role": "user", "content": "Say."}]},
        "response": {"id": "r", "object": "response", "output": list(output)},
    }
    return {**given, **fields}


def test_a_row_comes_back_with_its_reward(client: TestClient) -> None:
    sent = row(message("fine words"), size=1)
    answer = client.post(f"{ROUTE}/verify", json=sent)
    assert answer.status_code == 200
    got = answer.json()
    assert got | sent == got
    assert got["reward"] == 1.0
    assert got["reward_components"] == {"outcome": 1.0, "process": 0.0}
    assert (got["valid"], got["eligible"], got["incomplete"]) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ([message("fine"), message("a, b")], 0.0),
        (
            [{"type": "reasoning", "summary": [], "content": [{"text": "a, b"}]}, message("fine", " words")],
            1.0,
        ),
        ([message("a", ", b")], 0.0),
        ([{"role": "assistant", "content": "fine"}], 1.0),
        # the model never came to an answer, which is blank
        ([], 0.0),
        ([message("fine"), {"type": "function_call", "name": "f", "arguments": "{}"}], 0.0),
        ([message("fine"), {"type": "reasoning", "summary": [], "content": [{"text": "fine"}]}], 0.0),
    ],
)
def test_the_last_item_is_the_answer(
    client: TestClient, output: list[dict[str, Any]], outcome: float
) -> None:
    got = client.post(f"{ROUTE}/verify", json=row(*output, size=1)).json()
    assert got["outcome"] == outcome


def test_a_group_has_its_advantages_in_two_parts(served: str, judge: FakeJudge) -> None:
    judge.answer = lambda call: "2" if "warm" in call.text else "1"
    rubrics = [{"check": "punctuation:no_comma"}, KIND]
    texts = ["warm words", "cold words", "no, words", "warm words"]
    fields = {"rubrics": rubrics, "size": 4, "instruction_id_list": None, "options": {"judging": "eligible"}}

    async def ask(session: aiohttp.ClientSession, text: str) -> dict[str, Any]:
        async with session.post(f"{served}{ROUTE}/verify", json=row(message(text), **fields)) as answer:
            assert answer.status == 200, await answer.text()
            got: dict[str, Any] = await answer.json()
            return got

    async def played() -> list[dict[str, Any]]:
        async with aiohttp.ClientSession() as session:
            return await asyncio.gather(*(ask(session, text) for text in texts))

    answers = asyncio.run(played())
    parts = [answer["reward_components"] for answer in answers]
    for answer in answers:
        assert answer["reward"] == sum(answer["reward_components"].values())
    assert [part["outcome"] for part in parts] == pytest.approx([0.5, 0.5, -1.5, 0.5], abs=1e-4)
    assert [part["process"] for part in parts] == pytest.approx([0.577, -1.155, 0.0, 0.577], abs=1e-3)


@pytest.mark.parametrize(
    ("change", "path", "told"),
    [
        ({"response": None}, "", "has no `response`"),
        ({"response": {}}, "response", "has no `output`"),
        ({"response": {"output": [5]}}, "response.output[0]", "must be an object"),
        ({"responses_create_params": None}, "", "has no `responses_create_params`"),
        ({"instruction_id_list": None}, "", "no format is known"),
        ({"size": None}, "", "says no `size`"),
        ({"rubrics": [{"check": 5}], "instruction_id_list": None}, "rubrics[0].check", "valid string"),
    ],
)
def test_errors_say_what_and_where(client: TestClient, change: dict[str, Any], path: str, told: str) -> None:
    answer = client.post(f"{ROUTE}/verify", json=row(message("a"), **{"size": 1, **change}))
    assert answer.status_code == 422, answer.text
    (detail,) = answer.json()["error"]["details"]
    assert told in detail["message"]
    assert detail["path"] == path


def test_a_session_needs_nothing(client: TestClient) -> None:
    answer = client.post(f"{ROUTE}/seed_session", json={"any": "row"})
    assert (answer.status_code, answer.json()) == (200, {})


def test_figures_by_task_and_over_all(client: TestClient) -> None:
    """As nemo-gym 0.4.0 computes them, whose keys these are."""
    rows = [
        {"_ng_task_index": 4, "_ng_rollout_index": 1, "reward": 1.0, "valid": True, "note": "x"},
        {"_ng_task_index": 4, "_ng_rollout_index": 0, "reward": 0.0, "valid": False},
        {"_ng_task_index": 2, "reward": 0.5, "response": {"usage": {"input_tokens": 7, "details": {}}}},
    ]
    got = client.post(f"{ROUTE}/aggregate_metrics", json={"verify_responses": rows}).json()
    assert got["agent_metrics"] == {
        "mean/reward": 0.5,
        "max/reward": 1.0,
        "min/reward": 0.0,
        "median/reward": 0.5,
        "std/reward": 0.5,
        "mean/valid": 0.5,
        "max/valid": 1.0,
        "min/valid": 0.0,
        "median/valid": 0.5,
        "std/valid": pytest.approx(0.5**0.5),
        # a single value among several rows has no std
        "mean/input_tokens": 7.0,
        "max/input_tokens": 7.0,
        "min/input_tokens": 7.0,
        "median/input_tokens": 7.0,
    }
    assert got["key_metrics"] == {"mean/reward": 0.5, "mean/valid": 0.5, "mean/input_tokens": 7.0}
    first, second = got["group_level_metrics"]
    assert (first["_ng_task_index"], first["num_rollouts"], first["std/reward"]) == (2, 1, 0.0)
    assert (second["_ng_task_index"], second["mean/reward"]) == (4, 0.5)
    assert [info["rollout_id"] for info in second["rollout_infos"]] == ["4:0", "4:1"]
    assert second["rollout_infos"][1] == {
        "rollout_id": "4:1",
        "_ng_task_index": 4,
        "_ng_rollout_index": 1,
        "reward": 1.0,
        "valid": 1.0,
    }


def test_figures_of_nothing(client: TestClient) -> None:
    got = client.post(f"{ROUTE}/aggregate_metrics", json={"verify_responses": []}).json()
    assert got == {"group_level_metrics": [], "agent_metrics": {}, "key_metrics": {}}


def test_figures_of_what_is_null_or_no_number(client: TestClient) -> None:
    rows = [
        {"_ng_task_index": None, "_ng_rollout_index": None, "response": None, "reward": 1, "other": [1]},
        {"response": {"usage": None}, "reward": -1e150, "other": {"a": 1}},
        {"response": {"usage": {"input_tokens": 3, "details": {}}, "output": 5}, "reward": 1e150},
    ]
    answer = client.post(f"{ROUTE}/aggregate_metrics", json={"verify_responses": rows})
    assert answer.status_code == 200, answer.text
    got = answer.json()
    assert got["agent_metrics"]["mean/reward"] == pytest.approx(1 / 3)
    assert got["agent_metrics"]["std/reward"] == pytest.approx(1e150)
    assert "mean/other" not in got["agent_metrics"]
    (task,) = got["group_level_metrics"]
    assert (task["_ng_task_index"], task["num_rollouts"]) == (0, 3)


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    *(({"_ng_task_index": index}, "_ng_task_index", "integer") for index in NO_INDICES),
    *(({"_ng_rollout_index": index}, "_ng_rollout_index", "integer") for index in NO_INDICES),
    ({"_ng_task_index": 10**400}, "_ng_task_index", "less than"),
    ({"_ng_rollout_index": -(10**400)}, "_ng_rollout_index", "greater than"),
    *(({"response": response}, "response", "object") for response in ("a", 1, True, [], [1])),
    *(({"response": {"usage": usage}}, "response.usage", "object") for usage in ("a", 1, True, [], [1])),
    *(({"reward": reward}, "reward", "between -1e+150 and 1e+150") for reward in (1e308, 10**400, -1e151)),
    ({"response": {"usage": {"tokens": 10**400}}}, "response.usage.tokens", "between"),
]


@pytest.mark.parametrize(("row", "path", "told"), REFUSED)
def test_figures_of_what_is_none_are_refused_with_its_path(
    client: TestClient, row: dict[str, Any], path: str, told: str
) -> None:
    """Twenty kinds of well-formed JSON were a 500 here."""
    answer = client.post(f"{ROUTE}/aggregate_metrics", json={"verify_responses": [{"reward": 1}, row]})
    assert answer.status_code == 422, answer.text
    (detail,) = answer.json()["error"]["details"]
    assert detail["path"] == f"verify_responses[1].{path}"
    assert told in detail["message"]
