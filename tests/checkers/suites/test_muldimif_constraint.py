"""`muldimif:constraint` as a check: what is refused, what is said of a response, and for how long."""

from __future__ import annotations

import pickle
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_checkers import BadKwargs, Check, Text, Verdict, build, evaluate
from rubricate_checkers.suites.muldimif import elements, identifiers, markdown, sentences, xml_attributes


def constraint(category: str, subcategory: str, sentence: str) -> Check:
    kwargs = {"category": category, "subcategory": subcategory, "constraint": sentence}
    return build("muldimif:constraint", kwargs)


def ask(category: str, subcategory: str, sentence: str, response: str, explain: bool = False) -> Verdict:
    return evaluate(Text(response), constraint(category, subcategory, sentence), explain=explain)


REFUSED = [
    ("Contents", "Keywords", "so", "kwargs.category", "is unknown: 'Contents'; did you mean 'Content'?"),
    ("Content", "Keyword", "so", "kwargs.subcategory", "is unknown: 'Keyword'; did you mean 'Keywords'?"),
    ("XML", "Tags", "so", "kwargs.subcategory", "did you mean 'Number of attributes'?"),
    ("Content", "Keywords", "at least many words", "kwargs.constraint", "has 'many' for a number of words"),
    ("Content", "Keywords", "Each one must have at most many words", "kwargs.constraint", "has 'many'"),
    ("Length", "Words", "each word must be short", "kwargs.constraint", "no number of characters in digits"),
    ("Length", "Words", "each word must be at most ten characters", "kwargs.constraint", "in digits"),
    ("Format", "Markdown", "at least a few block quotes", "kwargs.constraint", 'no number before "block'),
    ("Content", "Identifiers", "Each example must start with so", "kwargs.constraint", "no start in single"),
    ("Format", "Text", "Must include 'Two'", "kwargs.constraint", "a number word as a phrase"),
    ("Format", "Text", "so" * 1001, "kwargs.constraint", "at most 2000 characters"),
]


@pytest.mark.parametrize(("category", "subcategory", "sentence", "path", "message"), REFUSED)
def test_what_the_reference_code_breaks_on_is_refused(
    category: str, subcategory: str, sentence: str, path: str, message: str
) -> None:
    with pytest.raises(BadKwargs, match=re.escape(message)) as caught:
        constraint(category, subcategory, sentence)
    assert [fault_path for fault_path, _ in caught.value.faults] == [path]


# category, subcategory, sentence, response, observed, required
WORDINGS = [
    ("Length", "Words", "at most 3 words", "so it is so", "4 words", "at most 3 words"),
    ("Length", "Words", "2-3 words and 'go'", "so", '"go" 0x, 1 word', '"go", between 2 and 3 words'),
    ("Length", "Words", "be short", "so", "nothing was looked for", "unclear: the sentence says nothing "),
    (
        "Length",
        "Words",
        "each line must have at most 2 words",
        "a\nb c d",
        '1 of 2 elements not so: "b c d"',
        "each line: at most 2 words",
    ),
    (
        "Length",
        "Words",
        "each line must have at most 2 words",
        "",
        "no line was found",
        "each line: at most 2 words",
    ),
    ("Length", "Sentences", "exactly 1 sentence", "So. No.", "2 sentences", "exactly 1 sentence"),
    (
        "Content",
        "Keywords",
        "'a' or 'b' at least twice",
        "a",
        '"a" 1x, "b" 0x',
        'any of "a", "b", each at least 2',
    ),
    ("Content", "Keywords", "'a' must be avoided", "a A", '"a" 2x', 'no "a"'),
    (
        "Content",
        "Punctuation",
        "end with a period",
        "so!",
        'one that ends in "so!"',
        "the response ends with .",
    ),
    (
        "Content",
        "Punctuation",
        "each cell must not end with a period",
        "a",
        "as required",
        "each cell ends without .",
    ),
    (
        "Format",
        "Table",
        "a table of no more than 1 row",
        "|a|\n|-|\n|b|\n|c|",
        "a table of 3 rows and 1 c",
        "a table: at m",
    ),
    (
        "Format",
        "Table",
        "if you use a table, 1 column",
        "so",
        "no table",
        "unclear: the sentence says nothing",
    ),
    (
        "Format",
        "Markdown",
        "use a level 2 heading",
        "# a\n#### b",
        "2 headings of level 1, 4",
        "a heading of level 2",
    ),
    (
        "Format",
        "Json",
        "no more than 1 level",
        "[]",
        "JSON with 0 nesting levels",
        "JSON with at most 1 nesting l",
    ),
    (
        "Format",
        "XML",
        "no more than 1 attribute",
        "<a b='' c=''>",
        "1 tag, one with 2 attributes",
        "each XML tag",
    ),
    ("Language", "English", "all uppercase", "SO go", '"go"', "the response in upper case"),
    ("Language", "Chinese", "Simplified", "go", "no Simplified character", "some Simplified characters"),
]


