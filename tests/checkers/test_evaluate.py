"""Strict and loose verdicts, blank and hostile responses, evidence."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ifeval_cases import CASES

from rubricate_checkers import Check, MissingData, Text, build, evaluate, warm_up
from rubricate_checkers.loose import VARIANTS, revise

NO_COMMA = build("punctuation:no_comma", {})
JSON = build("detectable_format:json_format", {})


def by_the_book(response: str, check: Check) -> str | None:
    """Name of the first variant that holds, tried one by one as the paper says."""
    tried = zip(VARIANTS, revise(response), strict=True)
    return next((name for name, raw in tried if raw.strip() and check.holds(Text(raw))), None)


MARKS = ["*", "**", "***", "\n", "\n\n", " ", "- a", "* b", "[c]", "<<d>>", '"', ",", ". ", "? ", "```", "{}"]
WORDS = [
    "oak",
    "Oak",
    "OAK!",
    "P.S.",
    "Part 1",
    "My answer is yes.",
    "Why not?",
    "The end.",
    "der Weg",
    "t*l*e",
]
PARTS = st.sampled_from([*MARKS, *WORDS, "a", "e", "x"])


@pytest.mark.parametrize(("id", "kwargs"), [(id, kwargs) for id, kwargs, _, _ in CASES])
@settings(max_examples=40, deadline=None)
@given(parts=st.lists(PARTS, min_size=1, max_size=14))
def test_loose_short_cuts_change_no_verdict(id: str, kwargs: dict[str, Any], parts: list[str]) -> None:
    response = "".join(parts)
    check = build(id, kwargs)
    expected = by_the_book(response, check)
    verdict = evaluate(Text(response), check, mode="loose")
    assert verdict.holds == (expected is not None)
    assert verdict.variant == (None if expected == "raw" else expected)


@pytest.mark.parametrize(
    ("id", "kwargs", "response", "variant"),
    [
        ("keywords:existence", {"keywords": ["oak"]}, "An o*a*k.", "raw_without_asterisks"),
        ("startend:quotation", {}, 'Sure:\n"Yes."', "first_line_removed"),
        ("punctuation:no_comma", {}, "It is so.\nBest, A.", "last_line_removed"),
        ("detectable_format:json_format", {}, "Here, have it:\n[1]\nBye.", "first_and_last_line_removed"),
        ("startend:quotation", {}, 'Sure:\n*"Yes."*', "first_line_removed_without_asterisks"),
        (
            "startend:end_checker",
            {"end_phrase": "Done."},
            "All **Done.**\nBye",
            "last_line_removed_without_asterisks",
        ),
        (
            "combination:repeat_prompt",
            {"prompt_to_repeat": "Why?"},
            "Well,\n**Why?** So.\nBye",
            "first_line_removed_without_asterisks",
        ),
        (
            "startend:quotation",
            {},
            'Sure:\n**"Yes."**\nBye',
            "first_and_last_line_removed_without_asterisks",
        ),
    ],
)
def test_the_first_variant_that_holds_is_named(
    id: str, kwargs: dict[str, Any], response: str, variant: str
) -> None:
    check = build(id, kwargs)
    assert not evaluate(Text(response), check).holds
    verdict = evaluate(Text(response), check, mode="loose")
    assert verdict.holds
    assert verdict.variant == variant


def test_what_is_observed_is_that_of_the_variant_that_holds() -> None:
    verdict = evaluate(Text("It is so.\nBest, A."), NO_COMMA, mode="loose")
    assert verdict.observed == "0 commas"


def test_strict_success_names_no_variant() -> None:
    assert evaluate(Text("So."), NO_COMMA, mode="loose").variant is None


@pytest.mark.parametrize("response", ["", " \n\t", "\u3000"])
def test_blank_responses_hold_nothing(response: str) -> None:
    for mode in ("strict", "loose"):
        verdict = evaluate(Text(response), NO_COMMA, mode)
        assert not verdict.holds
        assert verdict.reason == "blank response"


def test_blank_variants_are_not_asked() -> None:
    check = build("length_constraints:number_words", {"relation": "less than", "num_words": 1})
    assert not evaluate(Text("One\ntwo"), check, mode="loose").holds


def test_json_too_deep_does_not_hold_and_does_not_raise() -> None:
    verdict = evaluate(Text("[" * 100_000 + "]" * 100_000), JSON, mode="loose")
    assert not verdict.holds
    assert verdict.reason == "the response is nested too deeply"


def test_json_number_too_long_does_not_hold() -> None:
    assert not evaluate(Text("9" * 5000), JSON).holds


LONG = 100_000


@pytest.mark.parametrize("end", ["", "x"])
@pytest.mark.parametrize(
    "unit",
    [
        "\n",
        "[",
        "<<",
        "*",
        "**a",
        " ",
        ".",
        ". ",
        ".)",
        "!",
        "'",
        '"',
        ",:",
        "-",
        "\n*",
        "a@",
        "K'",
        "\n\n",
        "P.S",
    ],
)
@pytest.mark.timeout(10)
def test_time_is_linear(unit: str, end: str) -> None:
    text = Text(unit * (LONG // len(unit)) + end)
    for id, kwargs, _, _ in CASES:
        evaluate(text, build(id, kwargs), mode="loose")


@pytest.mark.parametrize(
    ("id", "kwargs", "response", "spans"),
    [
        ("keywords:existence", {"keywords": ["oak"]}, "An Oak.", [("Oak", "match")]),
        (
            "keywords:frequency",
            {"keyword": "o", "frequency": 1, "relation": "at least"},
            "oO",
            [("o", "counted"), ("O", "counted")],
        ),
        ("keywords:forbidden_words", {"forbidden_words": ["oak"]}, "Soak, oak", [("oak", "violation")]),
        (
            "keywords:letter_frequency",
            {"letter": "b", "let_frequency": 1, "let_relation": "at least"},
            "aBc",
            [("B", "counted")],
        ),
        (
            "length_constraints:number_sentences",
            {"num_sentences": 1, "relation": "at least"},
            "So. It is!",
            [("So.", "counted"), ("It is!", "counted")],
        ),
        ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "a ***b", [("***", "counted")]),
        ("detectable_content:number_placeholders", {"num_placeholders": 1}, "a [b", []),
        (
            "detectable_content:number_placeholders",
            {"num_placeholders": 1},
            "[a [b] [c]",
            [("[a [b]", "counted"), ("[c]", "counted")],
        ),
        ("detectable_content:postscript", {"postscript_marker": "P.S."}, "So. P.S. no", [("P.S.", "match")]),
        (
            "detectable_format:number_bullet_lists",
            {"num_bullets": 2},
            "- a\n * b",
            [("* b", "counted"), ("- a", "counted")],
        ),
        (
            "detectable_format:number_highlighted_sections",
            {"num_highlights": 1},
            "a *b* c",
            [("*b*", "counted")],
        ),
        ("detectable_format:title", {}, "a <<b>> c", [("<<b>>", "match")]),
        ("detectable_format:constrained_response", {}, "a My answer is no.", [("My answer is no.", "match")]),
        (
            "detectable_format:multiple_sections",
            {"section_spliter": "Part", "num_sections": 1},
            "a Part 1",
            [("Part 1", "counted")],
        ),
        ("combination:two_responses", {}, "a******b", [("******", "match")]),
        (
            "change_case:capital_word_frequency",
            {"capital_frequency": 1, "capital_relation": "at least"},
            'He said "NO" ( twice ) to U.S.',
            [("NO", "counted"), ("U.S", "counted")],
        ),
        ("punctuation:no_comma", {}, "a, b", [(",", "violation")]),
        ("length_constraints:number_words", {"num_words": 1, "relation": "at least"}, "a", []),
    ],
)
def test_evidence(id: str, kwargs: dict[str, Any], response: str, spans: list[tuple[str, str]]) -> None:
    verdict = evaluate(Text(response), build(id, kwargs), explain=True)
    assert [(response[s.start : s.end], s.kind) for s in verdict.evidence] == spans


def test_evidence_is_only_collected_to_explain() -> None:
    assert evaluate(Text("a, b"), NO_COMMA).evidence == ()


def test_missing_resources_are_an_error_and_not_a_failed_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingData("not installed")

    check = build("length_constraints:number_sentences", {"num_sentences": 1, "relation": "at least"})
    monkeypatch.setattr("rubricate_checkers.punkt.load", missing)
    with pytest.raises(MissingData):
        evaluate(Text("So."), check)
    with pytest.raises(MissingData):
        warm_up()
