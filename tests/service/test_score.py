"""`POST /v1/score` from end to end: a real pool, a real cache, a scripted judge."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeCall, FakeJudge, Fault
from rubricate_clients.wire import ScoreAnswer

NO_COMMA = {"id": "comma", "check": "punctuation:no_comma"}
KIND = {"id": "kind", "criterion": "The answer is kind."}


def post(client: TestClient, groups: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
    answer = client.post("/v1/score", json={"groups": groups, "options": options})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    ScoreAnswer.model_validate_json(answer.content)
    return body


def one(client: TestClient, rubric: dict[str, Any], response: str, **options: Any) -> dict[str, Any]:
    """The verdict of one rubric on one response."""
    groups = [{"prompt": "Say something.", "rubrics": [rubric], "responses": [response]}]
    verdict: dict[str, Any] = post(client, groups, **options)["groups"][0]["responses"][0]["rubrics"][0]
    return verdict


def test_an_answer_has_every_verdict_in_the_order_of_the_request(
    client: TestClient, judge: FakeJudge
) -> None:
    judge.answer = lambda call: "1" if "lovely day" in call.text else "2"
    group = {
        "id": "p1",
        "prompt": "Greet me.",
        "rubrics": [KIND, NO_COMMA],
        "responses": [
            {"id": "b", "text": "Hello you lovely day"},
            {"id": "a", "text": "Hello, you"},
            "Hi you",
        ],
    }
    body = post(client, [group], advantages={"method": "rdan"})
    responses = body["groups"][0]["responses"]
    assert [r["id"] for r in responses] == ["b", "a", "2"]
    assert [[v["id"] for v in r["rubrics"]] for r in responses] == [["kind", "comma"]] * 3
    assert [r["outcome"] for r in responses] == [1.0, 0.0, 1.0]
    assert [r["quality"] for r in responses] == [0.5, None, 1.0]
    kind, comma = responses[0]["rubrics"]
    assert (kind["score"], kind["label"], kind["status"], kind["cached"]) == (0.5, 1, "scored", False)
    assert (comma["score"], comma["status"]) == (1.0, "scored")
    assert {"observed", "required"} <= comma.keys()
    assert responses[1]["rubrics"][0] == {
        "id": "kind",
        "score": None,
        "status": "skipped",
        "reason": "not_eligible",
    }
    assert responses[0]["advantage"] == pytest.approx(0.577350 - 0.707106, abs=1e-5)
    assert responses[1]["a_proc"] == 0.0
    assert body["stats"]["judge"] | {"calls": 2, "skipped": 1, "scored": 2} == body["stats"]["judge"]
    assert body["stats"]["checks"] == {"scored": 3, "failed": 0}
    assert body["provenance"]["checks"] == {"punctuation:no_comma": "1"}
    assert body["provenance"]["judge"]["template"].startswith("sha256:")


def test_a_failed_rubric_beside_good_ones(client: TestClient) -> None:
    rubrics = [NO_COMMA, {"check": "no:such"}, {"check": "punctuation:no_comma", "kwargs": {"n": 1}}]
    body = post(client, [{"prompt": "p", "rubrics": rubrics, "responses": ["no comma here", "a, b"]}])
    for response, outcome in zip(body["groups"][0]["responses"], [None, 0.0], strict=True):
        verdicts = response["rubrics"]
        assert [v["status"] for v in verdicts] == ["scored", "failed", "failed"]
        assert [v["score"] for v in verdicts[1:]] == [None, None]
        assert verdicts[1]["error"]["kind"] == "unknown_check"
        assert verdicts[2]["error"] | {"kind": "bad_kwargs"} == verdicts[2]["error"]
        assert verdicts[2]["error"]["path"] == "groups[0].rubrics[2].kwargs.n"
        assert response["outcome"] == outcome


@pytest.mark.parametrize(
    ("rubric", "response", "options", "expected"),
    [
        (NO_COMMA, "a, b", {}, {"score": 0.0}),
        (NO_COMMA | {"negative": True}, "a, b", {}, {"score": 1.0}),
        (NO_COMMA, "<think>a, b</think>c", {}, {"score": 1.0}),
        (NO_COMMA, "<think>a, b</think>c", {"thinking": "keep"}, {"score": 0.0}),
        (NO_COMMA, "<think>a", {}, {"score": 0.0, "reason": "blank response"}),
        (NO_COMMA, " \n", {}, {"score": 0.0, "reason": "blank response"}),
        (NO_COMMA | {"negative": True}, "", {}, {"score": 0.0, "reason": "blank response"}),
        (KIND, "", {}, {"score": 0.0, "reason": "blank response"}),
        (NO_COMMA, "", {"blank": "check"}, {"score": 0.0}),
        (KIND, " : ", {}, {"score": 0.0, "status": "scored", "reason": "content_free"}),
        (KIND, "Thought process:", {}, {"score": 0.0, "reason": "content_free"}),
        # whether the bad thing is present is still asked
        (KIND | {"negative": True}, " : ", {}, {"score": 0.0, "label": 2}),
        # a text that breaks a check gains by it neither way
        ({"check": "detectable_format:json_format"}, "[" * 100_000, {}, {"score": 0.0}),
        ({"check": "detectable_format:json_format", "negative": True}, "[" * 100_000, {}, {"score": 0.0}),
        (KIND, "42", {}, {"score": 1.0}),
        (KIND, "Some words", {"judging": "none"}, {"score": None, "reason": "judging_off"}),
        (KIND | {"negative": True}, "Some words", {}, {"score": 0.0, "label": 2}),
        ({"check": "startend:quotation"}, '\n"quoted"', {"mode": "loose"}, {"score": 1.0}),
    ],
)
def test_one_verdict(
    client: TestClient,
    judge: FakeJudge,
    rubric: dict[str, Any],
    response: str,
    options: dict[str, Any],
    expected: dict[str, Any],
) -> None:
    judge.answer = "2"
    verdict = one(client, rubric, response, **options)
    assert verdict | expected == verdict


@pytest.mark.parametrize(
    ("label", "fields", "outcome"),
    [
        ("2", {}, 1.0),
        ("1", {}, 0.0),
        ("1", {"pass_at": 0.5}, 1.0),
        ("0", {"pass_at": 0.5}, 0.0),
        ("0", {"negative": True}, 1.0),
        ("1", {"negative": True}, 0.0),
        ("1", {"negative": True, "pass_at": 0.5}, 1.0),
    ],
)
def test_a_hard_criterion_holds_from_its_threshold_on(
    client: TestClient, judge: FakeJudge, label: str, fields: dict[str, Any], outcome: float
) -> None:
    judge.answer = label
    rubric = KIND | {"hard": True} | fields
    group = {"prompt": f"{label} {fields}", "rubrics": [rubric], "responses": ["Some words"]}
    assert post(client, [group])["groups"][0]["responses"][0]["outcome"] == outcome


def test_expected_scores_are_graded_and_a_hard_criterion_still_goes_by_its_label(
    client: TestClient, judge: FakeJudge
) -> None:
    judge.answer = lambda call: {"0": 0.1, "1": 0.3, "2": 0.6}
    group = {
        "prompt": "Expected.",
        "rubrics": [KIND, {"id": "true", "criterion": "It is true.", "hard": True}],
        "responses": ["Some words"],
    }
    response = post(client, [group], score="expected")["groups"][0]["responses"][0]
    assert response["quality"] == pytest.approx(0.75, abs=0.01)
    assert response["rubrics"][0]["label_mass"] == pytest.approx(1.0, abs=0.01)
    assert response["outcome"] == 1.0


def test_stats_say_how_the_judge_is_doing(client: TestClient, judge: FakeJudge) -> None:
    judge.answer = lambda call: {"0": 0.1, "1": 0.6, "2": 0.2} if "half" in call.text else "2"
    judge.fail_when(Fault.refusal(), lambda call: "refused" in call.text)
    group = {"prompt": "How?", "rubrics": [KIND], "responses": ["half", "whole", "refused", "half again"]}
    stats = post(client, [group])["stats"]["judge"]
    assert stats["failed_by_kind"] == {"refused": 1}
    assert stats["half_share"] == pytest.approx(2 / 3)
    assert stats["label_mass"] == pytest.approx((0.9 + 0.9 + 0.96) / 3)  # 0.96 is a plain answer's


def test_no_question_is_asked_twice(client: TestClient, judge: FakeJudge) -> None:
    """Equal responses, equal criteria and equal groups share a call, with the cache off as well."""
    twin = {"id": "again", "criterion": KIND["criterion"], "negative": True}
    group = {"prompt": "Twice.", "rubrics": [KIND, twin], "responses": ["same words", "same words", "others"]}
    body = post(client, [group, group | {"id": "copy"}], cache="off")
    assert body["stats"]["judge"]["calls"] == len(judge.calls) == 2
    assert body["stats"]["judge"]["joined"] == 10
    assert body["stats"]["judge"]["scored"] == 12


def test_a_second_pass_makes_no_calls_and_refresh_makes_them_again(
    client: TestClient, judge: FakeJudge
) -> None:
    group = {"prompt": "Cache me.", "rubrics": [KIND], "responses": ["one", "two", "one"]}
    first, second, fresh = (post(client, [group], cache=mode) for mode in ("use", "use", "refresh"))
    assert [b["stats"]["judge"]["calls"] for b in (first, second, fresh)] == [2, 0, 2]
    assert second["stats"]["judge"]["cached"] == 3
    assert all(r["rubrics"][0]["cached"] for r in second["groups"][0]["responses"])
    assert first["groups"][0]["responses"][0]["quality"] == second["groups"][0]["responses"][0]["quality"]


def test_explain_shows_spans_of_the_text_as_sent_the_rescuing_variant_and_the_prompt(
    client: TestClient,
) -> None:
    sent = "<think>hm</think> one, two"
    verdict = one(client, NO_COMMA, sent, explain=True)
    assert [sent[s["start"] : s["end"]] for s in verdict["evidence"]] == [","]
    assert verdict["evidence"][0]["kind"] == "violation"
    loose = one(client, {"check": "startend:quotation"}, '*"quoted"*', explain=True, mode="loose")
    assert loose["variant"]
    prompt = one(client, KIND, "Some words", explain=True)["judge_prompt"]
    text = "\n".join(message["content"] for message in prompt)
    assert "Some words" in text
    assert text.index("Some words") < text.index(KIND["criterion"])


@pytest.mark.parametrize(
    ("rubric", "text", "score"),
    [
        (NO_COMMA, "," * 300_000, 0.0),
        ({"check": "keywords:existence", "kwargs": {"keywords": ["e"]}}, "e" * 300_000, 1.0),
        ({"check": "text:word_count", "kwargs": {"min": 1}}, "e " * 150_000, 1.0),
    ],
)
def test_evidence_is_bounded(client: TestClient, rubric: dict[str, Any], text: str, score: float) -> None:
    """It was as long as the text, and made the verdict late."""
    plain = one(client, rubric, text)
    explained = one(client, rubric, text, explain=True)
    evidence = explained.pop("evidence")
    assert explained == plain
    assert plain["score"] == score
    assert [(span["start"], span["end"]) for span in evidence[:1]] == [(0, 1)]
    assert len(evidence) == 1_000


@pytest.mark.parametrize(
    ("check", "text", "variant"),
    [
        ("punctuation:no_comma", "It is fine\na, b", "last_line_removed"),
        ("startend:quotation", '*"quoted"*', "raw_without_asterisks"),
    ],
)
def test_evidence_does_not_speak_against_the_variant_that_decided(
    client: TestClient, check: str, text: str, variant: str
) -> None:
    """It was of the text as sent, where the commas of a removed line are violations."""
    verdict = one(client, {"check": check}, text, explain=True, mode="loose")
    assert (verdict["score"], verdict["variant"], verdict["evidence"]) == (1.0, variant, [])
    strict = one(client, {"check": "punctuation:no_comma"}, "a, b", explain=True, mode="loose")
    assert (strict["score"], strict["evidence"][0]["kind"]) == (0.0, "violation")


@pytest.mark.parametrize("explain", [False, True])
def test_what_is_decided_by_the_deadline_is_in_the_answer(client: TestClient, explain: bool) -> None:
    """All verdicts of a chunk were late where one was."""
    slow = {"check": "keywords:existence", "kwargs": {"keywords": ["(a+)+$"]}}
    texts = [f"{n} {'a' * 18}b" for n in range(1_000)]
    body = post(
        client,
        [{"prompt": "p", "rubrics": [NO_COMMA, slow], "responses": texts}],
        deadline_s=2.0,
        explain=explain,
    )
    commas, others = zip(*(r["rubrics"] for r in body["groups"][0]["responses"]), strict=True)
    assert {verdict["score"] for verdict in commas} == {1.0, None}
    late = {verdict["error"]["message"] for verdict in commas if verdict["status"] == "failed"}
    assert late == {"no verdict within 2 s"}
    assert {verdict["status"] for verdict in others} >= {"failed"}


@pytest.mark.parametrize(
    ("sentence", "parsed"), [("The answer must use at most 20 words.", True), ("Be yourself.", False)]
)
def test_a_constraint_sentence_that_was_not_understood_is_told(
    client: TestClient, sentence: str, parsed: bool
) -> None:
    kwargs = {"category": "Length", "subcategory": "Words", "constraint": sentence}
    verdict = one(client, {"check": "muldimif:constraint", "kwargs": kwargs}, "Only a few words.")
    assert verdict["parsed"] is parsed


def test_the_judge_sees_the_whole_conversation(client: TestClient, judge: FakeJudge) -> None:
    turns = [("system", "Be a pirate."), ("user", "Ahoy?"), ("assistant", "Arr."), ("user", "And now?")]
    prompt = [{"role": role, "content": content} for role, content in turns]
    post(
        client, [{"prompt": prompt, "reference": "Aye aye.", "rubrics": [KIND], "responses": ["Some words"]}]
    )
    (call,) = judge.calls
    for text in (*(content for _, content in turns), "Aye aye.", "Some words"):
        assert text in call.text


def test_a_stream_has_a_line_for_each_group_and_ends_with_the_stats(
    client: TestClient, judge: FakeJudge
) -> None:
    groups = [
        {"prompt": f"p{i}", "rubrics": [NO_COMMA, KIND], "responses": ["a, b", "c d"]} for i in range(5)
    ]
    for method in ("rdan", "gdpo"):
        answer = client.post(
            "/v1/score",
            json={"groups": groups, "options": {"advantages": {"method": method}}},
            headers={"Accept": "application/x-ndjson"},
        )
        assert answer.headers["content-type"] == "application/x-ndjson"
        *lines, last = [json.loads(line) for line in answer.text.splitlines()]
        assert sorted(line["group"]["id"] for line in lines) == ["0", "1", "2", "3", "4"]
        assert last.keys() == {"stats", "provenance"}
        whole = client.post(
            "/v1/score", json={"groups": groups, "options": {"advantages": {"method": method}}}
        )
        by_id = {group["id"]: group for group in whole.json()["groups"]}
        for line in lines:
            advantages = [r["advantage"] for r in line["group"]["responses"]]
            assert advantages == [r["advantage"] for r in by_id[line["group"]["id"]]["responses"]]


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        ("application/x-ndjson", True),
        ("APPLICATION/X-NDJSON", True),
        ("text/html, application/x-ndjson ; q=0.5, */*;q=0.1", True),
        ("application/x-ndjson, application/json", True),
        ("application/x-ndjson;q=0", False),
        ("application/x-ndjson; Q=0.000, application/json", False),
        ("application/json, application/x-ndjson;q=0.5", False),
        ("application/x-ndjson-other", False),
        ("*/*", False),
        (";;,=,q", False),
    ],
)
def test_the_accept_header_is_parsed(client: TestClient, accept: str, streams: bool) -> None:
    body = {"groups": [{"prompt": "p", "rubrics": [NO_COMMA], "responses": ["a"]}]}
    answer = client.post("/v1/score", json=body, headers={"Accept": accept})
    assert answer.headers["content-type"] == ("application/x-ndjson" if streams else "application/json")


@pytest.mark.parametrize(
    ("options", "ok"),
    [
        ({"advantages": {"method": "gdpo"}, "judging": "eligible"}, False),
        ({"advantages": {"method": "gdpo"}}, True),
        ({"advantages": {"method": "grpo"}, "reward": "csr", "judging": "needed"}, False),
    ],
)
def test_advantages_on_scores_that_are_gated_away_are_refused(
    client: TestClient, judge: FakeJudge, options: dict[str, Any], ok: bool
) -> None:
    groups = [{"prompt": "p", "rubrics": [NO_COMMA, KIND], "responses": ["a, b", "c d"]}]
    answer = client.post("/v1/score", json={"groups": groups, "options": options})
    assert answer.status_code == (200 if ok else 422)
    if not ok:
        assert answer.json()["error"]["type"] == "needs_all_scores"
        assert judge.calls == []


def test_a_judge_that_fails_on_an_ineligible_response_does_not_refuse_gdpo(
    client: TestClient, judge: FakeJudge
) -> None:
    """Only scores that were gated away do; a failed one is left out of its channel."""
    judge.answer = "2"
    judge.fail_when(Fault.refusal(), lambda call: "a, b" in call.text)
    groups = [{"prompt": "p", "rubrics": [NO_COMMA, KIND], "responses": ["a, b", "c d", "e f"]}]
    (group,) = post(client, groups, advantages={"method": "gdpo"}, cache="off")["groups"]
    assert [r["quality"] for r in group["responses"]] == [None, 1.0, 1.0]
    assert group["responses"][0]["a_proc"] == 0.0
    assert group["responses"][0]["advantage"] < 0


def test_a_hard_criterion_without_probabilities_goes_by_its_label(
    client: TestClient, judge: FakeJudge
) -> None:
    judge.answer = lambda call: {"0": 0.01, "1": 0.02, "2": 0.1, "x": 0.05}  # too little on the labels
    rubrics = [KIND, {"id": "true", "criterion": "It is true.", "hard": True}]
    group = {"prompt": "Hard.", "rubrics": rubrics, "responses": ["Some words"]}
    (response,) = post(client, [group], score="expected")["groups"][0]["responses"]
    soft, hard = response["rubrics"]
    assert (hard["score"], response["outcome"]) == (1.0, 1.0)
    assert soft["error"]["kind"] == "unreadable"


def test_without_a_judge_criteria_fail_and_checks_do_not(no_judge: TestClient) -> None:
    body = post(no_judge, [{"prompt": "p", "rubrics": [NO_COMMA, KIND], "responses": ["a b"]}])
    comma, kind = body["groups"][0]["responses"][0]["rubrics"]
    assert comma["score"] == 1.0
    assert (kind["status"], kind["score"], kind["error"]["kind"]) == ("failed", None, "no_judge")
    assert "--judge" in kind["error"]["message"]
    assert body["provenance"]["judge"] is None


def test_call_log_has_no_call_for_what_is_not_needed(client: TestClient, judge: FakeJudge) -> None:
    groups = [
        {"prompt": "alone", "rubrics": [NO_COMMA, KIND], "responses": ["lonely one", "x, y", "z, w"]},
        {
            "prompt": "pair",
            "rubrics": [NO_COMMA, KIND],
            "responses": ["first good", "second good", "bad, one"],
        },
    ]
    body = post(client, groups, judging="needed")
    seen: list[FakeCall] = judge.calls
    assert len(seen) == 2
    assert all("first good" in call.text or "second good" in call.text for call in seen)
    reasons = [[r["rubrics"][1].get("reason") for r in g["responses"]] for g in body["groups"]]
    assert reasons == [["group_too_small", "not_eligible", "not_eligible"], [None, None, "not_eligible"]]
