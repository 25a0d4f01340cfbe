"""Texts that are made to hurt: each test is named by its row of the fault and attack list.

A1 size, A5 templates, A6 characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from rubricate_checkers import catalogue
from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.authoring.shown import INVISIBLE, excerpt
from rubricate_service.settings import Settings

CHECK_S = 5.0


@pytest.fixture(scope="module")
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="2") as judge:
        yield judge


@pytest.fixture(scope="module")
def client(judge: FakeJudge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    made = Settings(
        judge=judge.url,
        cache=str(tmp_path_factory.mktemp("texts") / "v.db"),
        check_workers=2,
        check_timeout_s=CHECK_S,
        deadline_s=100.0,
    )
    with TestClient(create_app(made), raise_server_exceptions=False) as client:
        yield client


def score(client: TestClient, *groups: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    answer = client.post("/v1/score", json={"groups": list(groups), "options": options})
    assert answer.status_code == 200, answer.text
    scored: list[dict[str, Any]] = answer.json()["groups"]
    return scored


ALL = [{"check": entry.id, "kwargs": entry.example.kwargs, "hard": False} for entry in catalogue()]
LARGE = {
    "one word": "a" * 1_000_000,
    "lines": "a\n" * 500_000,
    "families": "👩‍👩‍👧‍👦" * 100_000,
    "brackets": "[(" * 500_000,
    "short sentences": "a. " * 333_333,
}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_a1_the_largest_texts_are_decided_by_every_check_in_its_time(client: TestClient, text: str) -> None:
    """A check has its limit of processor time; one that used it up would say `too slow`."""
    hostile, control = score(
        client,
        {"prompt": "p", "rubrics": ALL, "responses": [text[:1_000_000]]},
        {"prompt": "p", "rubrics": [{"check": "punctuation:no_comma"}], "responses": ["fine", "a, b"]},
    )
    for rubric, verdict in zip(ALL, hostile["responses"][0]["rubrics"], strict=True):
        if verdict["status"] == "failed":
            assert verdict["error"]["kind"] == "missing_data", (rubric, verdict)
        assert "too slow" not in verdict.get("reason", ""), (rubric, verdict)
    assert [response["outcome"] for response in control["responses"]] == [1.0, 0.0]


TEMPLATES = (
    "{{1234*5678}} {{ self.__init__.__globals__ }} {% raw %} ${1234*5678} #{1234*5678} <%= 1234*5678 %> "
    "{response} {0} %(prompt)s"
)


@pytest.mark.parametrize("place", ["prompt", "reference", "criterion", "response"])
def test_a5_no_template_in_a_text_is_filled_in(client: TestClient, judge: FakeJudge, place: str) -> None:
    judge.reset()
    judge.answer = "2"
    texts = {name: f"The {name} itself." for name in ("prompt", "reference", "criterion", "response")}
    texts[place] = f"{TEMPLATES} {{{place}}} {{criterion}} {{{{criterion}}}}"
    group = {
        "prompt": texts["prompt"],
        "reference": texts["reference"],
        "rubrics": [
            {"criterion": texts["criterion"]},
            {"check": "text:contains", "kwargs": {"values": [texts[place]]}, "hard": False},
        ],
        "responses": [texts["response"]],
    }
    (scored,) = score(client, group, cache="off", judging="all")
    (call,) = judge.calls
    for text in texts.values():
        assert call.text.count(text) == 1
    assert "7006652" not in call.text
    assert texts[place] in scored["responses"][0]["rubrics"][1]["required"]


PAIRS = {
    "NFC and NFD": ("é", unicodedata.normalize("NFD", "é")),
    "byte order mark": ("word", "\ufeffword"),
    "right to left": ("word", "\u202eword"),
    "zero width": ("word", "wo\u200brd"),
    "line separator": ("a b", "a\u2028b"),
    "NUL": ("ab", "a\0b"),
    "wide letters": ("word", "ｗｏｒｄ"),
    "ligature": ("fi", "ﬁ"),
}


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_a6_texts_that_look_alike_stay_two(
    client: TestClient, judge: FakeJudge, one: str, other: str
) -> None:
    """Nothing is normalised: not for a check, not for the judge's cache; and people see what is invisible."""
    judge.reset()
    judge.answer = "2"
    same = {"check": "text:contains", "kwargs": {"values": [f"<{one}>"], "case_sensitive": True}}
    length = {"check": "text:char_count", "kwargs": {"min": len(one) + 2, "max": len(one) + 2}}
    rubrics = [{**same, "hard": False}, {**length, "hard": False}, {"criterion": "The answer is kind."}]
    group = {"prompt": f"Say {other}.", "rubrics": rubrics, "responses": [f"<{one}>", f"<{other}>"]}
    (scored,) = score(client, group)
    first, second = scored["responses"]
    assert [verdict["score"] for verdict in first["rubrics"]] == [1.0, 1.0, 1.0]
    assert second["rubrics"][0]["score"] == 0.0
    assert second["rubrics"][1]["score"] == float(len(one) == len(other))
    assert len(judge.calls) == 2
    assert not INVISIBLE.search(excerpt(other))


@given(text=st.text(st.characters(), max_size=40))
@settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
def test_a6_any_text_is_scored_as_it_is_or_refused_as_no_text(client: TestClient, text: str) -> None:
    size = len(text) + 2
    rubric = {"check": "text:char_count", "kwargs": {"min": size, "max": size}}
    body = {
        "groups": [{"prompt": text, "rubrics": [rubric], "responses": [f"<{text}>"]}],
        "options": {"thinking": "keep"},
    }
    answer = client.post("/v1/score", json=body)  # lone surrogates are written as escapes
    if any("\ud800" <= char <= "\udfff" for char in text):
        assert answer.status_code == 422
    else:
        assert answer.json()["groups"][0]["responses"][0]["outcome"] == 1.0
