from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_service.judge import Completion, JudgeFailure, Reading
from rubricate_service.judge.reading import read
from rubricate_service.judge.served import Token


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("0", 0.0),
        ("1", 0.5),
        (" 2\n", 1.0),
        ("<think>It says 0 somewhere.</think>\n\n2", 1.0),
        ("opened in the prompt </think>1", 0.5),
        ('{"score": 1}', 0.5),
        ('{"label": "2"}', 1.0),
        ('<think>2</think> {"score":0}', 0.0),
    ],
)
def test_a_lone_label_is_read(text: str, label: float) -> None:
    assert read(Completion(text, "stop")) == Reading(label)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "12",
        "1.",
        "1.0",
        "Score: 2",
        "2 because 0 is too harsh",
        "**2**",
        "２",
        '{"score": 3}',
        '{"score": 1.0}',
        '{"score": true}',
        '{"score": null}',
        '{"score": [2]}',
        '{"score": 1, "label": 2}',
        '{"verdict": 2}',
        '[{"score": 2}]',
        '```json\n{"score": 2}\n```',
        '{"score": 2} {"score": 0}',
        "\\boxed{2}",
        "[[2]]",
        "Yes",
    ],
)
def test_no_verdict_is_looked_for_in_prose(text: str) -> None:
    with pytest.raises(JudgeFailure) as caught:
        read(Completion(text, "stop"))
    assert caught.value.kind == "unreadable"


@pytest.mark.parametrize(
    ("completion", "kind"),
    [
        (Completion("", "length"), "truncated"),
        (Completion("The response", "length"), "truncated"),
        (Completion("<think>Let me see: 2", "stop"), "truncated"),
        (Completion("<think>a</think><think>2", "stop"), "truncated"),
        (Completion("2", "content_filter"), "refused"),
        (Completion("", "stop", refused=True), "refused"),
    ],
)
def test_other_ways_to_have_no_label(completion: Completion, kind: str) -> None:
    with pytest.raises(JudgeFailure) as caught:
        read(completion)
    assert caught.value.kind == kind


def test_a_label_that_filled_its_budget_is_a_label() -> None:
    assert read(Completion("1", "length")).label == 0.5


def token(text: str, **odds: float) -> Token:
    """A token and the probabilities of the labels in its place; ``_`` stands for a blank."""
    return Token(text, tuple((name.replace("_", " "), math.log(p)) for name, p in odds.items()))


PLAIN = token("1", **{"1": 0.6, "0": 0.4})


@pytest.mark.parametrize(
    ("tokens", "expected", "mass"),
    [
        pytest.param(None, None, None, id="none given"),
        pytest.param((), None, None, id="empty"),
        pytest.param((Token("1"),), None, None, id="no alternatives"),
        pytest.param((PLAIN,), 0.3, 1.0, id="plain"),
        pytest.param((Token("1", (("1", -0.0), ("0", -9999.0))),), 0.5, 1.0, id="after a grammar's mask"),
        pytest.param(
            (token("1", **{"1": 0.5, "_1": 0.2, "2": 0.2}),), 0.55 / 0.9, 0.9, id="variants are summed"
        ),
        pytest.param((token("1", **{"1": 0.2, "2": 0.1}),), None, 0.3, id="shares of little mass are noise"),
        pytest.param((token("1", **{"1": 1.0}), PLAIN), 0.3, 1.0, id="digits in the thinking before"),
        pytest.param((token("1"),), None, 0.0, id="no alternative is a label"),
        pytest.param((PLAIN, Token("", ())), 0.3, 1.0, id="an end token behind"),
    ],
)
def test_expected_score_and_label_mass(
    tokens: tuple[Token, ...] | None, expected: float | None, mass: float | None
) -> None:
    reading = read(Completion("1", "stop", tokens))
    assert reading.label == 0.5
    assert reading.expected == (None if expected is None else pytest.approx(expected))
    assert reading.label_mass == (None if mass is None else pytest.approx(mass))


_SHARE = st.none() | st.floats(0, 1)


@given(st.builds(Reading, st.sampled_from((0.0, 0.5, 1.0)), _SHARE, _SHARE))
def test_a_reading_survives_its_bytes(reading: Reading) -> None:
    assert Reading.from_bytes(reading.to_bytes()) == reading


def test_a_failure_survives_pickling() -> None:
    failure = pickle.loads(pickle.dumps(JudgeFailure("overloaded", "try later", 2.5)))
    assert (failure.kind, failure.message, failure.retry_after) == ("overloaded", "try later", 2.5)
    assert str(failure) == "overloaded: try later"