@pytest.mark.parametrize(
    ("category", "subcategory", "sentence", "response", "observed", "required"), WORDINGS
)
def test_verdicts_say_what_is_there_and_what_is_asked(
    category: str, subcategory: str, sentence: str, response: str, observed: str, required: str
) -> None:
    verdict = ask(category, subcategory, sentence, response)
    assert verdict.observed.startswith(observed)
    assert verdict.required.startswith(required)


UNCLEAR = [
    ("Content", "Keywords", "Mention the weather", True),
    ("Content", "Keywords", "Include 'so' in each line", False),
    ("Content", "Punctuation", "End it well", False),
    ("Content", "Punctuation", "Avoid a bad end", True),
    ("Content", "Identifiers", "It must rhyme", False),
    ("Content", "Identifiers", "It must be in full sentences", True),
    ("Length", "Words", "Be brief", True),
    ("Length", "Words", "Each line is brief", False),
    ("Length", "Sentences", "Be brief", True),
    ("Length", "Paragraphs", "Be brief", False),
    ("Format", "Markdown", "Be tidy", True),
    ("Format", "Table", "Be tidy", True),
    ("Format", "Table", "Use a tidy table", False),
    ("Format", "Json", "Be tidy", False),
    ("Format", "Text", "Be tidy", False),
    ("Language", "English", "Be polite", False),
    ("Language", "Chinese", "Be polite", False),
]


@pytest.mark.parametrize(("category", "subcategory", "sentence", "passes"), UNCLEAR)
def test_a_sentence_that_is_not_understood_is_told(
    category: str, subcategory: str, sentence: str, passes: bool
) -> None:
    verdict = ask(category, subcategory, sentence, "So it is.")
    assert verdict.parsed is False
    assert verdict.holds is passes


def test_a_sentence_that_is_understood_is_told() -> None:
    assert ask("Length", "Words", "at most 3 words", "so").parsed is True


def test_other_checks_have_no_sentence() -> None:
    assert evaluate(Text("so"), build("punctuation:no_comma", {})).parsed is None


def test_blank_responses_are_looked_at_and_there_is_no_loose_mode() -> None:
    check = constraint("Length", "Words", "at most 3 words")
    assert evaluate(Text(" "), check).holds
    assert not evaluate(Text("so\nso so so"), check, mode="loose").holds


def test_evidence_points_at_what_was_found() -> None:
    response = "The river. A brook!"

    def found(category: str, subcategory: str, sentence: str) -> list[tuple[str, str]]:
        verdict = ask(category, subcategory, sentence, response, explain=True)
        return [(response[span.start : span.end], span.kind) for span in verdict.evidence]

    assert found("Content", "Keywords", "'river' and 'brook'") == [("river", "match"), ("brook", "match")]
    assert found("Content", "Keywords", "'river' must be avoided") == [("river", "violation")]
    assert found("Length", "Sentences", "exactly 1 sentence") == [(".", "counted"), ("!", "counted")]
    assert found("Length", "Paragraphs", "exactly 1 paragraph") == []


@pytest.mark.parametrize("depth", [331, 100_000])
def test_json_nested_too_deeply_fails_with_the_reason(depth: int) -> None:
    verdict = ask("Format", "Json", "at least 2 levels deep", "[" * depth + "1" + "]" * depth)
    assert not verdict.holds
    assert verdict.reason == "the response is nested too deeply"
    assert verdict.parsed


def test_json_as_deep_as_the_reference_code_gets_is_decided() -> None:
    assert ask("Format", "Json", "at least 2 levels deep", "[" * 330 + "1" + "]" * 330).holds


def test_a_check_that_has_decided_can_be_sent_to_another_process() -> None:
    check = constraint("Format", "Markdown", "use a level 2 heading")
    assert evaluate(Text("## so"), check).holds
    assert evaluate(Text("## so"), pickle.loads(pickle.dumps(check))).holds


