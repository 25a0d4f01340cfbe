"""E01 to E14: what they accuse, and what comes near and is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from rubricate_service.lint.build import build_group
from rubricate_service.lint.finding import RULES
from rubricate_service.lint.group import LintGroup
from rubricate_service.lint.linter import Report
from rubricate_service.lint.witness.search import search
from rubricate_service.pool import CheckPool

Lint = Callable[..., Report]
Case = tuple[str, dict[str, Any]]


def rubrics(*cases: Case) -> dict[str, Any]:
    return {"rubrics": [{"check": id, "kwargs": kwargs} for id, kwargs in cases]}


def words(relation: str, number: float) -> Case:
    return "length_constraints:number_words", {"num_words": number, "relation": relation}


def letters(letter: str, relation: str, number: int) -> Case:
    kwargs = {"letter": letter, "let_frequency": number, "let_relation": relation}
    return "keywords:letter_frequency", kwargs


def times(keyword: str, relation: str, number: int) -> Case:
    return "keywords:frequency", {"keyword": keyword, "frequency": number, "relation": relation}


def existence(*keywords: str) -> Case:
    return "keywords:existence", {"keywords": list(keywords)}


def forbidden(*forbidden_words: str) -> Case:
    return "keywords:forbidden_words", {"forbidden_words": list(forbidden_words)}


def ends(phrase: str) -> Case:
    return "startend:end_checker", {"end_phrase": phrase}


def repeat(prompt: str) -> Case:
    return "combination:repeat_prompt", {"prompt_to_repeat": prompt}


def capitals(relation: str, number: int) -> Case:
    kwargs = {"capital_frequency": number, "capital_relation": relation}
    return "change_case:capital_word_frequency", kwargs


NO_COMMA: Case = ("punctuation:no_comma", {})
JSON: Case = ("detectable_format:json_format", {})
LOWER: Case = ("change_case:english_lowercase", {})
UPPER: Case = ("change_case:english_capital", {})
QUOTED: Case = ("startend:quotation", {})
CHOICE: Case = ("detectable_format:constrained_response", {})
TWO: Case = ("combination:two_responses", {})
TITLE: Case = ("detectable_format:title", {})
POSTSCRIPT: Case = ("detectable_content:postscript", {"postscript_marker": "P.S."})
CHOOSE: Case = ("rlvr:validate_choice", {"options": ["north", "south"]})


def language(code: str) -> Case:
    return "language:response_language", {"language": code}


def contains(*values: str, **kwargs: Any) -> Case:
    return "text:contains", {"values": list(values), **kwargs}


def excludes(*values: str, **kwargs: Any) -> Case:
    return "text:not_contains", {"values": list(values), **kwargs}


def first_word(word: str, paragraph: int) -> Case:
    kwargs = {"num_paragraphs": 3, "nth_paragraph": paragraph, "first_word": word}
    return "length_constraints:nth_paragraph_first_word", kwargs


def text(name: str, **kwargs: Any) -> Case:
    return f"text:{name}", kwargs


ERRORS: list[tuple[str, tuple[Case, ...]]] = [
    ("E01", (words("at least", 100), words("less than", 100))),
    ("E01", (("count:word_count_range", {"min_words": 90, "max_words": 60}),)),
    ("E01", (text("word_count", min=90, max=60),)),
    ("E01", (("rubrichub:word_count_range", {"min_count": 9, "max_count": 6}),)),
    ("E01", (text("word_count", min=90), text("word_count", max=60))),
    ("E01", (text("sentence_count", min=2.5, max=2.7),)),
    ("E01", (words("less than", 0),)),
    ("E01", (times("oar", "at least", 3), times("OAR", "less than", 2))),
    ("E01", (("detectable_format:number_bullet_lists", {"num_bullets": 3}),
             ("rubrichub:BulletListChecker", {"num_bullets": 4}))),
    ("E01", (("length_constraints:number_paragraphs", {"num_paragraphs": 2}),
             ("length_constraints:number_paragraphs", {"num_paragraphs": 3}))),
    ("E01", (("rlvr:validate_word_constraint", {"N": 50, "quantifier": "around"}),
             ("rlvr:validate_word_constraint", {"N": 90, "quantifier": "at least"}))),
    ("E02", (contains("gale"), excludes("gale"))),
    ("E02", (contains("Gale warning", whole_word=True), forbidden("gale"))),
    ("E02", (existence("a gale came"), forbidden("gale"))),
    ("E02", (existence("northern"), excludes("north"))),
    ("E02", (existence("gale", "calm"), ("rlvr:validate_forbidden_words", {"forbidden_words": ["CALM"]}))),
    ("E02", (times("storm and storm", "at least", 1), times("storm", "less than", 2))),
    ("E02", (repeat("Name the storm."), forbidden("storm"))),
    ("E02", (ends("into the storm"), forbidden("storm"), NO_COMMA)),
    ("E02", (first_word("ship", 2), forbidden("ship"))),
    ("E03", (LOWER, capitals("at least", 1))),
    ("E03", (LOWER, UPPER)),
    ("E03", (UPPER, capitals("less than", 1))),
    ("E03", (LOWER, CHOICE)),
    ("E03", (("rlvr:validate_lowercase", {}), contains("Hull", case_sensitive=True))),
    ("E03", (UPPER, ("detectable_format:multiple_sections", {"section_spliter": "Part", "num_sections": 2}))),
    ("E03", (("rlvr:validate_uppercase", {}), ("format:thesis", {}))),
    ("E04", (NO_COMMA, repeat("Name a port, any port."))),
    ("E04", (NO_COMMA, ends("Over, and out."))),
    ("E04", (NO_COMMA, text("key_paths", paths=["ship", "port"]))),
    ("E04", (NO_COMMA, text("json_schema", schema={"type": "object", "required": ["ship", "port"]}))),
    ("E04", (("punctuation:punctuation_dot", {}), CHOICE)),
    ("E04", (("punctuation:punctuation_dot", {}), POSTSCRIPT)),
    ("E04", (("format:no_whitespace", {}), ("startend:end_checker", {"end_phrase": "the end"}))),
    ("E05", (text("language", language="de"), UPPER)),
    ("E05", (LOWER, text("language", language="fr"))),
    ("E06", (QUOTED, repeat("Name a port."))),
    ("E06", (repeat("Name a port."), repeat("Name a river."))),
    ("E06", (ends("Over and out."), ends("That is all."))),
    ("E06", (QUOTED, text("ends_with", value="The end."))),
    ("E06", (ends('and he said "no"'),)),
    ("E06", (("first_word:first_word_answer", {"first_word": "well"}), text("starts_with", value="Welcome"))),
    ("E06", (("first_word:first_word_answer", {"first_word": "yes"}),
             ("first_word:first_word_answer", {"first_word": "no"}))),
    ("E06", (first_word("ship", 1), repeat("Name a port."))),
    ("E06", (first_word("ship", 1), repeat("shore"))),
    ("E07", (JSON, repeat("Name a port."))),
    ("E07", (JSON, text("starts_with", value="Dear crew"))),
    ("E07", (text("valid_json"), text("ends_with", value="Bye!"))),
    ("E07", (text("valid_json"), text("valid_xml"))),
    ("E07", (text("valid_json"), text("starts_with", value="NaN"))),
    ("E07", (text("json_schema", schema={"type": "object"}), QUOTED)),
    ("E08", (("copy:copy", {"prompt_to_repeat": "Name a port."}), words("at least", 4))),
    ("E08", (("repeat:repeat_simple", {}), NO_COMMA)),
    ("E08", (("format:options", {"options": "A)/B)/C)"}), text("char_count", min=10))),
    ("E09", (("length_constraints:number_wrods", {}),)),
    ("E09", (("length_constraints:number_words", {"num_words": 3, "relation": "at least", "unit": "w"}),)),
    ("E09", (("length_constraints:number_words", {"relation": "at least"}),)),
    ("E09", (letters("!", "at least", 6),)),
    ("E09", (("rlvr:verify_keyword_frequency", {"word": "ice cream", "N": 1}),)),
    ("E09", (("rule:python", {"source": "def other(response):\n    return True"}),)),
    ("E09", (("muldimif:constraint", {"category": "Format", "subcategory": "Table",
                                     "constraint": "Use a table of ports."}),)),
    ("E10", (text("language", language="de"), text("language", language="fr"))),
    ("E10", (language("de"), text("language", language="fr"), existence("Hafen"))),
    ("E10", (TWO, ("length_constraints:number_paragraphs", {"num_paragraphs": 2}))),
    ("E10", (("copy:copy", {"prompt_to_repeat": "One."}), ("copy:copy", {"prompt_to_repeat": "Two."}))),
    ("E10", (
        ("length_constraints:nth_paragraph_first_word",
         {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "then"}),
        ("length_constraints:nth_paragraph_first_word",
         {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "later"}))),
    ("E11", (text("regex", pattern="(?=a)b"),)),
    ("E11", (text("not_regex", pattern="a(b"),)),
    ("E11", (existence("harbour", "(x"),)),
    ("E13", (repeat("Name a port in the north of Spain."), words("less than", 8))),
    ("E13", (contains("as far as the eye can see"), text("word_count", max=5))),
    ("E13", (times("row row", "at least", 4), words("less than", 5))),
    ("E13", (contains("as far as the eye can see"), text("char_count", max=20))),
    ("E14", (letters("e", "less than", 3), existence("evergreen"))),
    ("E14", (letters("z", "at least", 1), excludes("z"))),
    ("E14", (letters("r", "less than", 4), times("oar", "at least", 4))),
    ("E14", (("letters:letter_counting", {"N": 5, "relation": "less than"}), existence("lighthouse"))),
]  # fmt: skip

NEAR_MISSES: list[tuple[Case, ...]] = [
    (words("at least", 99), words("less than", 100)),
    (words("at least", 100), text("word_count", max=60)),  # words of two kinds
    (times("oar", "at least", 3), times("oars", "less than", 2)),
    (text("sentence_count", min=2.5, max=3),),
    (words("less than", 1),),  # a full stop has no word
    (existence("running"), forbidden("run")),
    (existence("run"), forbidden("running")),
    (contains("C++"), forbidden("c")),
    (contains("gale"), excludes("Gale", case_sensitive=True)),
    (contains("gale", "calm", at_least=1), excludes("gale")),
    (LOWER, capitals("less than", 1)),
    (UPPER, ("format:title_case", {})),
    (LOWER, contains("Hull")),
    (UPPER, ("detectable_format:multiple_sections", {"section_spliter": "PART", "num_sections": 2})),
    (("rlvr:validate_uppercase", {}), capitals("less than", 1)),
    (NO_COMMA, JSON),
    (NO_COMMA, text("key_paths", paths=["ship.name", "ship"])),
    (NO_COMMA, repeat("Name a port。")),
    (language("en"), UPPER),
    (text("language", language="zh"), ("rlvr:validate_response_language", {"language": "zh-cn"})),
    (QUOTED, ends("Over and out.")),
    (QUOTED, JSON),
    (QUOTED, ("length_constraints:nth_paragraph_first_word",
              {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "then"})),
    (ends("out."), ends("Over and OUT.")),
    (("rlvr:validate_end", {"end_phrase": "Out."}), text("ends_with", value="</answer>")),
    (repeat("Name a port."), repeat("name a port. And a river.")),
    (("first_word:first_word_answer", {"first_word": "well"}), text("starts_with", value="Well met")),
    (JSON, text("starts_with", value="{")),
    (JSON, text("starts_with", value="Na")),
    (text("valid_json"), text("ends_with", value="rue")),
    (JSON, ends("over and out")),
    (JSON, ("length_constraints:number_paragraphs", {"num_paragraphs": 2})),
    (("copy:copy", {"prompt_to_repeat": "Name a port."}), words("at least", 3)),
    (("copy:copy", {"prompt_to_repeat": "Name a port."}), ("rlvr:validate_lowercase", {})),
    (("copy:copy", {"prompt_to_repeat": "TRUE"}), JSON),
    (CHOICE, CHOOSE),
    (TWO, ("paragraphs:paragraphs2", {})),
    (("length_constraints:nth_paragraph_first_word",
      {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "then"}),
     ("length_constraints:nth_paragraph_first_word",
      {"num_paragraphs": 3, "nth_paragraph": 3, "first_word": "later"})),
    (text("regex", pattern=r"\d{2}:\d{2}"),),
    (existence(r"c\+\+"),),
    (repeat("Name a port in Spain."), words("less than", 6)),
    (existence("fox", "dog", "oxen"), words("less than", 3)),  # oxen may stand in foxdogoxen
    (letters("e", "less than", 3), existence("evening")),
    (letters("z", "at least", 1), forbidden("z")),
    (letters("z", "at least", 1), excludes("Z", case_sensitive=True)),
    (("rlvr:verify_keyword_frequency", {"word": "ice cream", "N": 0}), contains("ice cream")),
    (("rlvr:verify_keyword_frequency", {"word": "well-known", "N": 0}), contains("well-known")),
    (text("starts_with", value="STRASSE", case_sensitive=False),
     text("starts_with", value="straße", case_sensitive=False)),
    (text("ends_with", value="STRASSE", case_sensitive=False),
     text("ends_with", value="straße", case_sensitive=False)),
    (text("valid_xml"), text("starts_with", value="\ufeff")),
    (first_word("ship", 1), repeat("'Ship! Ahoy")),
    (first_word("ships", 1), repeat("ship")),  # it may go on as one word
    (first_word("ship", 1), forbidden("ships")),
    (first_word("ship", 2), repeat("Name a port.")),
    (first_word("straße", 1), text("starts_with", value="STRASSE", case_sensitive=False)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "cases"), ERRORS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_be_is_an_error(lint: Lint, rule: str, cases: tuple[Case, ...]) -> None:
    errors = [f for f in lint(rubrics(*cases)).findings if f.severity == "error"]
    assert {error.rule for error in errors} == {rule}
    for error in errors:
        assert error.path.startswith("groups[0].rubrics[")
        assert error.message
        assert error.hint


SEARCHED = [cases for rule, cases in ERRORS if rule not in ("E09", "E11")]


@pytest.mark.parametrize("cases", SEARCHED, ids=lambda cases: " + ".join(id for id, _ in cases))
def test_what_is_an_error_has_no_witness(pool: CheckPool, cases: tuple[Case, ...]) -> None:
    """The search is asked all the same, and would find a response if an error were a false alarm."""
    group, _ = build_group("groups[0]", LintGroup(prompt="Describe the harbour.", **rubrics(*cases)))

    async def searched() -> str | None:
        return (await search(pool, group, [], asyncio.get_running_loop().time() + 30)).response

    assert not group.is_whole or asyncio.run(searched()) is None


@pytest.mark.parametrize("cases", NEAR_MISSES, ids=lambda cases: " + ".join(id for id, _ in cases))
def test_what_comes_near_is_none(lint: Lint, cases: tuple[Case, ...]) -> None:
    assert [f for f in lint(rubrics(*cases)).findings if f.severity == "error"] == []


LOOPHOLES: list[tuple[str, tuple[Case, ...], str]] = [
    ("E02", (existence("fox"), forbidden("fox")), 'only a longer word with "fox" in it passes'),
    ("E03", (LOWER, ("format:title_case", {})), "starts with a digit or a mark passes"),
    ("E03", (("rlvr:validate_lowercase", {}), ("rlvr:validate_uppercase", {})), "without letters passes"),
    ("E07", (JSON, TITLE), "within a string of it passes"),
    ("E07", (JSON, POSTSCRIPT), "within a string of it passes"),
    ("E07", (JSON, ("detectable_format:number_bullet_lists", {"num_bullets": 2})), "negative numbers"),
    ("E08", (CHOICE, words("at least", 50)), "with more around the choice passes"),
    ("E08", (CHOOSE, words("at least", 50)), "with more around the choice passes"),
    ("E05", (language("de"), UPPER), "in letters whose language is not told"),
    ("E10", (language("de"), language("fr")), "without letters passes"),
    (
        "E10",
        (language("en"), language("de"), existence("ᏣᎳᎩ")),
        "in letters whose language is not told",
    ),
    ("E11", (existence("c++"),), "RE2"),
    ("E11", (existence("(a+)+b"),), "repetitions within repetitions"),
    ("E13", (existence("fox", "dog", "hen"), words("less than", 3)), "runs words together passes"),
]


@pytest.mark.parametrize(("rule", "cases", "says"), LOOPHOLES, ids=lambda v: v if isinstance(v, str) else "")
def test_a_way_out_makes_it_a_warning(lint: Lint, rule: str, cases: tuple[Case, ...], says: str) -> None:
    (finding,) = [f for f in lint(rubrics(*cases)).findings if f.rule == rule]
    assert finding.severity == "warning"
    assert says in finding.message


WORDINGS: list[tuple[tuple[Case, ...], str]] = [
    ((LOWER, capitals("at least", 1)), "at least 1 word in capitals, while"),
    ((QUOTED, repeat("Name a port.")), "asks for '\"'"),
    ((times("oar", "at least", 2), times("oar", "less than", 2)), 'at most 1 time "oar", while'),
]


@pytest.mark.parametrize(("cases", "says"), WORDINGS, ids=lambda v: v if isinstance(v, str) else "")
def test_findings_are_in_plain_words(lint: Lint, cases: tuple[Case, ...], says: str) -> None:
    assert says in " ".join(f.message for f in lint(rubrics(*cases)).findings)


def test_faults_name_no_class_of_python(lint: Lint) -> None:
    (error,) = [f for f in lint({"rubrics": [{"check": "punctuation:no_comma", "kwargs": 3}]}).findings
                if f.severity == "error"]  # fmt: skip
    assert error.message == "Input should be an object"


@pytest.mark.parametrize(
    ("rubric", "rule", "path"),
    [
        ({"check": "punctuation:no_comma", "weight": 0}, "E12", "rubrics[0].weight"),
        ({"check": "punctuation:no_comma", "weight": -1.5}, "E12", "rubrics[0].weight"),
        ({"check": "punctuation:no_comma", "weight": float("nan")}, "E12", "rubrics[0].weight"),
        ({"criterion": "Kind.", "points": float("inf")}, "E12", "rubrics[0].points"),
        ({"criterion": "Kind.", "points": 0}, "E12", "rubrics[0]"),
        ({"criterion": "Rude.", "points": -3}, "E12", ""),
        ({"criterion": "Kind.", "check": "punctuation:no_comma"}, "E09", "rubrics[0]"),
        ({"criterion": "Kind.", "wieght": 2.0}, "E09", "rubrics[0].wieght"),
        ({"criterion": 7}, "E09", "rubrics[0].criterion"),
        ("be kind", "E09", "rubrics[0]"),
        (None, "E09", "rubrics[0]"),
        ({"check": "punctuation:no_comma", "kwargs": {"big": 10**30}}, "E09", "rubrics[0].kwargs"),
    ],
)
def test_rubrics_that_the_wire_refuses_are_findings(lint: Lint, rubric: object, rule: str, path: str) -> None:
    errors = [f for f in lint({"rubrics": [rubric]}).findings if f.severity == "error"]
    assert [(error.rule, error.path) for error in errors] == [(rule, f"groups[0].{path}".rstrip("."))]


def test_a_pitfall_demands_nothing(lint: Lint) -> None:
    pitfall = {"check": "keywords:existence", "kwargs": {"keywords": ["gale"]}, "negative": True}
    group = {"rubrics": [pitfall, {"check": "text:not_contains", "kwargs": {"values": ["gale"]}}]}
    assert [f for f in lint(group).findings if f.severity == "error"] == []


def test_one_bad_rubric_costs_no_other(lint: Lint) -> None:
    case = rubrics(words("at least", 9), ("no:such", {}), words("less than", 5))
    found = lint(case, rubrics(words("at least", 9), words("less than", 5))).findings
    assert [(f.rule, f.path) for f in found if f.severity == "error"] == [
        ("E09", "groups[0].rubrics[1].check"),
        ("E01", "groups[0].rubrics[2]"),
        ("E01", "groups[1].rubrics[1]"),
    ]


def test_two_rubrics_of_one_id(lint: Lint) -> None:
    rubric = {"id": "a", "criterion": "Kind."}
    (error,) = [
        f
        for f in lint({"rubrics": [rubric, {"id": "a", "criterion": "Brief."}]}).findings
        if f.severity == "error"
    ]
    assert (error.rule, error.path) == ("E09", "groups[0].rubrics[1].id")


def test_every_error_rule_has_a_case() -> None:
    covered = {rule for rule, _ in ERRORS} | {"E12"}
    assert covered == {rule.id for rule in RULES.values() if rule.severity == "error"}
