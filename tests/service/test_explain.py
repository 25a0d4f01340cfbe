"""`POST /v1/explain`: where verdicts come from."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate_checkers import Text, build, catalogue, evaluate

ASKED: dict[str, Any] = {
    "prompt": "Describe a pier.",
    "rubrics": [
        {"id": "commas", "check": "punctuation:no_comma"},
        {"id": "tone", "criterion": "It is warm."},
    ],
    "responses": ["<think>🎉, hm</think> 🎉 A pier, and gulls.", "A pier."],
}


def explain(client: TestClient, group: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    answer = client.post("/v1/explain", json={"groups": [group], "options": options})
    assert answer.status_code == 200, answer.text
    responses: list[dict[str, Any]] = answer.json()["groups"][0]["responses"]
    return responses


def test_a_check_tells_where_in_code_points_of_the_response_as_it_was_sent(client: TestClient) -> None:
    (verdict, _) = explain(client, ASKED)[0]["rubrics"]
    ((start, end),) = [(span["start"], span["end"]) for span in verdict["evidence"]]
    sent = ASKED["responses"][0]
    assert (sent[start:end], sent.index("pier,") + 4) == (",", start)
    assert (verdict["observed"], verdict["required"]) == ("1 comma", "no comma")


def test_a_criterion_tells_what_the_judge_was_sent(client: TestClient) -> None:
    (_, verdict) = explain(client, ASKED, judging="all")[1]["rubrics"]
    prompt = "\n".join(message["content"] for message in verdict["judge_prompt"])
    assert "It is warm." in prompt
    assert "Describe a pier." in prompt


def test_loose_tells_which_variant_rescued_it(client: TestClient) -> None:
    group = {
        "prompt": "Say that alone.",
        "rubrics": [{"check": "startend:end_checker", "kwargs": {"end_phrase": "That is all."}}],
        "responses": ["Here it comes.\nThat is all.\nShall I add more?", "That is all."],
    }
    rescued, plain = explain(client, group, mode="loose")
    assert rescued["rubrics"][0]["variant"] == "last_line_removed"
    assert "variant" not in plain["rubrics"][0]


def test_the_body_is_that_of_score_and_its_option_is_of_no_account(client: TestClient) -> None:
    assert "evidence" in explain(client, ASKED, explain=False)[0]["rubrics"][0]
    answer = client.post("/v1/score", json={"groups": [ASKED]})
    assert "evidence" not in answer.json()["groups"][0]["responses"][0]["rubrics"][0]
    assert client.post("/v1/explain", json={"groups": []}).status_code == 422


def test_streams_are_explained_too(client: TestClient) -> None:
    headers = {"Accept": "application/x-ndjson"}
    answer = client.post("/v1/explain", json={"groups": [ASKED]}, headers=headers)
    assert '"evidence"' in answer.text.splitlines()[0]


@pytest.mark.parametrize(
    ("check", "kwargs", "text", "spans"),
    [
        (
            "change_case:english_lowercase",
            {},
            "the Tide and THE sea",
            [("Tide", "violation"), ("THE", "violation")],
        ),
        (
            "change_case:english_capital",
            {},
            "THE Tide AND 12 sea",
            [("Tide", "violation"), ("sea", "violation")],
        ),
        ("startend:end_checker", {"end_phrase": "The end."}, ' "So. The END." ', [("The END.", "match")]),
        ("startend:end_checker", {"end_phrase": "The end."}, "So it goes on", [(" goes on", "violation")]),
        ("startend:quotation", {}, ' "Yes" she said. ', [('"', "match"), (".", "violation")]),
        ("combination:repeat_prompt", {"prompt_to_repeat": "Go on"}, "\ngo on? No.", [("go on", "match")]),
        ("text:starts_with", {"value": "Dear"}, "  Dear crew", [("Dear", "match")]),
        ("text:ends_with", {"value": "home."}, "At sea.\n", [(" sea.", "violation")]),
        ("first_word:first_word_answer", {"first_word": "yes"}, " Yes, sir", [("Yes,", "violation")]),
        ("last_word:last_word_answer", {"last_word": "home"}, "We are home. ", [("home.", "match")]),
        ("count:numbers", {"N": 2}, "At 1,000 or 3.14 a", [("1,000", "counted"), ("3.14", "counted")]),
        ("words:consonants", {}, "Bright stars are", [("are", "violation")]),
        ("words:palindrome", {}, "Level, radar is", [("Level,", "counted"), ("radar", "counted")]),
        ("words:prime_lengths", {}, "We were, see", [("were,", "violation")]),
        ("words:repeats", {"small_n": 1}, "Knock, who, knock", [("Knock,", "counted"), ("knock", "counted")]),
        ("detectable_format:square_brackets", {}, "[low] tide", [("tide", "violation")]),
        ("rlvr:verify_keywords", {"keyword_list": ["oar"]}, "<answer>OARs</answer>", [("OAR", "match")]),
        ("rlvr:verify_keyword_frequency", {"word": "Sea", "N": 1}, "sea seas", [("sea", "counted")]),
        ("rlvr:validate_forbidden_words", {"forbidden_words": ["ice"]}, "Notice", [("ice", "violation")]),
        ("rlvr:validate_lowercase", {}, "</think> so It is", [("It", "violation")]),
        ("rlvr:verify_bullet_points", {"N": 2}, "a - b\n- c\n * d", [("-", "counted"), (" *", "counted")]),
        ("rlvr:validate_highlighted_sections", {"N": 1}, "a *b* c * d", [("*b*", "counted")]),
        ("rlvr:validate_end", {"end_phrase": "out."}, "Over. ", [("ver.", "violation")]),
        ("format:thesis", {}, "<em>Trees</em> cool.", [("<em>", "match")]),
    ],
)
def test_spans_are_those_of_what_decides(
    check: str, kwargs: dict[str, Any], text: str, spans: list[tuple[str, str]]
) -> None:
    evidence = evaluate(Text(text), build(check, kwargs), explain=True).evidence
    assert [(text[span.start : span.end], span.kind) for span in evidence] == spans


@pytest.mark.parametrize("id", [entry.id for entry in catalogue() if entry.id != "words:start_verb"])
def test_every_check_says_what_it_observed_and_its_spans_lie_in_the_text(id: str) -> None:
    example = next(entry.example for entry in catalogue() if entry.id == id)
    check = build(id, example.kwargs)
    for raw in (example.passes, example.fails, "", "🎉 e\u0301"):
        verdict = evaluate(Text(raw, "Name a river in Spain."), check, explain=True)
        assert verdict.required
        assert verdict.observed or verdict.reason
        assert all(0 <= span.start <= span.end <= len(raw) for span in verdict.evidence)
