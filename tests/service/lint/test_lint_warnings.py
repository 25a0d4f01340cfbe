"""W01 to W08: what they warn of, and what comes near and is left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rubricate_service.lint.linter import Report
from rubricate_service.lint.rules.responses import phi

Lint = Callable[..., Report]

NO_COMMA = {"check": "punctuation:no_comma"}
KEYWORD = {"check": "keywords:existence", "kwargs": {"keywords": ["harbour"]}}

YES = "def evaluate(response):\n    return True"


def criterion(text: str, **fields: Any) -> dict[str, Any]:
    return {"criterion": text, **fields}


def rules_of(report: Report, *rules: str) -> list[tuple[str, str]]:
    return [(f.rule, f.path) for f in report.findings if f.rule in rules]


def words(number: int) -> dict[str, Any]:
    return {
        "check": "length_constraints:number_words",
        "kwargs": {"num_words": number, "relation": "at least"},
    }


@pytest.mark.parametrize(
    ("rubrics", "warned"),
    [
        ([NO_COMMA], True),
        ([{"check": "text:not_contains", "kwargs": {"values": ["gale"]}}], True),
        ([{"check": "text:valid_json", "negative": True}, NO_COMMA], True),
        ([{"check": "rule:python", "kwargs": {"source": YES, "entry": "evaluate"}}], True),
        ([NO_COMMA, KEYWORD], False),
        ([NO_COMMA, criterion("It is kind.")], False),
        ([NO_COMMA, {"check": "no:such"}], False),
    ],
)  # fmt: skip
def test_w01_a_response_without_content_passes(lint: Lint, rubrics: list[Any], warned: bool) -> None:
    assert rules_of(lint({"rubrics": rubrics}), "W01") == [("W01", "groups[0]")] * warned


def test_w02_all_samples_get_the_same_verdict(lint: Lint) -> None:
    samples = ["A harbour, at dawn.", "The harbour, again.", "No ships, no men."]
    report = lint({"rubrics": [NO_COMMA, KEYWORD, words(1)], "responses": samples})
    assert rules_of(report, "W02") == [("W02", "groups[0].rubrics[0]"), ("W02", "groups[0].rubrics[2]")]
    assert [f.message for f in report.findings if f.rule == "W02"] == [
        "all 3 distinct samples fail",
        "all 3 distinct samples pass",
    ]


@pytest.mark.parametrize("samples", [["One, two."] * 5, ["One, two.", "Three, four."]])
def test_w02_says_nothing_of_few_samples(lint: Lint, samples: list[str]) -> None:
    assert rules_of(lint({"rubrics": [NO_COMMA, KEYWORD], "responses": samples}), "W02") == []


def test_w02_reads_samples_without_their_thinking(lint: Lint) -> None:
    samples = [f"<think>One, two.</think>Answer {n}." for n in range(3)]
    (warning,) = [
        f
        for f in lint({"rubrics": [NO_COMMA, KEYWORD], "responses": samples}).findings
        if "pass" in f.message
    ]
    assert (warning.rule, warning.path) == ("W02", "groups[0].rubrics[0]")


@pytest.mark.parametrize(
    ("parsed", "rule"),
    [("Use a table of ports.", "E09"), ("Keep the sentences short.", "W02")],
)
def test_sentences_that_a_check_cannot_read(lint: Lint, parsed: str, rule: str) -> None:
    category, subcategory = ("Format", "Table") if rule == "E09" else ("Length", "Sentences")
    kwargs = {"category": category, "subcategory": subcategory, "constraint": parsed}
    report = lint({"rubrics": [{"check": "muldimif:constraint", "kwargs": kwargs}, KEYWORD]})
    assert rules_of(report, "E09", "W02") == [(rule, "groups[0].rubrics[0]")]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (NO_COMMA, {"check": "rubrichub:CommaChecker"}, True),
        (criterion("It is  Kind."), criterion("it is kind."), True),
        ({"check": "keywords:existence", "kwargs": {"keywords": ["a"]}}, KEYWORD, False),
        (NO_COMMA, {**NO_COMMA, "negative": True}, False),
        (criterion("It is kind."), criterion("It is kind.", negative=True), False),
    ],
)
def test_w03_two_rubrics_that_are_one(lint: Lint, first: Any, second: Any, same: bool) -> None:
    report = lint({"rubrics": [first, second, words(2)]})
    assert rules_of(report, "W03") == [("W03", "groups[0].rubrics[1]")] * same


def test_w03_verdicts_that_go_together(lint: Lint) -> None:
    samples = [f"The harbour, {n}." for n in "abcd"] + [f"Ship {n} is out." for n in "abcd"]
    rubrics = [KEYWORD, {"check": "text:contains", "kwargs": {"values": [","]}}, words(4)]
    assert rules_of(lint({"rubrics": rubrics, "responses": samples}), "W03") == [
        ("W03", "groups[0].rubrics[1]")
    ]
    assert rules_of(lint({"rubrics": rubrics, "responses": samples[1:]}), "W03") == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([True] * 3 + [False] * 3, [True] * 3 + [False] * 3, 1.0),
        ([True] * 3 + [False] * 3, [False] * 3 + [True] * 3, -1.0),
        ([True, True, True, False, False, False], [True, True, False, True, False, False], 1 / 3),
        ([True] * 5 + [False], [True] * 5 + [False], None),
        ([True] * 3 + [False] * 2 + [None], [True] * 3 + [False] * 3, None),
    ],
)
def test_phi(one: list[bool | None], other: list[bool | None], expected: float | None) -> None:
    found = phi(one, other)
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("text", "double"),
    [
        ("The response names a port and explains why ships call there.", True),
        ("It is polite, and it gives a date.", True),
        ("Cites a source and/or gives a figure.", True),
        ("The answer avoids jargon; it includes an example.", True),
        ("The language is natural and free of grammatical slips.", False),
        ("Claims are specific: names, numbers or examples back them rather than vague praise.", False),
        ("It gives an example that is short and has a date.", False),
        ("Lists pros and cons.", False),
        ("The tone suits a reader who is new and has no time.", False),
    ],
)
def test_w04_two_requirements_in_one(lint: Lint, text: str, double: bool) -> None:
    report = lint({"rubrics": [criterion(text)]})
    assert rules_of(report, "W04") == [("W04", "groups[0].rubrics[0].criterion")] * double


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("The response has at least 300 words.", "text:word_count"),
        ("It has no more than five, that is 5, sentences.", "text:sentence_count"),
        ("It has exactly 3 bullet points.", "detectable_format:number_bullet_lists"),
        ("It contains no commas.", "punctuation:no_comma"),
        ("The whole answer is valid JSON.", "text:valid_json"),
        ("It is written all in lowercase.", "rlvr:validate_lowercase"),
        ('It ends with the phrase "Fair winds".', "text:ends_with"),
        ('It includes the word "anchor".', "text:contains"),
        ("It has at least 3 examples in its words of advice.", None),
        ("It is concise.", None),
        ("It explains what valid markup is.", None),
        ("At most two of the characters who sail survive.", None),
    ],
)
def test_w05_what_code_can_check(lint: Lint, text: str, check: str | None) -> None:
    found = [f for f in lint({"rubrics": [criterion(text)]}).findings if f.rule == "W05"]
    assert [check in f.message for f in found if check] == [True] * (check is not None)
    assert len(found) == (check is not None)


@pytest.mark.parametrize(
    ("prompt", "rubrics", "unsaid"),
    [
        ("Describe the harbour in at least 300 words.", [words(200)], "300 words"),
        ("Describe the harbour in 3 paragraphs.", [words(200)], "3 paragraphs"),
        ("Describe it in three short paragraphs.", [words(200)], "three short paragraphs"),
        ("Write a 1,500-word story.", [words(200)], "1,500-word"),
        ("Describe the harbour in at least 300 words.", [words(300)], None),
        ("Use more than 299 words.", [words(300)], None),
        ("Use 300 words.", [criterion("It has about 300 words.")], None),
        ("Use three sentences.", [{"check": "ratio:sentence_words"}], None),
        ("Give two responses of two sections each.", [{"check": "combination:two_responses"}], None),
        ("Describe 7 ships and two lines that meet.", [words(300)], None),
        ("Rewrite this: \"It took 40 words to say no.\"", [words(300)], None),
        ("Example 1:\nQ: Use 40 words.\nA: Fine.\n\nNow describe the harbour.", [words(300)], None),
        ("Use 40 words.", [words(300), {"check": "no:such"}], None),
        ("Write one paragraph.", [words(300)], None),
    ],
)  # fmt: skip
def test_w06_numbers_of_the_prompt(lint: Lint, prompt: str, rubrics: list[Any], unsaid: str | None) -> None:
    found = [f for f in lint({"prompt": prompt, "rubrics": rubrics}).findings if f.rule == "W06"]
    assert [f"{unsaid!r}".strip("'") in f.message for f in found] == [True] * (unsaid is not None)


def test_w07_a_rule_that_says_something_else_each_time(lint: Lint) -> None:
    source = "seen = []\n\ndef evaluate(response):\n    seen.append(1)\n    return len(seen) % 2 == 0\n"
    steady = {"check": "rule:python", "kwargs": {"source": source, "entry": "evaluate"}}
    report = lint({"rubrics": [steady, KEYWORD], "responses": ["The harbour.", "A quay."]})
    assert rules_of(report, "W07") == []  # a rule starts afresh each time, whatever it keeps


@pytest.mark.parametrize(
    ("rubrics", "responses", "warned"),
    [
        ([{"check": "text:char_count", "kwargs": {"max": 19}}], [], True),
        ([{"check": "text:word_count", "kwargs": {"max": 3}}], [], True),
        ([{"check": "copy:copy", "kwargs": {"prompt_to_repeat": "Ahoy!"}}], [], True),
        ([], ["Der Hafen schläft.", "Die Boote liegen heute alle im Hafen."], True),
        ([{"check": "text:char_count", "kwargs": {"max": 40}}], [], False),
        ([], ["Die Boote liegen heute alle im Hafen."], False),
    ],
)
def test_w08_languages_of_short_texts(
    lint: Lint, rubrics: list[Any], responses: list[str], warned: bool
) -> None:
    language = {"check": "language:response_language", "kwargs": {"language": "de"}}
    report = lint({"rubrics": [language, *rubrics], "responses": responses})
    assert rules_of(report, "W08") == [("W08", "groups[0].rubrics[0]")] * warned
