"""Kwargs: what is taken, what is refused, and how the refusal reads."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rubricate_checkers import BadKwargs, CheckerError, MissingData, RuleError, UnknownCheck, build

WORDS = "length_constraints:number_words"
NTH = "length_constraints:nth_paragraph_first_word"
AT_LEAST = {"relation": "at least"}

# id, kwargs, path, part of the message
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    (WORDS, AT_LEAST, "kwargs.num_words", "is missing: the reference code would draw one at random"),
    (WORDS, {"num_words": None, **AT_LEAST}, "kwargs.num_words", "is missing"),
    (WORDS, {"num_words": -1, **AT_LEAST}, "kwargs.num_words", "must not be negative (-1)"),
    (WORDS, {"num_words": True, **AT_LEAST}, "kwargs.num_words", "must be a number, not True"),
    (WORDS, {"num_words": "5", **AT_LEAST}, "kwargs.num_words", "must be a number, not '5'"),
    (WORDS, {"num_words": float("nan"), **AT_LEAST}, "kwargs.num_words", "must be a number, not nan"),
    (WORDS, {"num_words": 5, "relation": "more than"}, "kwargs.relation", "not 'more than'"),
    (WORDS, {"num_words": 5, **AT_LEAST, "N": 1}, "kwargs.N", "(its kwargs: num_words, relation)"),
    (
        "punctuation:no_comma",
        {"N": 1},
        "kwargs.N",
        "is not a kwarg of punctuation:no_comma (its kwargs: none)",
    ),
    (
        NTH,
        {"num_paragraphs": 2, "nth_paragraph": 3, "first_word": "a"},
        "kwargs.nth_paragraph",
        "must not exceed num_paragraphs (3)",
    ),
    (NTH, {"num_paragraphs": 2, "nth_paragraph": 0, "first_word": "a"}, "kwargs.nth_paragraph", "from 1 (0)"),
    (NTH, {"num_paragraphs": 2, "nth_paragraph": 1.5, "first_word": "a"}, "kwargs.nth_paragraph", "(1.5)"),
    ("keywords:existence", {"keywords": []}, "kwargs.keywords", "must not be empty"),
    ("keywords:existence", {"keywords": "oak"}, "kwargs.keywords", "valid list, not 'oak'"),
    (
        "keywords:existence",
        {"keywords": ["a", "(x"]},
        "kwargs.keywords[1]",
        "'(x' is not a regular expression",
    ),
    ("keywords:existence", {"keywords": ["a" * 2 + "{9999999999}"]}, "kwargs.keywords[0]", "not a regular"),
    ("keywords:existence", {"keywords": ["(" * 5000 + ")" * 5000]}, "kwargs.keywords[0]", "not a regular"),
    (
        "keywords:frequency",
        {"keyword": "", "frequency": 1, **AT_LEAST},
        "kwargs.keyword",
        "must not be empty",
    ),
    (
        "keywords:frequency",
        {"keyword": " +a", "frequency": 1, **AT_LEAST},
        "kwargs.keyword",
        "nothing to repeat",
    ),
    ("keywords:forbidden_words", {"forbidden_words": ["(?i)a"]}, "kwargs.forbidden_words", "global flags"),
    (
        "keywords:letter_frequency",
        {"letter": "#", "let_frequency": 1, "let_relation": "at least"},
        "kwargs.letter",
        "one letter from a to z, not '#'",
    ),
    (
        "keywords:letter_frequency",
        {"letter": "ab", "let_frequency": 1, "let_relation": "at least"},
        "kwargs.letter",
        "one letter",
    ),
    (
        "keywords:letter_frequency",
        {"letter": "é", "let_frequency": 1, "let_relation": "at least"},
        "kwargs.letter",
        "one letter",
    ),
    ("language:response_language", {"language": "zh"}, "kwargs.language", "not 'zh'"),
    (
        "detectable_content:postscript",
        {"postscript_marker": "*"},
        "kwargs.postscript_marker",
        "multiple repeat",
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "(", "num_sections": 1},
        "kwargs.section_spliter",
        "not a regular",
    ),
    ("combination:repeat_prompt", {}, "kwargs.prompt_to_repeat", "is missing"),
    ("combination:repeat_prompt", {"prompt_to_repeat": ""}, "kwargs.prompt_to_repeat", "must not be empty"),
    ("startend:end_checker", {"end_phrase": 5}, "kwargs.end_phrase", "valid string, not 5"),
    (
        "change_case:capital_word_frequency",
        {"capital_relation": "at least"},
        "kwargs.capital_frequency",
        "missing",
    ),
]


@pytest.mark.parametrize(("id", "kwargs", "path", "message"), REFUSED)
def test_refused(id: str, kwargs: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(BadKwargs) as caught:
        build(id, kwargs)
    assert caught.value.path == path
    assert message in caught.value.message
    assert caught.value.kind == "bad_kwargs"


def test_repeat_prompt_is_not_said_to_be_drawn() -> None:
    with pytest.raises(BadKwargs) as caught:
        build("combination:repeat_prompt", {})
    assert caught.value.message == "is missing"


def test_every_fault_is_named() -> None:
    with pytest.raises(BadKwargs) as caught:
        build(WORDS, {"num_words": -1, "relation": 3, "N": 2})
    assert [path for path, _ in caught.value.faults] == ["kwargs.num_words", "kwargs.relation", "kwargs.N"]
    assert all(path in str(caught.value) for path, _ in caught.value.faults)


@pytest.mark.parametrize(
    ("id", "kwargs"),
    [
        (WORDS, {"num_words": 8.0, "relation": "at least", "keyword": None}),
        (WORDS, {"num_words": 0, "relation": "less than"}),
        ("change_case:capital_word_frequency", {"capital_frequency": -3, "capital_relation": "at least"}),
        ("keywords:letter_frequency", {"letter": "Q", "let_frequency": 0, "let_relation": "at least"}),
        # no regex by itself, but one after the `\s?` that upstream puts before it
        ("detectable_format:multiple_sections", {"section_spliter": "?x", "num_sections": 1}),
        ("startend:end_checker", {"end_phrase": ""}),
    ],
)
def test_taken(id: str, kwargs: dict[str, Any]) -> None:
    assert build(id, kwargs).id == id


def test_unknown_check_names_near_ones() -> None:
    with pytest.raises(UnknownCheck, match="did you mean length_constraints:number_words") as caught:
        build("length_constraint:number_word", {})
    assert (caught.value.kind, caught.value.path) == ("unknown_check", "check")


def test_unknown_check_without_near_ones() -> None:
    with pytest.raises(UnknownCheck, match="GET /v1/checks lists all"):
        build("qqqq", {})


@pytest.mark.parametrize(
    "error",
    [
        BadKwargs([("kwargs.a", "is bad"), ("kwargs.b", "is worse")]),
        UnknownCheck("no such check", "check"),
        MissingData("not installed"),
        RuleError("raised"),
    ],
)
def test_errors_survive_pickling(error: CheckerError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


def test_checks_survive_pickling_and_keep_their_kwargs() -> None:
    check = build("keywords:existence", {"keywords": ["oak"]})
    copy = pickle.loads(pickle.dumps(check))
    assert copy == check
    with pytest.raises(ValueError, match="frozen"):
        copy.keywords = ["elm"]
