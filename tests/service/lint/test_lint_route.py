"""`POST /v1/rubrics/lint`: its shape, its strictness, and what it does with hostile rubrics."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate_service.errors import Overloaded
from rubricate_service.http.admission import Admission

NO_COMMA = {"check": "punctuation:no_comma"}
URL = "/v1/rubrics/lint"


def group(*rubrics: Any, **fields: Any) -> dict[str, Any]:
    return {"prompt": "Describe the harbour.", "rubrics": list(rubrics), **fields}


def words(relation: str, number: int) -> dict[str, Any]:
    return {"check": "length_constraints:number_words", "kwargs": {"num_words": number, "relation": relation}}


def test_findings_have_the_shape_of_the_contract(client: TestClient) -> None:
    answer = client.post(URL, json={"groups": [group(words("at least", 9), words("less than", 5))]})
    assert answer.status_code == 200
    assert answer.json() == {
        "findings": [
            {
                "rule": "E01",
                "severity": "error",
                "path": "groups[0].rubrics[1]",
                "message": "at most 4 words, while groups[0].rubrics[0] asks for at least 9 words",
                "hint": "Widen one of the bounds, or drop one.",
            }
        ]
    }


def test_witnesses_come_when_asked_for(client: TestClient) -> None:
    body = {"groups": [group(words("at least", 9)), group(NO_COMMA, {"check": "no:such"})], "witness": True}
    answer = client.post(URL, json=body).json()
    assert answer.keys() == {"findings", "witnesses"}
    first, second = answer["witnesses"]
    assert first["path"] == "groups[0]"
    assert len(first["response"].split()) >= 9
    assert second == {"path": "groups[1]", "response": None}


def test_chat_prompts_and_responses_with_ids(client: TestClient) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Use 40 words."}]
    responses = [{"id": "a", "text": "One."}, "Two.", {"text": "Three."}]
    body = {"groups": [group(words("at least", 1), prompt=messages, responses=responses)]}
    found = client.post(URL, json=body).json()["findings"]
    assert [f["rule"] for f in found] == ["W01", "W02", "W06"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "groups"),
        ({"groups": []}, "groups"),
        ({"groups": [group(NO_COMMA)], "wittness": True}, "wittness"),
        ({"groups": [group(NO_COMMA, responsess=[])]}, "groups[0].responsess"),
        ({"groups": [{"prompt": "p", "rubrics": []}]}, "groups[0].rubrics"),
        ({"groups": [{"rubrics": [NO_COMMA]}]}, "groups[0].prompt"),
        ({"groups": [group(NO_COMMA, responses=[1])]}, "groups[0].responses[0]"),
        ({"groups": [group(NO_COMMA)], "witness": "yes"}, "witness"),
    ],
)
def test_what_is_no_group_is_refused(client: TestClient, body: Any, path: str) -> None:
    answer = client.post(URL, json=body)
    assert answer.status_code == 422
    assert [detail["path"] for detail in answer.json()["error"]["details"]] == [path]


@pytest.mark.parametrize("content", [b"{", b'{"groups": "\xff"}', b'{"groups": [{"prompt": "\\ud800"}]}'])
def test_what_is_no_json_is_refused(client: TestClient, content: bytes) -> None:
    assert client.post(URL, content=content).status_code == 422


def test_a_weight_that_json_does_not_have(client: TestClient) -> None:
    content = b'{"groups": [{"prompt": "p", "rubrics": [{"check": "punctuation:no_comma", "weight": NaN}]}]}'
    answer = client.post(URL, content=content)
    assert [f["rule"] for f in answer.json()["findings"]] == ["E12"]


def test_too_many_rubrics_are_refused_like_those_to_be_scored(client: TestClient) -> None:
    answer = client.post(URL, json={"groups": [group(*[NO_COMMA] * 5000)]})
    assert answer.status_code == 422
    assert "limits.rubrics" in answer.json()["error"]["message"]


def test_hostile_rubrics_cost_no_other_group_and_do_not_hang(client: TestClient) -> None:
    """What runs over the workers' limit is cut off, and the rest is answered within the test's own limit."""
    endless = "def evaluate(response):\n    while True:\n        pass"
    bad = group(
        {"check": "rule:python", "kwargs": {"source": endless, "entry": "evaluate"}},
        {"check": "keywords:existence", "kwargs": {"keywords": ["(a|a)*b"]}},
        responses=["a" * 40, "a" * 50],
    )
    good = group(words("at least", 9), words("less than", 5))
    answer = client.post(URL, json={"groups": [bad, good], "witness": True})
    assert answer.status_code == 200
    found = answer.json()["findings"]
    assert [f["path"] for f in found if f["rule"] == "E01"] == ["groups[1].rubrics[1]"]
    assert client.post(URL, json={"groups": [good]}).status_code == 200


def test_linting_took_no_place_in_the_queue(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    admission: Admission = client.app.state.admission  # type: ignore[attr-defined]
    taken: list[int] = []
    places = admission.places

    def noting(tenant: str, items: int, deadline: float) -> AbstractAsyncContextManager[None]:
        taken.append(items)
        return places(tenant, items, deadline)

    monkeypatch.setattr(admission, "places", noting)
    body = {"groups": [group(NO_COMMA), group(NO_COMMA, responses=["One.", "Two."])]}
    assert client.post(URL, json=body).status_code == 200
    assert taken == [4]
    assert admission.load.in_flight == 0

    def full(tenant: str, items: int, deadline: float) -> AbstractAsyncContextManager[None]:
        raise Overloaded("no room", 1.0)

    monkeypatch.setattr(admission, "places", full)
    assert client.post(URL, json=body).status_code == 429


def test_openapi_describes_the_body(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    body = document["paths"][URL]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/LintRequest"}
    assert "LintRequest" in document["components"]["schemas"]
