"""`POST /compat/slime`: one sample in, its numbers or one of them out."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.compat.settings import CompatSettings
from rubricate_service.settings import Settings

NO_COMMA = {"check": "punctuation:no_comma"}
KIND = {"id": "kind", "criterion": "The answer is kind."}


def sample(response: str, *rubrics: dict[str, Any], prompt: Any = "Say.", size: int = 1) -> dict[str, Any]:
    return {"prompt": prompt, "response": response, "label": {"rubrics": list(rubrics), "size": size}}


@pytest.mark.parametrize("prompt", ["Say.", [{"role": "user", "content": "Say."}]])
def test_without_a_group_a_sample_has_its_scores(client: TestClient, judge: FakeJudge, prompt: Any) -> None:
    judge.answer = "1"
    answer = client.post("/compat/slime", json=sample("kind words<|im_end|>", NO_COMMA, KIND, prompt=prompt))
    assert answer.json() == {
        "reward": 0.5,
        "outcome": 1.0,
        "quality": 0.5,
        "a_out": 0.0,
        "a_proc": 0.0,
        "advantage": 0.0,
        "eligible": 1.0,
        "valid": 1.0,
        "quality_valid": 1.0,
        "incomplete": 0.0,
        "members": 1.0,
    }


@pytest.mark.parametrize(("key", "value"), [("outcome", 0.0), ("reward", 0.0), ("valid", 1.0)])
def test_one_number_may_be_asked_for(client: TestClient, key: str, value: float) -> None:
    answer = client.post(f"/compat/slime?key={key}", json=sample("a, b", NO_COMMA))
    assert (answer.status_code, answer.json()) == (200, value)


@pytest.mark.parametrize(
    ("query", "change", "path", "message"),
    [
        ("?key=outcom", {}, "?key", "there are reward, outcome, "),
        ("", {"label": None}, "label", "is empty"),
        # pydantic's names for its branches stood in the path
        ("", {"label": 1}, "label", "an object with `rubrics`, or such an object written out"),
        ("", {"label": [NO_COMMA]}, "label", "an object with `rubrics`"),
        ("", {"prompt": 1}, "prompt", "a string or a list of messages"),
        ("", {"response": None}, "response", "valid string"),
        ("", {"label": "[" + "{}," * 500_000 + "{}]"}, "label", "`limits.json_values` is 400,000"),
        ("", {"label": {"rubrics": [NO_COMMA] * 300, "size": 1}}, "label.rubrics", "`limits.rubrics` is 256"),
        ("", {"response": "x" * 1_000_001}, "response", "`limits.response_chars` is 1,000,000"),
    ],
)
def test_errors_say_what_and_where(
    client: TestClient, query: str, change: dict[str, Any], path: str, message: str
) -> None:
    answer = client.post(f"/compat/slime{query}", json={**sample("a", NO_COMMA), **change})
    assert answer.status_code == 422
    (detail,) = answer.json()["error"]["details"]
    assert detail["path"] == path
    assert message in detail["message"]


RAISING = "def evaluate(response):\n    return response.split()[9] == 'word'"


@pytest.mark.parametrize(
    ("rubric", "options", "path", "kind"),
    [
        ({"check": "no:such"}, {}, "label.rubrics[1].check", "unknown_check"),
        ({"check": "text:contains"}, {}, "label.rubrics[1].kwargs.values", "bad_kwargs"),
        (
            {"check": "rule:python", "kwargs": {"source": RAISING, "entry": "evaluate"}},
            {},
            "label.rubrics[1]",
            "rule_error",
        ),
        (KIND, {"reward": "csr", "judging": "none"}, "label.options.judging", "`judging` skips"),
        (NO_COMMA, {"reward": "points"}, "label.options.reward", "`points` above 0"),
    ],
)
def test_what_no_retry_can_mend_is_no_503(
    client: TestClient, rubric: dict[str, Any], options: dict[str, Any], path: str, kind: str
) -> None:
    """The rubrics' own faults were answered as if the service were at fault, so that clients tried again."""
    sent = sample("some words", NO_COMMA, rubric)
    sent["label"]["options"] = options
    for _ in range(2):
        answer = client.post("/compat/slime", json=sent)
        error = answer.json()["error"]
        type = "rule_error" if kind == "rule_error" else "invalid_request"
        assert (answer.status_code, error["type"]) == (422, type)
        assert [detail["path"] for detail in error["details"]] == [path]
        assert error["message"].startswith(f"the response could not be scored: {path}: ")
        assert kind in error["message"]


def test_a_judge_that_fails_beside_a_faulty_rubric_does_not_ask_for_a_retry(
    client: TestClient, judge: FakeJudge
) -> None:
    judge.fail_when(Fault.refusal(), lambda call: True)
    faulty = {"id": "faulty", "check": "no:such", "hard": False}
    answer = client.post("/compat/slime", json=sample("two words", NO_COMMA, KIND, faulty))
    assert answer.status_code == 422
    details = answer.json()["error"]["details"]
    assert [detail["path"] for detail in details] == ["label.rubrics[2].check", "label.rubrics[1]"]


@pytest.mark.parametrize(
    ("size", "rubrics", "numbers"),
    [
        # nothing is decided
        (1, [{"check": "no:such"}], {"reward": 0.0, "outcome": 0.0, "valid": 0.0, "quality_valid": 0.0}),
        # the quality is not, and the outcome stands
        (1, [NO_COMMA, KIND], {"reward": 0.0, "outcome": 1.0, "valid": 1.0, "quality_valid": 0.0}),
    ],
)
def test_where_the_operator_says_so_the_undecided_is_masked(
    judge: FakeJudge, tmp_path: Any, size: int, rubrics: list[dict[str, Any]], numbers: dict[str, float]
) -> None:
    judge.fail_when(Fault.refusal(), lambda call: True)
    compat = CompatSettings(unscored="mask")
    settings = Settings(judge=judge.url, cache=str(tmp_path / "v.db"), check_workers=1, compat=compat)
    with TestClient(create_app(settings)) as client:
        answer = client.post("/compat/slime", json=sample("some words", *rubrics, size=size)).json()
    assert answer | numbers == answer
