"""The other routes: the catalogue, advantages from scores, health."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate_checkers import MissingData, Text, build, catalogue, evaluate


def test_catalogue_lists_every_check_with_an_example_that_holds_true(client: TestClient) -> None:
    entries = client.get("/v1/checks").json()["checks"]
    assert [entry["id"] for entry in entries] == [entry.id for entry in catalogue()]
    for entry in entries:
        assert entry.keys() == {
            "id", "suite", "summary", "version", "kwargs", "aliases", "needs_prompt", "example",
        }  # fmt: skip
        assert entry["kwargs"]["type"] == "object"
        example = entry["example"]
        check = build(entry["id"], example["kwargs"])
        with suppress(MissingData):  # the English tagger is on no registry
            assert evaluate(Text(example["passes"]), check).holds
            assert not evaluate(Text(example["fails"]), check).holds


@pytest.mark.parametrize("id", ["length_constraints:number_words", "rubrichub:NumberOfWords"])
def test_one_check_by_id_or_alias(client: TestClient, id: str) -> None:
    entry = client.get(f"/v1/checks/{id}").json()
    assert entry["id"] == "length_constraints:number_words"
    assert entry["kwargs"]["required"] == ["num_words", "relation"]


def member(outcome: float | None, quality: float | None, eligible: bool, **fields: Any) -> dict[str, Any]:
    valid = fields.pop("valid", outcome is not None)
    return {"outcome": outcome, "quality": quality, "eligible": eligible, "valid": valid, **fields}


MEMBERS = [
    member(1.0, 0.5, True),
    member(1.0, 1.0, True),
    member(0.0, None, False),
    member(None, None, False),
]
GROUP: dict[str, Any] = {"id": "g", "responses": MEMBERS}


def test_advantages_have_channels_and_leave_invalid_responses_out(client: TestClient) -> None:
    answer = client.post("/v1/advantages", json={"groups": [GROUP], "method": "rdan", "quality_weight": 0.5})
    assert answer.status_code == 200, answer.text
    (group,) = answer.json()["groups"]
    assert group["id"] == "g"
    out, low = 0.577350, 0.707106
    assert group["a_out"] == pytest.approx([out, out, -2 * out, 0.0], abs=1e-5)
    assert group["a_proc"] == pytest.approx([-low, low, 0.0, 0.0], abs=1e-5)
    assert group["advantages"] == pytest.approx([out - low / 2, out + low / 2, -2 * out, 0.0], abs=1e-5)
    assert answer.json()["diagnostics"]["undecided_rate"] == 0.25


def test_methods_on_rewards_have_no_channels_and_default_to_the_gated_reward(client: TestClient) -> None:
    for rewards in (None, [0.5, 1.0, 0.0, None]):
        responses = [
            row | ({} if rewards is None else {"reward": reward})
            for row, reward in zip(MEMBERS, rewards or [None] * 4, strict=True)
        ]
        body = {"groups": [{"responses": responses}], "method": "dr_grpo"}
        (group,) = client.post("/v1/advantages", json=body).json()["groups"]
        assert group == {
            "id": "0",
            "advantages": pytest.approx([0.0, 0.5, -0.5, 0.0]),
            "a_out": None,
            "a_proc": None,
        }


@pytest.mark.parametrize(
    ("body", "type", "path"),
    [
        ({"groups": [GROUP], "method": "gdpo"}, "needs_all_scores", "groups"),
        ({"groups": [GROUP], "method": "ppo"}, "invalid_request", "method"),
        ({"groups": [GROUP], "method": "rloo", "virtual": 1}, "invalid_request", ""),
        ({"groups": [GROUP | {"responses": []}], "method": "rdan"}, "invalid_request", "groups[0].responses"),
        ({"groups": [GROUP, GROUP], "method": "rdan"}, "invalid_request", "groups[1].id"),
        (
            {
                "groups": [{"responses": [member(1.0, 1.0, True, reward=1.0), member(0.0, 0.0, False)]}],
                "method": "grpo",
            },
            "invalid_request",
            "groups[0].responses[1].reward",
        ),
    ],
)
def test_advantages_that_cannot_be_computed_say_why(
    client: TestClient, body: dict[str, Any], type: str, path: str
) -> None:
    answer = client.post("/v1/advantages", json=body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["type"] == type
    assert path in [detail["path"] for detail in error["details"]]


def test_health(client: TestClient, no_judge: TestClient) -> None:
    assert client.get("/livez").json()["status"] == "ok"
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    assert ready.json()["checks"].keys() == {"judge", "cache", "workers"}
    assert ready.json()["checks"]["workers"]["alive"] == 2
    alone = no_judge.get("/readyz").json()
    assert (alone["status"], alone["checks"]["judge"]["status"]) == ("ok", "none")


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_openapi_describes_every_body_and_error(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    assert {"ScoreRequest", "AdvantageRequest", "ScoreAnswer", "ErrorAnswer"} <= schemas.keys()
    for reference in references(document):
        assert reference.removeprefix("#/components/schemas/") in schemas
    assert "4XX" in document["paths"]["/v1/score"]["post"]["responses"]
