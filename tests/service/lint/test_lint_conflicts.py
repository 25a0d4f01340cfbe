"""IFEval's table of ids that conflict, pair by pair.

The table is of ids alone: some pairs conflict for all kwargs, some for some, and many do not. What is said
here of each is proven: by an error, or by a witness that the real checks pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rubricate_service.lint.linter import Report

Lint = Callable[..., Report]

KEYWORDS = (
    "keywords:existence",
    "keywords:frequency",
    "keywords:forbidden_words",
    "keywords:letter_frequency",
)
LENGTHS = (
    "length_constraints:number_sentences",
    "length_constraints:number_paragraphs",
    "length_constraints:number_words",
    "length_constraints:nth_paragraph_first_word",
)
FORMATS = (
    "detectable_format:number_bullet_lists",
    "detectable_format:constrained_response",
    "detectable_format:number_highlighted_sections",
    "detectable_format:multiple_sections",
    "detectable_format:json_format",
    "detectable_format:title",
)
CONTENT = ("detectable_content:number_placeholders", "detectable_content:postscript")
COMBINATIONS = ("combination:two_responses", "combination:repeat_prompt")
CASES = ("change_case:capital_word_frequency", "change_case:english_capital", "change_case:english_lowercase")
OTHERS = ("language:response_language", "startend:end_checker", "startend:quotation", "punctuation:no_comma")
ALL = frozenset((*KEYWORDS, *LENGTHS, *FORMATS, *CONTENT, *COMBINATIONS, *CASES, *OTHERS))

TABLE: dict[str, frozenset[str]] = {
    "language:response_language": frozenset({
        "detectable_format:multiple_sections", "keywords:existence", "keywords:frequency",
        "keywords:forbidden_words", "startend:end_checker", "change_case:english_capital",
        "change_case:english_lowercase",
    }),
    "length_constraints:number_paragraphs": frozenset({
        "length_constraints:nth_paragraph_first_word", "length_constraints:number_sentences",
    }),
    "detectable_format:constrained_response": ALL,
    "detectable_format:multiple_sections": frozenset({"detectable_format:number_highlighted_sections"}),
    "detectable_format:json_format": ALL - {"keywords:forbidden_words", "keywords:existence"},
    "combination:two_responses": ALL - {
        "keywords:forbidden_words", "keywords:existence", "language:response_language",
        "detectable_format:title", "punctuation:no_comma",
    },
    "combination:repeat_prompt": ALL - {
        "keywords:existence", "detectable_format:title", "punctuation:no_comma",
    },
    "change_case:capital_word_frequency": frozenset({
        "change_case:english_lowercase", "change_case:english_capital",
    }),
    "change_case:english_lowercase": frozenset({"change_case:english_capital"}),
    "startend:quotation": frozenset({"detectable_format:title"}),
}  # fmt: skip
"""Ids that conflict with an id, besides itself; the relation goes both ways."""

Kwargs = dict[str, Any]

TYPICAL: dict[str, tuple[Kwargs, Kwargs]] = {
    "keywords:existence": ({"keywords": ["harbour"]}, {"keywords": ["lantern"]}),
    "keywords:frequency": (
        {"keyword": "harbour", "frequency": 3, "relation": "at least"},
        {"keyword": "harbour", "frequency": 2, "relation": "less than"},
    ),
    "keywords:forbidden_words": ({"forbidden_words": ["storm"]}, {"forbidden_words": ["gale"]}),
    "keywords:letter_frequency": (
        {"letter": "e", "let_frequency": 10, "let_relation": "at least"},
        {"letter": "e", "let_frequency": 5, "let_relation": "less than"},
    ),
    "language:response_language": ({"language": "de"}, {"language": "fr"}),
    "length_constraints:number_sentences": (
        {"num_sentences": 5, "relation": "at least"},
        {"num_sentences": 3, "relation": "less than"},
    ),
    "length_constraints:number_paragraphs": ({"num_paragraphs": 3}, {"num_paragraphs": 4}),
    "length_constraints:number_words": (
        {"num_words": 100, "relation": "at least"},
        {"num_words": 50, "relation": "less than"},
    ),
    "length_constraints:nth_paragraph_first_word": (
        {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "later"},
        {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "then"},
    ),
    "detectable_content:number_placeholders": ({"num_placeholders": 2}, {"num_placeholders": 4}),
    "detectable_content:postscript": ({"postscript_marker": "P.S."}, {"postscript_marker": "P.P.S"}),
    "detectable_format:number_bullet_lists": ({"num_bullets": 3}, {"num_bullets": 5}),
    "detectable_format:constrained_response": ({}, {}),
    "detectable_format:number_highlighted_sections": ({"num_highlights": 2}, {"num_highlights": 3}),
    "detectable_format:multiple_sections": (
        {"section_spliter": "Section", "num_sections": 2},
        {"section_spliter": "PART", "num_sections": 3},
    ),
    "detectable_format:json_format": ({}, {}),
    "detectable_format:title": ({}, {}),
    "combination:two_responses": ({}, {}),
    "combination:repeat_prompt": (
        {"prompt_to_repeat": "Describe a quiet harbour."},
        {"prompt_to_repeat": "Name a river."},
    ),
    "startend:end_checker": ({"end_phrase": "Safe travels."}, {"end_phrase": "That is all."}),
    "change_case:capital_word_frequency": (
        {"capital_frequency": 3, "capital_relation": "at least"},
        {"capital_frequency": 2, "capital_relation": "less than"},
    ),
    "change_case:english_capital": ({}, {}),
    "change_case:english_lowercase": ({}, {}),
    "punctuation:no_comma": ({}, {}),
    "startend:quotation": ({}, {}),
}

ERRORS: dict[tuple[str, str], str] = {
    # one id with kwargs that exclude one another
    ("keywords:frequency", "keywords:frequency"): "E01",
    ("keywords:letter_frequency", "keywords:letter_frequency"): "E01",
    ("length_constraints:number_sentences", "length_constraints:number_sentences"): "E01",
    ("length_constraints:number_paragraphs", "length_constraints:number_paragraphs"): "E01",
    ("length_constraints:number_words", "length_constraints:number_words"): "E01",
    ("length_constraints:nth_paragraph_first_word", "length_constraints:nth_paragraph_first_word"): "E10",
    ("detectable_format:number_bullet_lists", "detectable_format:number_bullet_lists"): "E01",
    ("combination:repeat_prompt", "combination:repeat_prompt"): "E06",
    ("startend:end_checker", "startend:end_checker"): "E06",
    ("change_case:capital_word_frequency", "change_case:capital_word_frequency"): "E01",
    # case
    ("change_case:english_capital", "change_case:english_lowercase"): "E03",
    ("change_case:capital_word_frequency", "change_case:english_lowercase"): "E03",
    ("change_case:english_capital", "detectable_format:constrained_response"): "E03",
    ("change_case:english_lowercase", "detectable_format:constrained_response"): "E03",
    # what stands first, and what is around it all
    ("combination:repeat_prompt", "startend:quotation"): "E06",
    ("combination:repeat_prompt", "detectable_format:json_format"): "E07",
    # ****** is two *** with nothing between them
    ("combination:two_responses", "length_constraints:number_paragraphs"): "E10",
}  # fmt: skip
"""Pairs that no response passes with these kwargs, and the rule that proves it."""

UNDECIDED: dict[tuple[str, str], str] = {
    (
        "detectable_format:json_format",
        "length_constraints:nth_paragraph_first_word",
    ): "JSON may have blank lines between its members, which the search does not think of",
}
"""Pairs for which no response is found though there may be one, and why."""


def pairs() -> list[tuple[str, str]]:
    listed = {(id, id) for id in ALL}
    for id, others in TABLE.items():
        listed |= {(min(id, other), max(id, other)) for other in others}
    return sorted(listed)


def test_the_table_is_whole() -> None:
    assert set(TYPICAL) == ALL
    assert len(ALL) == 25
    assert len(pairs()) == 119
    assert ERRORS.keys() | UNDECIDED.keys() <= set(pairs())


@pytest.fixture(scope="module")
def report(lint: Lint) -> tuple[dict[str, str | None], dict[str, set[str]]]:
    """Witnesses and rules broken, by group."""
    groups = []
    for one, other in pairs():
        second = TYPICAL[other][one == other]
        rubrics = [{"check": one, "kwargs": TYPICAL[one][0]}, {"check": other, "kwargs": second}]
        groups.append({"rubrics": rubrics})
    found = lint(*groups, witness=True)
    broken: dict[str, set[str]] = {}
    for finding in found.findings:
        kind = finding.rule if finding.severity == "error" or finding.rule == "W-unsat" else ""
        broken.setdefault(finding.path.split(".")[0], set()).add(kind)
    return {witness.path: witness.response for witness in found.witnesses}, broken


@pytest.mark.parametrize(
    ("number", "pair"), list(enumerate(pairs())), ids=lambda v: " + ".join(v) if isinstance(v, tuple) else ""
)
def test_each_pair_is_an_error_or_has_a_witness(
    report: tuple[dict[str, str | None], dict[str, set[str]]], number: int, pair: tuple[str, str]
) -> None:
    witnesses, broken = report
    path = f"groups[{number}]"
    rules = broken.get(path, set()) - {""}
    if pair in ERRORS:
        assert rules == {ERRORS[pair]}
    elif pair in UNDECIDED:
        assert rules == {"W-unsat"}
    else:
        assert rules == set()
        assert witnesses[path] is not None