# what makes a text of n parts, on which naive patterns take quadratic time
HOSTILE: dict[str, tuple[Callable[[int], str], str, str, str]] = {
    "keywords": (lambda n: "river-" * n, "Content", "Keywords", "'riverbank' or 'bank'"),
    "keywords_each": (lambda n: "\n" * n + "a |" * n, "Content", "Keywords", "Each line must have 'river'"),
    "words": (lambda n: "so " * n, "Length", "Words", "at most 3 words"),
    "words_each": (lambda n: "\n \n|" * n, "Length", "Words", "Each line must have at least 1 words"),
    "sentences": (lambda n: "so " * n, "Length", "Sentences", "at least 2 sentences"),
    "paragraphs": (lambda n: "\n\n \n" * n, "Length", "Paragraphs", "at least 2 paragraphs"),
    "json_nesting": (lambda n: "```json [" * n, "Format", "Json", "at least 2 levels deep"),
    "headings": (lambda n: "#" + " " * n + "\x0b" * n + "a", "Format", "Markdown", "use a level 2 heading"),
    "bold": (lambda n: "** \n__ " * n, "Format", "Markdown", "use bold"),
    "table": (lambda n: "| a " * n + "|", "Format", "Table", 'a table with "river" in it'),
    "cells": (lambda n: " " * n + "|" + " " * n, "Content", "Punctuation", "Each cell ends with a period"),
    "bullets": (lambda n: "- \n" * n, "Content", "Punctuation", "Each bullet point ends with a period"),
    "sources": (
        lambda n: "Sources:" * n + "\nso",
        "Content",
        "Identifiers",
        "End identifier: Sources must be cited at the end of the response",
    ),
    "attributes": (lambda n: "<a" + " " * n + "<" * n, "Format", "XML", "at least 2 attributes"),
    "long_tag": (lambda n: "<" + "a" * n + ">", "Format", "XML", "at least 2 attributes"),
    "lists": (lambda n: "\n" * n + "1" * n, "Format", "Text", "No lists"),
    "rules": (lambda n: "|" + "- |" * n + "\n", "Format", "Text", "no more than 1 rows"),
    "english": (lambda n: '"a" ' * n + "{}", "Language", "English", "json keys in all uppercase"),
    "headings_case": (lambda n: "#\n\n" * n, "Language", "English", "headings in all uppercase"),
    "chinese": (lambda n: "这里" * n, "Language", "Chinese", "Must use Traditional Chinese characters"),
}


def seconds(check: Check, response: str) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        evaluate(Text(response), check)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear_in_the_response(name: str) -> None:
    make, category, subcategory, sentence = HOSTILE[name]
    check = constraint(category, subcategory, sentence)
    evaluate(Text("warm"), check)
    once, eightfold = seconds(check, make(5_000)), seconds(check, make(40_000))
    # quadratic time would be 64 times as long; what takes less than 50 ms for all of it is fast anyway
    assert eightfold < max(24 * once, 0.05)


# what the reference code's patterns say, which is the same but takes longer
PIECES = [
    "|",
    "a",
    "é",
    "\n",
    " ",
    "\t",
    "\r",
    "\u2028",
    "-",
    "#",
    "*",
    "**",
    "_",
    "__",
    "1.",
    "<",
    ">",
    "/",
    "=",
    "'",
    '"',
]
PIECES += ["a='1'", "<a", " b-c='d'", ":", ".", "!", "Sources:", "{"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


@given(TEXTS)
def test_linear_readings_equal_the_patterns(text: str) -> None:
    assert sentences._count(text) == len(re.findall(r"[^.!?]*[.!?]", text))
    assert (elements.form(text) == "table") == (
        not re.match(r"\s*[{\[]", text) and re.search(r"^\s*\|.+\|", text, re.MULTILINE) is not None
    )
    found = [re.match(r"(#+)\s+(.*?)\s*$", line.strip()) for line in text.split("\n")]
    assert markdown.headings(text) == tuple((len(match[1]), match[2].strip()) for match in found if match)
    assert markdown._has_bold(text) == bool(re.search(r"\*\*.*?\*\*|__.*?__", text))
    assert identifiers._names_sources(text) == bool(re.search(r"Sources:\s*.+$", text))


@given(TEXTS)
def test_tags_are_those_of_the_pattern(text: str) -> None:
    tags = re.findall(r"""<\s*[a-zA-Z_:][\w:.-]*\s*(?:\s+[a-zA-Z_:][\w:.-]*=['"][^'"]*['"])*\s*/?>""", text)
    counts = tuple(len(re.findall(r"""(\w+)=["'][^"']*["']""", tag)) for tag in tags)
    assert xml_attributes._counts(text) == counts


@given(TEXTS, st.sampled_from(["No bullet points", "No lists", "No number points"]))
def test_list_marks_are_those_of_the_pattern(text: str, sentence: str) -> None:
    pattern = {
        "No bullet points": r"^\s*[-*]",
        "No lists": r"^\s*(\d+\.)\s",
        "No number points": r"^\s*\d+\.",
    }[sentence]
    assert ask("Format", "Text", sentence, text).holds == (not re.search(pattern, text, re.MULTILINE))
