"""Expected verdicts: what may be expected, and what holds."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from rubricate_service.authoring.expectations import CaseGroup, Outcome, compare


def group(expect: dict[str, Any], **rubric: Any) -> CaseGroup:
    rubrics = [{"id": "tone", "criterion": "The tone is warm.", **rubric}, {"check": "punctuation:no_comma"}]
    return CaseGroup.model_validate(
        {
            "prompt": "Greet me.",
            "rubrics": rubrics,
            "responses": ["plain", {"text": "Hello.", "expect": expect}],
        }
    )


def scored(verdict: dict[str, Any], **numbers: Any) -> dict[str, Any]:
    one = {"id": "1", "score": 1.0, "status": "scored"}
    nothing = {"outcome": None, "quality": None, "reward": None}
    return {"id": "1", "rubrics": [{"id": "tone", **verdict}, one], **nothing, **numbers}


def outcome(expect: dict[str, Any], answer: dict[str, Any], **rubric: Any) -> Outcome:
    (case,) = group(expect, **rubric).cases()
    assert case.position == 1
    return compare(case, answer)


@pytest.mark.parametrize(
    ("expected", "score", "rubric", "result"),
    [
        ("pass", 1.0, {}, "holds"),
        ("pass", 0.5, {}, "mismatch"),
        ("fail", 0.5, {}, "holds"),
        ("fail", 0.0, {}, "holds"),
        ("fail", 1.0, {}, "mismatch"),
        ("pass", 0.5, {"hard": True, "pass_at": 0.5}, "holds"),
        (0.5, 0.5, {}, "holds"),
        (0, 0.0, {}, "holds"),
        (1, 0.5, {}, "mismatch"),
    ],
)
def test_a_verdict_is_compared(expected: Any, score: float, rubric: dict[str, Any], result: str) -> None:
    said = scored({"score": score, "status": "scored"})
    assert outcome({"tone": expected}, said, **rubric).result == result


def test_an_expected_score_is_compared_by_its_label() -> None:
    verdict = {"score": 0.93, "expected": 0.93, "label": 2, "status": "scored"}
    assert outcome({"tone": 1}, scored(verdict)).result == "holds"


def test_a_pitfall_is_compared_after_inversion() -> None:
    verdict = {"score": 0.1, "expected": 0.9, "label": 2, "status": "scored"}
    assert outcome({"tone": "fail"}, scored(verdict), negative=True).result == "holds"
    assert outcome({"tone": 0}, scored(verdict), negative=True).result == "holds"


NO_JUDGE = {"score": None, "status": "failed", "error": {"kind": "no_judge", "message": "", "path": "r"}}
TIMEOUT = {"score": None, "status": "failed", "error": {"kind": "timeout", "message": "late", "path": "r"}}
SKIPPED = {"score": None, "status": "skipped", "reason": "not_eligible"}
GOOD = {"score": 1.0, "status": "scored"}


@pytest.mark.parametrize(
    ("expect", "verdict", "numbers", "result"),
    [
        ({"tone": "pass"}, NO_JUDGE, {}, "not_run"),
        ({"tone": "fail"}, NO_JUDGE, {}, "not_run"),
        ({"tone": "fail"}, TIMEOUT, {}, "undecided"),
        ({"tone": 0}, SKIPPED, {}, "not_run"),
        ({"reward": 0}, NO_JUDGE, {}, "not_run"),
        ({"reward": 0}, TIMEOUT, {}, "undecided"),
        ({"reward": 0}, TIMEOUT, {"reward": 0.0}, "holds"),
        ({"quality": 0.5}, GOOD, {}, "mismatch"),
        ({"reward": 0.1}, GOOD, {"reward": 0.1 + 1e-12}, "holds"),
        ({"reward": 0.1}, GOOD, {"reward": 0.11}, "mismatch"),
        ({"outcome": "pass"}, GOOD, {"outcome": 1.0}, "holds"),
        ({"outcome": "pass"}, GOOD, {"outcome": 0.5}, "mismatch"),
        ({"outcome": "fail"}, GOOD, {"outcome": 0.5}, "holds"),
        ({"outcome": 0.5}, GOOD, {"outcome": 0.5}, "holds"),
    ],
)
def test_what_is_not_decided_never_holds(
    expect: dict[str, Any], verdict: dict[str, Any], numbers: dict[str, Any], result: str
) -> None:
    assert outcome(expect, scored(verdict, **numbers)).result == result


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ({"tome": "pass"}, "no rubric of the group; there are tone, 1, outcome"),
        ({"tone": True}, "YAML takes yes"),
        ({"tone": "passes"}, "pass, fail, or a number"),
        ({"tone": 0.7}, "0, 0.5 or 1"),
        ({"tone": None}, "pass, fail, or a number"),
        ({"reward": "pass"}, "which is a number"),
        ({"reward": float("nan")}, "pass, fail, or a number"),
    ],
)
def test_what_cannot_be_expected_is_refused(expect: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        group(expect)


def test_a_rubric_with_the_name_of_a_number_cannot_be_expected_by_it() -> None:
    rubrics = [{"id": "reward", "check": "punctuation:no_comma"}]
    responses = [{"text": "a", "expect": {"reward": 1}}]
    with pytest.raises(ValidationError, match="another id"):
        CaseGroup.model_validate({"prompt": "p", "rubrics": rubrics, "responses": responses})


def test_the_group_that_is_scored_has_no_expectations() -> None:
    sent = group({"tone": "pass"}).group().model_dump(exclude_none=True)
    assert sent["responses"] == ["plain", {"text": "Hello."}]
