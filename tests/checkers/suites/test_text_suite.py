"""The `text:` checks: what holds, what does not, and what is told about it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from rubricate_checkers import BadKwargs, Text, build, evaluate

ZH = "今天下雨。我们不出海！明天呢?"

# id, kwargs, response, holds
CASES: list[tuple[str, dict[str, Any], str, bool]] = [
    ("contains", {"values": ["TIDE", "low"]}, "low tide", True),
    ("contains", {"values": ["TIDE"], "case_sensitive": True}, "low tide", False),
    ("contains", {"values": ["tide", "gale", "reef"], "at_least": 2}, "A reef at low tide.", True),
    ("contains", {"values": ["tide", "gale", "reef"], "at_least": 2}, "A reef.", False),
    ("contains", {"values": ["cat"], "whole_word": True}, "category", False),
    ("contains", {"values": ["cat"], "whole_word": True}, "A cat, asleep", True),
    ("contains", {"values": ["C++"], "whole_word": True}, "in C++, say", True),
    ("contains", {"values": ["C++"], "whole_word": True}, "in ObjC++", False),
    ("contains", {"values": ["AI"], "whole_word": True}, "使用AI技术", True),
    ("contains", {"values": ["下雨"], "whole_word": True}, ZH, True),
    ("contains", {"values": ["a.c"]}, "abc", False),
    ("contains", {"values": ["x"]}, "", False),
    ("not_contains", {"values": ["storm"]}, "calm", True),
    ("not_contains", {"values": ["storm"]}, "STORMY", False),
    ("not_contains", {"values": ["storm"], "whole_word": True}, "STORMY", True),
    ("not_contains", {"values": ["storm", "gale"], "at_least": 1}, "a gale", True),
    ("not_contains", {"values": ["storm", "gale"], "at_least": 1}, "a gale, a storm", False),
    ("not_contains", {"values": ["storm"]}, "", True),
    ("starts_with", {"value": "Dear"}, "\n Dear crew", True),
    ("starts_with", {"value": "Dear"}, "dear crew", False),
    ("starts_with", {"value": "Dear", "case_sensitive": False}, "DEAR crew", True),
    ("starts_with", {"value": "Dear crew"}, "Dear", False),
    ("ends_with", {"value": "home."}, "safe home. \n", True),
    ("ends_with", {"value": "Home."}, "safe home.", False),
    ("ends_with", {"value": "Home.", "case_sensitive": False}, "safe home.", True),
    ("ends_with", {"value": "home."}, "", False),
    ("regex", {"pattern": r"\d+"}, "pier 9", True),
    ("regex", {"pattern": r"\d+"}, "pier nine", False),
    ("regex", {"pattern": r"\w+ \d+", "full": True}, "pier 9", True),
    ("regex", {"pattern": r"pier|pier 9", "full": True}, "pier 9", True),
    ("regex", {"pattern": r"\w+ \d+", "full": True}, "pier 9\n", False),
    ("regex", {"pattern": "^b$"}, "a\nb", False),
    ("regex", {"pattern": "(?m)^b$"}, "a\nb", True),
    ("regex", {"pattern": "a"}, "a\ud800", False),
    ("not_regex", {"pattern": "(?i)sorry"}, "Sorry, no.", False),
    ("not_regex", {"pattern": "(?i)sorry"}, "Gladly.", True),
    ("regex_count", {"pattern": "(?m)^- ", "min": 2, "max": 2}, "- a\n- b", True),
    ("regex_count", {"pattern": "(?m)^- ", "max": 1}, "- a\n- b", False),
    ("regex_count", {"pattern": "aa", "min": 2}, "aaaa", True),
    ("regex_count", {"pattern": "aa", "min": 3}, "aaaa", False),
    ("word_count", {"min": 4, "max": 4}, "The well-known 3.14 isn't", True),
    ("word_count", {"min": 2, "max": 2}, "**bold** – *it*", True),
    ("word_count", {"min": 2, "max": 2}, "left—quickly", True),
    ("word_count", {"min": 1, "max": 1}, "https://example.org/a-b?c=d", True),
    ("word_count", {"min": 12, "max": 12}, ZH, True),
    ("word_count", {"min": 3, "max": 3}, "用AI吗", True),
    ("word_count", {"min": 2, "max": 2}, "नमस्ते दुनिया", True),
    ("word_count", {"min": 3, "max": 3}, "안녕 나의 바다", True),
    ("word_count", {"max": 0}, " \n— ** ", True),
    ("word_count", {"min": 5.0}, "a b c d", False),
    ("sentence_count", {"min": 2, "max": 2}, "Dr. Lind left at 6 p.m. on foot. She ran!", True),
    ("sentence_count", {"min": 3, "max": 3}, ZH, True),
    ("sentence_count", {"min": 3, "max": 3}, "# Boats\n\n1. A skiff.\n2. A dory", True),
    ("sentence_count", {"min": 1, "max": 1}, "No full stop", True),
    ("sentence_count", {"max": 0}, "***\n\n...", True),
    ("sentence_count", {"min": 2, "max": 2}, "“Go!” she said. He went.", True),
    ("sentence_count", {"min": 2, "max": 2}, "他说：“走吧。”她走了。", True),
    ("paragraph_count", {"min": 2, "max": 2}, "a\nb\n \t\n\nc\n", True),
    ("paragraph_count", {"min": 2, "max": 2}, "a\n\n***\n\nb", True),
    ("paragraph_count", {"min": 1}, "\n\n", False),
    ("paragraph_count", {"min": 2}, "a\nb", False),
    ("line_count", {"min": 3, "max": 3}, "a\r\n\r\nb\rc\n", True),
    ("line_count", {"max": 2}, "a\nb\nc", False),
    ("char_count", {"min": 5, "max": 5}, "\n ab cd ", True),
    ("char_count", {"max": 2}, "😀😀", True),
    ("char_count", {"min": 1}, "  ", False),
    ("valid_json", {}, ' {"a": [1, null]} ', True),
    ("valid_json", {}, '```json\n{"a": 1}\n```', True),
    ("valid_json", {}, '~~~\n"a"\n~~~\n', True),
    ("valid_json", {"fenced": False}, '```json\n{"a": 1}\n```', False),
    ("valid_json", {}, '```json\n{"a": 1}\n```\nThere.', False),
    ("valid_json", {}, 'Here: {"a": 1}', False),
    ("valid_json", {}, "[NaN]", False),
    ("valid_json", {}, "[1,]", False),
    ("valid_json", {}, "", False),
    ("valid_yaml", {}, "a: 1\nb: [x, y]", True),
    ("valid_yaml", {}, "```yaml\n- a\n- b\n```", True),
    ("valid_yaml", {}, "---\na: &x 1\nb: *x\n---\n- 2\n", True),
    ("valid_yaml", {}, "a: *nowhere", False),
    ("valid_yaml", {}, "a: b: c", False),
    ("valid_yaml", {}, "The tide is low.", False),
    ("valid_yaml", {}, "a: [1", False),
    ("valid_yaml", {}, "# only a comment", False),
    ("valid_yaml", {}, "a: \ud800", False),
    ("valid_xml", {}, "<a><b x='1'/></a>", True),
    ("valid_xml", {}, "```xml\n<?xml version='1.0' encoding='utf-16'?>\n<a>é</a>\n```", True),
    ("valid_xml", {}, "<a/><b/>", False),
    ("valid_xml", {}, "<a>&unknown;</a>", False),
    ("valid_xml", {}, "<a>\ud800</a>", False),
    ("valid_xml", {}, "plain", False),
    ("valid_csv", {}, 'a,b\n"1,5",2\n\n', True),
    ("valid_csv", {}, "```csv\na,b\n1,2\n```", True),
    ("valid_csv", {}, "a,b\n1,2,3", False),
    ("valid_csv", {}, 'a,b\n"1,2', False),
    ("valid_csv", {}, 'a,b\n"1"x,2', False),
    ("valid_csv", {}, "one column\nonly", False),
    ("json_schema", {"schema": {"type": "array", "minItems": 2}}, "[1, 2]", True),
    ("json_schema", {"schema": {"type": "array", "minItems": 2}}, "[1]", False),
    ("json_schema", {"schema": {"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}}, "1.5", True),
    ("json_schema", {"schema": {"type": "object"}, "fenced": False}, "```\n{}\n```", False),
    ("json_schema", {"schema": {"type": "object"}}, "no", False),
    ("json_schema", {"schema": {"pattern": "^(a+)+$"}}, json.dumps("a" * 5000 + "b"), False),
    ("key_paths", {"paths": ["a.b[1].c", "d"]}, '{"a": {"b": [0, {"c": null}]}, "d": 0}', True),
    ("key_paths", {"paths": ["a.b[1].c"]}, '{"a": {"b": [0]}}', False),
    ("key_paths", {"paths": ["[0].a"]}, '```json\n[{"a": 1}]\n```', True),
    ("key_paths", {"paths": ["a.b"]}, '{"a": "b"}', False),
    ("key_paths", {"paths": ["a"]}, "a: 1", False),
    ("repetition", {}, "one two three", True),
    ("repetition", {"ngram": 1, "max_share": 0.5}, "Row row boat boat", True),
    ("repetition", {"ngram": 1, "max_share": 0.49}, "Row row boat boat", False),
    ("repetition", {"max_share": 0}, "the tide is out and the tide is out", False),
    ("language", {"language": "de"}, "Das Boot liegt seit gestern Abend im Hafen.", True),
    ("language", {"language": "EN"}, "Das Boot liegt seit gestern Abend im Hafen.", False),
    ("language", {"language": "zh"}, "今天下雨，我们不出海。明天也许会好。", True),
    ("language", {"language": "en"}, "12 + 3", False),
]  # fmt: skip


@pytest.mark.parametrize(("id", "kwargs", "response", "holds"), CASES)
def test_verdict(id: str, kwargs: dict[str, Any], response: str, holds: bool) -> None:
    text = Text(response)
    verdict = evaluate(text, build(f"text:{id}", kwargs), explain=True)
    assert verdict.holds is holds, verdict.observed
    assert verdict.observed
    assert verdict.required
    assert all(0 <= span.start <= span.end <= len(response) for span in verdict.evidence)


# id, kwargs, response, what of the response is evidence, kind
EVIDENCE: list[tuple[str, dict[str, Any], str, list[str], str]] = [
    ("contains", {"values": ["tide"]}, "Tide and tide", ["Tide", "tide"], "match"),
    ("not_contains", {"values": ["gale"]}, "A gale.", ["gale"], "violation"),
    ("regex", {"pattern": r"\d\d"}, "é 12, 34", ["12", "34"], "match"),
    ("not_regex", {"pattern": "o+"}, "boom", ["oo"], "violation"),
    ("regex_count", {"pattern": "o", "min": 1}, "boom", ["o", "o"], "counted"),
    ("word_count", {"min": 1}, "*It's* 你好!", ["It's", "你", "好"], "counted"),
    ("sentence_count", {"min": 1}, " A b.  C d? ", ["A b.", "C d?"], "counted"),
    ("paragraph_count", {"min": 1}, "\na\nb\n\n\n c \n", ["a\nb", "c"], "counted"),
    ("line_count", {"min": 1}, "a\n\n b", ["a", " b"], "counted"),
    ("char_count", {"min": 1}, " ab ", ["ab"], "counted"),
    ("repetition", {"ngram": 2}, "so it is, so it goes", ["so it"], "violation"),
]


@pytest.mark.parametrize(("id", "kwargs", "response", "pieces", "kind"), EVIDENCE)
def test_evidence(id: str, kwargs: dict[str, Any], response: str, pieces: list[str], kind: str) -> None:
    evidence = evaluate(Text(response), build(f"text:{id}", kwargs), explain=True).evidence
    assert [response[span.start : span.end] for span in evidence] == pieces
    assert {span.kind for span in evidence} == {kind}


# id, kwargs, part of the message
BAD: list[tuple[str, dict[str, Any], str]] = [
    ("contains", {"values": []}, "kwargs.values: must not be empty"),
    ("contains", {"values": ["a", ""]}, "kwargs.values[1]: must not be empty"),
    ("contains", {"values": ["a"], "at_least": 2}, "must not be more than the number of values (1)"),
    ("contains", {"values": ["a"], "at_least": "some"}, "kwargs.at_least: must be all or a whole number"),
    ("starts_with", {"value": ""}, "kwargs.value: must not be empty"),
    ("ends_with", {}, "kwargs.value: is missing"),
    ("regex", {"pattern": "(?=a)"}, "(?=; RE2 has no lookaround and no back-references"),
    ("regex", {"pattern": r"(a)\1"}, "invalid escape sequence"),
    ("regex", {"pattern": "("}, "kwargs.pattern: '(' is not a regular expression of RE2: missing )"),
    ("regex", {"pattern": "a" * 1001}, "must not be longer than 1000 characters"),
    ("regex", {"pattern": "((a{100}){100}){100}"}, "is not a regular expression of RE2"),
    ("regex_count", {"pattern": "a"}, "min or max must be given"),
    ("word_count", {}, "min or max must be given"),
    ("word_count", {"min": 5, "max": 4}, "max (4) must not be less than min (5)"),
    ("word_count", {"min": -1}, "kwargs.min: must be a number from 0, not -1"),
    ("word_count", {"min": True}, "kwargs.min: must be a number from 0, not True"),
    ("word_count", {"min": "5"}, "kwargs.min: must be a number from 0, not '5'"),
    ("json_schema", {}, "kwargs.schema: is missing"),
    ("json_schema", {"schema": {"type": "ship"}}, "kwargs.schema: is not a JSON Schema"),
    ("json_schema", {"schema": {"$ref": "http://127.0.0.1:9/s.json"}}, "nothing is fetched"),
    ("json_schema", {"schema": {"$ref": "file:///etc/hostname"}}, "nothing is fetched"),
    ("json_schema", {"schema": {"pattern": "(?=a)"}}, "kwargs.schema: is not a JSON Schema"),
    ("key_paths", {"paths": []}, "kwargs.paths: must not be empty"),
    ("key_paths", {"paths": ["a..b"]}, "'a..b' is not a path"),
    ("key_paths", {"paths": ["a[x]"]}, "'a[x]' is not a path"),
    ("key_paths", {"paths": [""]}, "'' is not a path"),
    ("key_paths", {"paths": ["a"], "format": "yaml"}, "kwargs.format"),
    ("repetition", {"ngram": 0}, "kwargs.ngram: must be a whole number from 1 to 100, not 0"),
    ("repetition", {"max_share": 20}, "kwargs.max_share: must be a share from 0 to 1, not 20"),
    ("language", {"language": "English"}, "must be an ISO 639-1 code"),
]  # fmt: skip


@pytest.mark.parametrize(("id", "kwargs", "message"), BAD)
def test_bad_kwargs(id: str, kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(BadKwargs) as caught:
        build(f"text:{id}", kwargs)
    assert message in str(caught.value)


BOMB = "a: &a [x, x]\n" + "\n".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]" for i in range(20)
)
LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(12))
    + "]><l>&m;</l>"
)

# id, kwargs, response, holds, what is observed
HOSTILE: list[tuple[str, dict[str, Any], str, bool, str]] = [
    ("valid_json", {}, "[" * 200_000, False, "nested too deeply"),
    ("valid_json", {}, "[" * 90_000 + "]" * 90_000, False, "nested too deeply"),
    ("valid_json", {}, "9" * 10_000, False, "digits"),
    ("valid_json", {}, '"' + "a" * 1_000_001 + '"', False, "more than 1000000 characters"),
    ("json_schema", {"schema": {}}, '{"a":' * 50_000, False, "nested too deeply"),
    ("json_schema", {"schema": {"$ref": "#"}}, "[" * 400 + "]" * 400, True, "JSON"),
    ("json_schema", {"schema": {"type": "integer"}}, "1e400", False, ""),
    ("key_paths", {"paths": ["a"]}, '{"a":' * 50_000, False, "nested too deeply"),
    ("valid_yaml", {}, "a:\n  " + "[" * 5_000, False, "nesting"),
    ("valid_yaml", {}, BOMB, True, "YAML"),
    ("valid_yaml", {}, "".join(" " * i + "a:\n" for i in range(1_000)), False, "nested"),
    ("valid_xml", {}, LAUGHS, False, "declares the entity a"),
    ("valid_xml", {}, '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hosts">]><a>&x;</a>', False, "entity x"),
    ("valid_xml", {}, '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x.dtd"><a/>', True, "XML"),
    ("valid_xml", {}, "<a>" * 200_000, False, "no such XML"),
    ("valid_csv", {}, "a,b\n" * 200_000, True, "CSV"),
    ("valid_csv", {}, "a" * 200_000 + ",b", False, "field larger"),
]  # fmt: skip


@pytest.mark.parametrize(("id", "kwargs", "response", "holds", "observed"), HOSTILE)
def test_hostile_documents_are_settled_at_once(
    id: str, kwargs: dict[str, Any], response: str, holds: bool, observed: str
) -> None:
    started = time.monotonic()
    verdict = evaluate(Text(response), build(f"text:{id}", kwargs))
    assert time.monotonic() - started < 3
    assert verdict.holds is holds
    assert observed in verdict.observed


LARGE = [
    "a" * 1_000_000,
    "\n" * 1_000_000,
    "a\n" * 500_000,
    "👍🏽" * 100_000,
    "a!" * 300_000,
    "a" + "!" * 900_000,
]
LARGE += [
    "1. " * 200_000,
    " " * 1_000_000 + "a",
    "``` \n" * 200_000,
    "你。" * 200_000,
    "\n \n" * 200_000 + "a",
]


@pytest.mark.parametrize(
    ("id", "kwargs"),
    [
        ("contains", {"values": ["aab", "!!?"], "whole_word": True}),
        ("ends_with", {"value": "b"}),
        ("regex", {"pattern": "(a+)+$"}),
        ("word_count", {"min": 1}),
        ("sentence_count", {"min": 1}),
        ("paragraph_count", {"min": 1}),
        ("line_count", {"min": 1}),
        ("char_count", {"min": 1}),
        ("repetition", {}),
        ("valid_json", {}),
        ("valid_yaml", {}),
        ("valid_xml", {}),
        ("valid_csv", {}),
        ("language", {"language": "en"}),
    ],
)
@pytest.mark.parametrize("number", range(len(LARGE)))
def test_large_texts_take_linear_time(id: str, kwargs: dict[str, Any], number: int) -> None:
    check = build(f"text:{id}", kwargs)
    started = time.monotonic()
    evaluate(Text(LARGE[number]), check)
    assert time.monotonic() - started < 5


def test_a_mode_changes_nothing() -> None:
    check = build("text:ends_with", {"value": "home."})
    assert not evaluate(Text("Safe home.\nBye!"), check, mode="loose").holds


@pytest.mark.parametrize(
    ("id", "kwargs", "text", "holds", "observed"),
    [
        # a pattern that matches before every character is counted no further than the bounds can tell
        ("text:regex_count", {"pattern": "", "min": 1}, "a" * 1_000_000, True, "at least 1 occurrence"),
        ("text:regex_count", {"pattern": ".*", "max": 2}, "a\n" * 500_000, False, "at least 3 occurrences"),
        ("text:regex_count", {"pattern": "a", "min": 1, "max": 3}, "aa", True, "2 occurrences"),
        # a long phrase of one letter in a long text of it
        ("text:contains", {"values": ["A" * 5000 + "b"]}, "a" * 1_000_000, False, "none of them"),
        ("text:contains", {"values": ["É" * 5000 + "b"]}, "é" * 1_000_000, False, "none of them"),
        (
            "text:contains",
            {"values": ["é" * 5000], "whole_word": True},
            "É" * 500_000,
            False,
            "none of them",
        ),
        ("text:repetition", {"ngram": 100}, "so " * 300_000, False, "100 % repeated"),
    ],
)
def test_large_texts_are_decided_in_time(
    id: str, kwargs: dict[str, Any], text: str, holds: bool, observed: str
) -> None:
    began = time.process_time()
    verdict = evaluate(Text(text), build(id, kwargs))
    assert (verdict.holds, verdict.observed) == (holds, observed)
    assert time.process_time() - began < 3  # what takes as long as the phrase for each letter takes minutes
