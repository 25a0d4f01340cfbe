"""Witnesses: each passes the real checks; where none is found, the smallest set that is to blame is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from rubricate_checkers import Text, build, evaluate
from rubricate_checkers.language import detect
from rubricate_checkers.suites.ifeval.language import LANGUAGES
from rubricate_service.lint.linter import Report
from rubricate_service.lint.witness.filler import sentences_by_language

Lint = Callable[..., Report]


def check(id: str, **kwargs: Any) -> dict[str, Any]:
    return {"check": id, "kwargs": kwargs}


def words(relation: str, number: int) -> dict[str, Any]:
    return check("length_constraints:number_words", relation=relation, num_words=number)


def sentences(relation: str, number: int) -> dict[str, Any]:
    return check("length_constraints:number_sentences", relation=relation, num_sentences=number)


SATISFIABLE: dict[str, list[dict[str, Any]]] = {
    "long and plain": [words("at least", 400), check("punctuation:no_comma")],
    "a narrow count": [words("at least", 57), words("less than", 58), sentences("at least", 4)],
    "many sentences of few words": [sentences("at least", 12), words("less than", 60)],
    "many words in one sentence": [words("at least", 120), sentences("less than", 2)],
    "everything marked": [
        check("detectable_format:title"),
        check("detectable_format:number_bullet_lists", num_bullets=3),
        check("detectable_format:number_highlighted_sections", num_highlights=2),
        check("detectable_content:number_placeholders", num_placeholders=4),
        check("detectable_content:postscript", postscript_marker="P.S."),
        check("detectable_format:multiple_sections", section_spliter="Part", num_sections=3),
        check("startend:end_checker", end_phrase="Fair winds."),
    ],
    "keywords at counts": [
        check("keywords:existence", keywords=["anchor", "rope"]),
        check("keywords:frequency", keyword="tide", frequency=4, relation="at least"),
        check("keywords:frequency", keyword="rope", frequency=2, relation="less than"),
        check("keywords:forbidden_words", forbidden_words=["the", "boats", "water"]),
    ],
    "a letter to do without": [
        check("keywords:letter_frequency", letter="e", let_frequency=2, let_relation="less than"),
        words("at least", 60),
    ],
    "many of a letter": [
        check("keywords:letter_frequency", letter="z", let_frequency=15, let_relation="at least"),
        check("change_case:english_lowercase"),
    ],
    "capitals in English": [check("change_case:english_capital"), words("at least", 100)],
    "paragraphs of both kinds": [
        check("length_constraints:number_paragraphs", num_paragraphs=3),
        check("length_constraints:nth_paragraph_first_word",
              num_paragraphs=4, nth_paragraph=3, first_word="Then"),
    ],
    "two answers in quotes": [
        check("combination:two_responses"), check("startend:quotation"), words("at least", 50)
    ],
    "the prompt first": [
        check("combination:repeat_prompt", prompt_to_repeat="Name a port, any port."),
        check("startend:end_checker", end_phrase="Anything else?"),
        check("language:response_language", language="it"),
    ],
    "JSON of a shape": [
        check("text:json_schema", schema={
            "type": "object", "required": ["port", "depth", "open"], "additionalProperties": False,
            "properties": {"port": {"type": "string", "minLength": 30},
                           "depth": {"type": "integer", "minimum": 4},
                           "open": {"enum": ["yes", "no"]}}}),
        check("keywords:existence", keywords=["harbour"]),
    ],
    "key paths": [check("text:key_paths", paths=["ship.crew[1].name", "ship.port"]), words("at least", 30)],
    "JSON in quotes": [check("detectable_format:json_format"), check("startend:quotation")],
    "XML": [check("text:valid_xml"), check("text:contains", values=["ebb & flow"])],
    "copies": [check("copy:copying_multiple", prompt_to_repeat="Name a port.", N=3)],
    "a fixed text": [check("repeat:repeat_simple"), words("less than", 12)],
    "a word within a longer one": [
        check("keywords:existence", keywords=["fox"]),
        check("keywords:forbidden_words", forbidden_words=["fox"]),
    ],
    "a choice": [check("detectable_format:constrained_response"), sentences("at least", 3)],
    "what RLVR counts": [
        check("rlvr:validate_word_constraint", N=80, quantifier="around"),
        check("rlvr:verify_keyword_frequency", word="tide", N=3),
        check("rlvr:verify_paragraph_count", N=2),
    ],
    "general counts": [
        check("text:paragraph_count", min=3, max=4),
        check("text:sentence_count", min=6, max=8),
        check("text:word_count", min=70, max=75),
        check("text:line_count", min=5),
    ],
    "a rule in Python": [
        check("rule:python", source="def evaluate(response):\n    return 150 <= len(response.split()) <= 900",
              entry="evaluate"),
        check("punctuation:no_comma"),
    ],
    "what has only an example": [check("format:parentheses"), check("keywords:existence", keywords=["tide"])],
    "no word at all": [words("less than", 1)],
    "one word": [words("less than", 2)],
    "two words": [words("less than", 3)],
    "four words": [words("less than", 5)],
    "seven words": [words("less than", 8), check("punctuation:punctuation_dot")],
    "few words and keywords": [words("less than", 4), check("keywords:existence", keywords=["tide", "quay"])],
    "few characters": [check("text:char_count", max=9), check("change_case:english_capital")],
    "few letters": [check("letters:letter_counting", N=4, relation="less than")],
    "two languages": [
        check("language:response_language", language="de"), check("change_case:english_lowercase")
    ],
    "a pitfall": [{**check("text:contains", values=["the"]), "negative": True}, words("at least", 20)],
}  # fmt: skip


@pytest.mark.parametrize("name", SATISFIABLE)
def test_a_witness_passes_every_check(lint: Lint, name: str) -> None:
    rubrics = SATISFIABLE[name]
    report = lint({"rubrics": rubrics}, witness=True)
    assert [f for f in report.findings if f.rule == "W-unsat"] == []
    (witness,) = report.witnesses
    assert witness.path == "groups[0]"
    assert witness.response is not None
    assert witness.response.strip()
    text = Text(witness.response, "Describe the harbour.")
    for rubric in rubrics:
        verdict = evaluate(text, build(rubric["check"], rubric["kwargs"]))
        assert verdict.holds is not rubric.get("negative", False), (rubric, witness.response)


@pytest.mark.parametrize("name", SATISFIABLE)
def test_no_error_accuses_what_has_a_witness(lint: Lint, name: str) -> None:
    errors = [f for f in lint({"rubrics": SATISFIABLE[name]}).findings if f.severity == "error"]
    assert errors == []


def test_the_search_repeats_itself(lint: Lint) -> None:
    groups = [{"rubrics": rubrics} for rubrics in SATISFIABLE.values()]
    first, second = (lint(*groups, witness=True).witnesses for _ in range(2))
    assert first == second


def test_the_smallest_set_is_blamed(lint: Lint) -> None:
    rubrics = [
        words("at least", 4),
        check("combination:two_responses"),
        check("punctuation:no_comma"),
        check("copy:copying_multiple", prompt_to_repeat="Name a port.", N=2),
    ]
    blamed = [1, 3]
    (finding,) = [f for f in lint({"rubrics": rubrics}, witness=True).findings if f.rule == "W-unsat"]
    assert finding.severity == "warning"
    assert finding.message.startswith("no response found that passes these 2 together")
    for number in range(len(rubrics)):
        assert (f"groups[0].rubrics[{number}]:" in finding.message) == (number in blamed)


def test_a_rubric_that_nobody_understands_is_not_blamed(lint: Lint) -> None:
    never = check("rule:python", source="def evaluate(response):\n    return False", entry="evaluate")
    report = lint({"rubrics": [never, words("at least", 5)]}, witness=True)
    assert [w.response for w in report.witnesses] == [None]
    assert [f for f in report.findings if f.rule == "W-unsat"] == []


def test_a_proven_error_needs_no_search(lint: Lint) -> None:
    report = lint({"rubrics": [words("at least", 9), words("less than", 5)]}, witness=True)
    assert [w.response for w in report.witnesses] == [None]
    assert [f.rule for f in report.findings if f.rule in ("E01", "W-unsat")] == ["E01"]


def test_witnesses_only_for_those_who_ask(lint: Lint) -> None:
    assert lint({"rubrics": [words("at least", 5)]}).witnesses == []


def test_criteria_alone_have_no_witness(lint: Lint) -> None:
    assert lint({"rubrics": [{"criterion": "Kind."}]}, witness=True).witnesses == []


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_filler_is_in_its_language_and_plain(language: str) -> None:
    for sentence in sentences_by_language()[language]:
        assert detect(sentence) == language
        assert not set(sentence) & set(',0123456789"*[]')
        assert json.loads(json.dumps(sentence)) == sentence
