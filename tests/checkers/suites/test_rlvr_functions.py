"""The 25 functions of RLVR-IFeval: a table of verdicts, what is refused, and the answer they look at."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_checkers import BadKwargs, CatalogueEntry, Span, Text, build, catalogue, evaluate

RLVR = [entry for entry in catalogue() if entry.suite == "rlvr"]

LEAST, MOST, AROUND = "at least", "at most", "around"
SECOND = {"N": 2, "first_word": "Low", "i": 2}
SECTIONS = {"N": 2, "section_splitter": "Leg"}

# function, kwargs, response, whether it holds
CASES: list[tuple[str, dict[str, Any], str, bool]] = [
    ("verify_keywords", {"keyword_list": ["OAR", "sea"]}, "Boards overseas.", True),
    ("verify_keywords", {"keyword_list": ["oar", "sea"]}, "Boards.", False),
    ("verify_keywords", {"keyword_list": ["s.a"]}, "sea", False),
    ("verify_keyword_frequency", {"word": "Sea", "N": 2}, "Sea, sea-salt, overseas", True),
    ("verify_keyword_frequency", {"word": "sea", "N": 2.0}, "Sea, sea, sea", False),
    ("verify_keyword_frequency", {"word": "sea-salt", "N": 1}, "sea-salt", False),
    ("validate_forbidden_words", {"forbidden_words": ["bad"]}, "Good.", True),
    ("validate_forbidden_words", {"forbidden_words": ["bad"]}, "A Badge.", False),
    ("verify_letter_frequency", {"letter": "A", "N": 1}, "A banana", True),
    ("verify_letter_frequency", {"letter": "A", "N": 2}, "A banana", False),
    ("validate_response_language", {"language": "es"}, "El barco sale mañana por la mañana.", True),
    ("validate_response_language", {"language": "es"}, "The boat leaves tomorrow morning at eight.", False),
    ("validate_response_language", {"language": "ja"}, "The boat leaves tomorrow morning at eight.", False),
    ("verify_paragraph_count", {"N": 2}, "One\n * * *\nTwo", True),
    ("verify_paragraph_count", {"N": 2}, "One\n***\nTwo", False),
    ("verify_paragraph_count", {"N": 2}, "One* * * \n* * *Two", False),
    ("validate_word_constraint", {"N": 3, "quantifier": LEAST}, "well-kept a b", True),
    ("validate_word_constraint", {"N": 3, "quantifier": MOST}, "a b c d", False),
    ("validate_word_constraint", {"N": 20, "quantifier": AROUND}, "a " * 22, True),
    ("validate_word_constraint", {"N": 20, "quantifier": AROUND}, "a " * 23, False),
    ("validate_word_constraint", {"N": 3, "quantifier": AROUND}, "a b", True),
    ("validate_word_constraint", {"N": 3, "quantifier": "less than"}, "a b", False),
    ("verify_sentence_constraint", {"N": 2, "quantifier": LEAST}, "Ask Dr. Vega. Or e.g. me? No", True),
    ("verify_sentence_constraint", {"N": 2, "quantifier": MOST}, "Ask Dr. Vega. Or e.g. me? No", False),
    ("verify_sentence_constraint", {"N": 2, "quantifier": AROUND}, "One. Two. Three", True),
    ("verify_sentence_constraint", {"N": 30, "quantifier": AROUND}, "One.", False),
    ("verify_sentence_constraint", {"N": 1, "quantifier": "exactly"}, "One.", False),
    ("validate_paragraphs", SECOND, "High.\n\n Lowland.", True),
    ("validate_paragraphs", SECOND, "High.\n\nlow.", False),
    ("validate_paragraphs", SECOND, "High.\n\n\n\nLow.", False),
    ("validate_paragraphs", SECOND | {"i": 0}, "High.\n\nLow.", True),
    ("verify_postscript", {"postscript_marker": "P.S."}, "Bye. P.S. Bring a coat.", True),
    ("verify_postscript", {"postscript_marker": "P.S."}, "Bye. P.S.", False),
    ("verify_postscript", {"postscript_marker": "P.S."}, "Bye. p.s. Bring a coat.", False),
    ("validate_placeholders", {"N": 2}, "[] and [a]", True),
    ("validate_placeholders", {"N": 2}, "[a [b] and [\n]", False),
    ("verify_bullet_points", {"N": 3}, "* a\n  - b\n**c**\n1. d", True),
    ("verify_bullet_points", {"N": 1}, "* a\n---", False),
    ("validate_title", {}, "<<>>", True),
    ("validate_title", {}, "<<a\n>> <<", False),
    ("validate_choice", {"options": ["A", "B"]}, "An Apple.", True),
    ("validate_choice", {"options": ["A", "B"]}, "a", False),
    ("validate_highlighted_sections", {"N": 2}, "****", True),
    ("validate_highlighted_sections", {"N": 1}, "*a\nb*", False),
    ("validate_sections", SECTIONS, "Leg out, Leg back", True),
    ("validate_sections", SECTIONS, "The trip: Leg out, Leg back", False),
    ("validate_sections", SECTIONS | {"N": 0}, "", True),
    ("validate_json_format", {}, "[NaN]", True),
    ("validate_json_format", {}, "```json\n[1]\n```", False),
    ("validate_json_format", {}, "[" * 100_000, False),
    ("validate_repeat_prompt", {"original_prompt": "Why?"}, "Why? So.", True),
    ("validate_repeat_prompt", {"original_prompt": "Why?"}, "why? So.", False),
    ("validate_two_responses", {}, "a ****** b", True),
    ("validate_two_responses", {}, "******b", True),
    ("validate_two_responses", {}, "a ****** a", False),
    ("validate_two_responses", {}, "a******b******c", False),
    ("validate_uppercase", {}, "A 1!", True),
    ("validate_uppercase", {}, "Aa", False),
    ("validate_lowercase", {}, "a 1!", True),
    ("validate_lowercase", {}, "Aa", False),
    ("validate_frequency_capital_words", {"N": 2, "quantifier": LEAST}, "I SAW A4 aB \u00c9A", True),
    ("validate_frequency_capital_words", {"N": 1, "quantifier": MOST}, "I SAW", False),
    ("validate_frequency_capital_words", {"N": 3, "quantifier": AROUND}, "I SAW", True),
    ("validate_end", {"end_phrase": "The end."}, "So. The end.", True),
    ("validate_end", {"end_phrase": "The end."}, "So. The End.", False),
    ("validate_quotation", {}, '"a" or "b"', True),
    ("validate_quotation", {}, '"', True),
    ("validate_quotation", {}, "\u201ca\u201d", False),
    ("validate_no_commas", {}, "a\uff0cb", True),
    ("validate_no_commas", {}, "1,000", False),
]  # fmt: skip

# function, kwargs, path, part of the message
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("verify_keywords", {}, "kwargs.keyword_list", "is missing"),
    ("verify_keywords", {"keyword_list": [1]}, "kwargs.keyword_list[0]", "valid string, not 1"),
    ("verify_letter_frequency", {"letter": "ab", "N": 1}, "kwargs.letter", "one character, not 'ab'"),
    ("verify_letter_frequency", {"letter": "a", "N": "1"}, "kwargs.N", "valid number"),
    ("validate_word_constraint", {"N": True, "quantifier": LEAST}, "kwargs.N", "valid number"),
    ("validate_word_constraint", {"N": float("inf"), "quantifier": LEAST}, "kwargs.N", "finite number"),
    ("validate_paragraphs", SECOND | {"i": 3}, "kwargs", "i (3) must be the number of one of N (2)"),
    ("validate_paragraphs", SECOND | {"i": -2}, "kwargs", "i (-2) must"),
    ("validate_paragraphs", SECOND | {"i": 1.5}, "kwargs", "i (1.5) must"),
    ("validate_sections", SECTIONS | {"section_splitter": ""}, "kwargs.section_splitter", "not be empty"),
    ("validate_choice", {"options": "A, B"}, "kwargs.options", "valid list, not 'A, B'"),
    ("validate_no_commas", {"N": 1}, "kwargs.N", "is not a kwarg of rlvr:validate_no_commas"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "kwargs", "response", "holds"), CASES)
def test_verdict(function: str, kwargs: dict[str, Any], response: str, holds: bool) -> None:
    check = build(f"rlvr:{function}", kwargs)
    verdict = evaluate(Text(response), check)
    assert verdict.holds is holds
    assert verdict.observed
    assert verdict.required
    assert evaluate(Text(response), check, mode="loose") == verdict


@pytest.mark.parametrize("entry", RLVR, ids=lambda entry: entry.id)
def test_every_id_has_both_cases(entry: CatalogueEntry) -> None:
    assert {holds for function, _, _, holds in CASES if f"rlvr:{function}" == entry.id} == {True, False}


def test_all_25_are_there() -> None:
    assert len(RLVR) == 25


@pytest.mark.parametrize(("function", "kwargs", "path", "message"), REFUSED)
def test_refused(function: str, kwargs: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(BadKwargs) as caught:
        build(f"rlvr:{function}", kwargs)
    assert caught.value.path == path
    assert message in caught.value.message


@pytest.mark.parametrize(
    "response",
    ["<think>one, two</think> Three.", "a, b</think>c</think>\nd", "<answer>No comma.</answer>", "  \n"],
)
def test_functions_see_the_answer_only(response: str) -> None:
    assert evaluate(Text(response), build("rlvr:validate_no_commas", {})).holds


def test_functions_without_kwargs_see_the_answer_too() -> None:
    assert evaluate(Text(' <think>so</think> "Quoted." '), build("rlvr:validate_quotation", {})).holds


@pytest.mark.parametrize("response", ["", "123", "**", "\U0001f600"])
def test_no_language_at_all_does_not_hold(response: str) -> None:
    verdict = evaluate(Text(response), build("rlvr:validate_response_language", {"language": "en"}))
    assert not verdict.holds
    assert verdict.observed == "no language that can be told"


def test_evidence_points_into_the_response() -> None:
    verdict = evaluate(Text("<think>a, b</think>\nc, d"), build("rlvr:validate_no_commas", {}), explain=True)
    assert verdict.evidence == (Span(21, 22, "violation"),)


def test_evidence_is_left_out_where_tags_stand_within_the_answer() -> None:
    verdict = evaluate(Text("a, <answer>b</answer>"), build("rlvr:validate_no_commas", {}), explain=True)
    assert not verdict.holds
    assert verdict.evidence == ()


# function, kwargs that name the count, the pattern that upstream counts with
COUNTED = [
    ("validate_title", None, r"<<(.*?)>>"),
    ("validate_highlighted_sections", "N", r"\*(.*?)\*"),
    ("validate_placeholders", "N", r"\[(.*?)\]"),
    ("verify_sentence_constraint", "N", r"(?<!\w\.\w.)(?<![A-Z][a-z]\.)(?<=\.|\?|!)\s"),
]


@pytest.mark.parametrize(("function", "name", "pattern"), COUNTED)
@given(body=st.text(alphabet="Aa.?! \n<>*[]", max_size=30))
def test_counts_are_those_of_the_patterns(function: str, name: str | None, pattern: str, body: str) -> None:
    response = body.strip()
    found = len(re.findall(pattern, response)) + (function == "verify_sentence_constraint")
    quantifier = {"quantifier": LEAST} if function == "verify_sentence_constraint" else {}
    if name is None:
        assert evaluate(Text(response), build(f"rlvr:{function}", {})).holds is (found > 0)
        return
    holding = [
        evaluate(Text(response), build(f"rlvr:{function}", {name: n, **quantifier})).holds
        for n in (found, found + 1)
    ]
    assert holding == [True, False]
