"""Bad input: what the contract says, never a 500, and the service goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

GOOD = {"prompt": "p", "rubrics": [{"check": "punctuation:no_comma"}], "responses": ["r"]}


def body(**changes: Any) -> dict[str, Any]:
    return {"groups": [GOOD | changes]}


def with_rubric(**fields: Any) -> dict[str, Any]:
    return body(rubrics=[fields])


# what, body, a path that must be named
REFUSED: list[tuple[str, bytes | dict[str, Any], str]] = [
    ("empty body", b"", ""),
    ("not JSON", b"{", ""),
    ("not UTF-8", b"\xff\xfe{}", ""),
    ("not an object", b"[]", ""),
    ("100,000 deep", b"[" * 100_000, ""),
    ("deep in kwargs", b'{"groups":[{"prompt":"p","rubrics":[{"check":"c","kwargs":' + b'{"a":' * 5000, ""),
    ("5,000 digits", b'{"groups": ' + b"7" * 5000 + b"}", ""),
    (
        "lone surrogate",
        b'{"groups":[{"prompt":"\\ud800","rubrics":[{"check":"c"}],"responses":["r"]}]}',
        "",
    ),
    (
        "NaN in kwargs",
        b'{"groups":[{"prompt":"p","rubrics":[{"check":"c","kwargs":{"n":[NaN]}}],"responses":["r"]}]}',
        "groups[0].rubrics[0].kwargs.n[0]",
    ),
    (
        "infinity",
        b'{"groups":[{"prompt":"p","rubrics":[{"check":"c","weight":1e999}],"responses":["r"]}]}',
        "groups[0].rubrics[0].weight",
    ),
    ("no groups", {}, "groups"),
    ("empty groups", {"groups": []}, "groups"),
    ("empty rubrics", body(rubrics=[]), "groups[0].rubrics"),
    ("empty responses", body(responses=[]), "groups[0].responses"),
    ("empty prompt list", body(prompt=[]), "groups[0].prompt"),
    ("unknown field", {"groups": [GOOD], "judge_url": "http://x"}, "judge_url"),
    ("unknown nested field", with_rubric(check="c", url="http://x"), "groups[0].rubrics[0].url"),
    ("unknown option", {"groups": [GOOD], "options": {"jugding": "all"}}, "options.jugding"),
    ("bad option", {"groups": [GOOD], "options": {"judging": "some"}}, "options.judging"),
    ("duplicate group ids", {"groups": [GOOD, GOOD | {"id": "0"}]}, "groups[1].id"),
    (
        "duplicate rubric ids",
        body(rubrics=[{"id": "a", "check": "c"}, {"id": "a", "criterion": "d"}]),
        "groups[0].rubrics[1].id",
    ),
    ("duplicate response ids", body(responses=["r", {"id": "0", "text": "s"}]), "groups[0].responses[1].id"),
    ("both kinds", with_rubric(check="c", criterion="d"), "groups[0].rubrics[0]"),
    ("neither kind", with_rubric(weight=2.0), "groups[0].rubrics[0]"),
    ("weight 0", with_rubric(check="c", weight=0), "groups[0].rubrics[0].weight"),
    ("points 0", with_rubric(criterion="c", points=0), "groups[0].rubrics[0]"),
    ("pass_at 0.7", with_rubric(criterion="c", pass_at=0.7), "groups[0].rubrics[0].pass_at"),
    ("hard as text", with_rubric(check="c", hard="true"), "groups[0].rubrics[0].hard"),
    ("id as number", with_rubric(check="c", id=3), "groups[0].rubrics[0].id"),
    ("response as number", body(responses=[3]), "groups[0].responses[0]"),
    ("deadline 0", {"groups": [GOOD], "options": {"deadline_s": 0}}, "options.deadline_s"),
    (
        "a parameter of another method",
        {"groups": [GOOD], "options": {"advantages": {"method": "grpo", "virtual": 2}}},
        "options.advantages",
    ),
]


@pytest.mark.parametrize(("what", "payload", "path"), REFUSED, ids=[what for what, _, _ in REFUSED])
def test_a_bad_body_is_422_and_names_the_place(
    client: TestClient, what: str, payload: bytes | dict[str, Any], path: str
) -> None:
    content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    answer = client.post("/v1/score", content=content)
    assert answer.status_code == 422, answer.text
    error = answer.json()["error"]
    assert error["type"] == "invalid_request"
    assert path in [detail["path"] for detail in error["details"]]
    assert all(detail["message"] for detail in error["details"])
    assert error["message"]


def test_every_fault_is_listed(client: TestClient) -> None:
    payload = {
        "groups": [
            GOOD | {"rubrics": [{"check": "a", "weight": -1}, {"check": "a", "criterion": "b"}]},
            GOOD | {"responses": ["r", {"id": "0", "text": "s"}], "colour": "red"},
        ],
        "options": {"mode": "gentle"},
    }
    details = client.post("/v1/score", json=payload).json()["error"]["details"]
    assert sorted(detail["path"] for detail in details) == [
        "groups[0].rubrics[0].weight",
        "groups[0].rubrics[1]",
        "groups[1].colour",
        "groups[1].responses[1].id",
        "options.mode",
    ]


@pytest.mark.parametrize(
    ("method", "path", "status", "type"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/v1/score", 405, "method_not_allowed"),
        ("GET", "/v1/checks/no:such", 404, "not_found"),
        ("POST", "/v1/advantages", 422, "invalid_request"),
    ],
)
def test_every_error_has_one_shape(
    client: TestClient, method: str, path: str, status: int, type: str
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"].keys() == {"type", "message", "details"}
    assert answer.json()["error"]["type"] == type


def test_an_unknown_check_suggests_near_ones(client: TestClient) -> None:
    message = client.get("/v1/checks/punctuation:no_coma").json()["error"]["message"]
    assert "punctuation:no_comma" in message


# texts and kwargs that break naive code; each must give a verdict of its own beside a good one
HOSTILE = [
    ("detectable_format:json_format", {}, "[" * 100_000),
    ("detectable_format:json_format", {}, "9" * 5000),
    ("detectable_format:json_format", {}, '{"a": NaN}'),
    ("keywords:existence", {"keywords": ["\x00"]}, "a\x00b"),
    ("language:response_language", {"language": "en"}, "\x00 1234 \U0001f600"),
    ("length_constraints:number_sentences", {"num_sentences": 1, "relation": "at least"}, "." * 50_000),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "\n" * 50_000 + "* a"),
    ("detectable_format:title", {}, "<<" * 30_000),
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "[" * 30_000),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "*" * 30_001),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "p" * 50_000),
    ("change_case:english_capital", {}, "A" * 100_000),
    ("length_constraints:number_words", {"num_words": 10**15, "relation": "at least"}, "é" * 1000),
]


@pytest.mark.parametrize(("check", "kwargs", "text"), HOSTILE, ids=lambda v: str(v)[:40])
def test_hostile_texts_get_a_verdict(
    client: TestClient, check: str, kwargs: dict[str, Any], text: str
) -> None:
    group = {
        "prompt": "p",
        "rubrics": [{"check": check, "kwargs": kwargs}, {"check": "punctuation:no_comma"}],
        "responses": [text, "fine"],
    }
    answer = client.post("/v1/score", json={"groups": [group]})
    assert answer.status_code == 200, answer.text
    hostile, fine = answer.json()["groups"][0]["responses"]
    assert [v["status"] for v in hostile["rubrics"]] == ["scored"] * 2
    assert fine["rubrics"][1]["score"] == 1.0


@pytest.mark.parametrize(
    ("kwargs", "path"),
    [
        ({}, "kwargs.keywords"),
        ({"keywords": None}, "kwargs.keywords"),
        ({"keywords": []}, "kwargs.keywords"),
        ({"keywords": "fox"}, "kwargs.keywords"),
        ({"keywords": ["(x"]}, "kwargs.keywords[0]"),
        ({"keywords": ["x{99999999999}"]}, "kwargs.keywords[0]"),
        ({"keywords": ["a"], "color": 1}, "kwargs.color"),
        ({"keywords": [["a"]]}, "kwargs.keywords[0]"),
    ],
)
def test_bad_kwargs_are_a_failed_verdict_with_a_path(
    client: TestClient, kwargs: dict[str, Any], path: str
) -> None:
    payload = with_rubric(check="keywords:existence", kwargs=kwargs)
    verdict = client.post("/v1/score", json=payload).json()["groups"][0]["responses"][0]["rubrics"][0]
    assert (verdict["status"], verdict["score"]) == ("failed", None)
    assert verdict["error"]["kind"] == "bad_kwargs"
    assert verdict["error"]["path"] == f"groups[0].rubrics[0].{path}"
