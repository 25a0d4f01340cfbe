from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_service.judge import Identity, Question
from rubricate_service.judge.key import cache_key, digest

IDENTITY = Identity("model", "fingerprint")
QUESTION = Question((("user", "ab"), ("assistant", "c")), "response", "criterion", "reference")
KEY = cache_key(IDENTITY, "template", QUESTION)


@pytest.mark.parametrize(
    ("identity", "template", "question"),
    [
        (Identity("model2", "fingerprint"), "template", QUESTION),
        (Identity("model", "fingerprint2"), "template", QUESTION),
        (IDENTITY, "template2", QUESTION),
        (IDENTITY, "template", replace(QUESTION, response="response ")),
        (IDENTITY, "template", replace(QUESTION, response="criterion", criterion="response")),
        (IDENTITY, "template", replace(QUESTION, criterion="Criterion")),
        (IDENTITY, "template", replace(QUESTION, reference=None)),
        (IDENTITY, "template", replace(QUESTION, reference="")),
        (IDENTITY, "template", replace(QUESTION, prompt=(("user", "a"), ("assistant", "bc")))),
        (IDENTITY, "template", replace(QUESTION, prompt=(("system", "ab"), ("assistant", "c")))),
        (IDENTITY, "template", replace(QUESTION, prompt=(("user", "ab"),))),
        (IDENTITY, "template", replace(QUESTION, prompt=())),
    ],
)
def test_a16_every_part_counts(identity: Identity, template: str, question: Question) -> None:
    assert cache_key(identity, template, question) != KEY


def test_a15_the_tenant_counts_and_runs_into_no_other_part() -> None:
    keys = {cache_key(IDENTITY, "template", QUESTION, tenant) for tenant in ("", "a", "A", "user")}
    keys.add(cache_key(IDENTITY, "template", replace(QUESTION, reference=None), "reference"))
    assert len(keys) == 5
    assert KEY in keys


def test_the_same_question_has_the_same_key_in_every_process() -> None:
    assert cache_key(IDENTITY, "template", replace(QUESTION)) == KEY
    # fixed for ever: a change of the rules behind it must change the version in it
    assert digest(["a", None, ""]).hex() == (
        "65ade0619a2abd0cb415d4bc1677a7aefae0e4624ca879a77b921a07ee23be3c"
    )


# few letters, so that parts which run together would be met often
_PART = st.none() | st.text("ab\ud800", max_size=3)
_PARTS = st.lists(_PART, max_size=4)


@given(_PARTS, _PARTS)
def test_a14_distinct_parts_have_distinct_digests(one: list[str | None], other: list[str | None]) -> None:
    assert (digest(one) == digest(other)) == (one == other)


_TEXT = st.text("ab", max_size=2)
_QUESTION = st.builds(
    Question,
    st.lists(st.tuples(_TEXT, _TEXT), max_size=2).map(tuple),
    _TEXT,
    _TEXT,
    st.none() | _TEXT,
)
_ASKED = st.tuples(_QUESTION, _TEXT)  # by a tenant


@given(_ASKED, _ASKED)
def test_a14_distinct_questions_have_distinct_keys(
    one: tuple[Question, str], other: tuple[Question, str]
) -> None:
    assert (cache_key(IDENTITY, "t", *one) == cache_key(IDENTITY, "t", *other)) == (one == other)
