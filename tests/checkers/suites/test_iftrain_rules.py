"""The 29 ids that IFTrain adds: a table of verdicts, what is refused, and what upstream's quirks come to."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_checkers import BadKwargs, CatalogueEntry, Text, build, catalogue, evaluate
from rubricate_checkers.loose import revise

IFTRAIN = [entry for entry in catalogue() if entry.suite == "iftrain"]

PHRASE = {"phrase": "Small boats cross the wide bay", "small_n": 2}
PROMPT = {"prompt_to_repeat": "Explain the Tides."}
KEYWORD = {"keyword": "buoy"}
THREE_WORDS = {"n_sent": 2, "n_words": 3}
TWICE = KEYWORD | {"frequency": 2}
LESS, LEAST = "less than", "at least"
HASH = {"letter": "#", "let_frequency": 1, "let_relation": LESS}

# id, kwargs, response, whether it holds (strict)
CASES: list[tuple[str, dict[str, Any], str, bool]] = [
    ("copy:repeat_phrase", PHRASE, "Small boats ply the wide bay; Small ships cross the wide bay.", True),
    ("copy:repeat_phrase", PHRASE, "Small boats ply the wide bay.", False),
    ("copy:repeat_phrase", PHRASE, "Small boats ply the wide bay. Small ships ply the wide bay.", False),
    ("copy:repeat_phrase", PHRASE, "Small boats cross the bay. Small ships cross the wide bay.", False),
    ("copy:repeat_phrase", PHRASE, "small boats ply the wide bay. Small ships cross the wide bay.", False),
    ("copy:repeat_phrase", PHRASE, "Small boats ply\nthe wide bay. Small ships cross the wide bay.", False),
    ("copy:repeat_phrase", PHRASE | {"small_n": 1.0}, "Small ships cross the wide bay", True),
    ("copy:repeat_phrase", {"phrase": "No. more.", "small_n": 1}, "Not quite more!", False),
    ("copy:repeat_phrase", {"phrase": "No. such more.", "small_n": 1}, "No. other more.", True),
    ("copy:repeat_phrase", {"phrase": "ab+ mid c", "small_n": 1}, "abb mid c", True),
    ("copy:repeat_phrase", {"phrase": "(a) mid c", "small_n": 1}, "a mid c", False),
    ("copy:copy", PROMPT, "  explain the tides.\n", True),
    ("copy:copy", PROMPT, "Explain the tides", False),
    ("copy:copying_simple", PROMPT, "EXPLAIN THE TIDES.", True),
    ("copy:copying_simple", PROMPT, "Explain  the tides.", False),
    ("copy:copying_multiple", PROMPT | {"N": 2}, "Explain the tides.****** explain the tides.", True),
    ("copy:copying_multiple", PROMPT | {"N": 2.0}, "Explain the tides.******Explain the tides.", True),
    ("copy:copying_multiple", PROMPT | {"N": 2}, "Explain the tides.******Explain the tides.******", False),
    ("copy:copying_multiple", PROMPT | {"N": 2}, "Explain the tides.******No.", False),
    ("copy:copying_multiple", PROMPT | {"N": -1}, "Explain the tides.", False),
    ("new:copy_span_idx", PROMPT | {"n_start": 8, "n_end": 17}, "the tides", True),
    ("new:copy_span_idx", PROMPT | {"n_start": 8, "n_end": 17}, "the tides.", False),
    ("new:copy_span_idx", PROMPT | {"n_start": 8.0, "n_end": -1}, "THE TIDES", True),
    ("detectable_format:sentence_hyphens", {}, "It rains.-We stay!-Do you?", True),
    ("detectable_format:sentence_hyphens", {}, "It rains. -We stay!", False),
    ("detectable_format:sentence_hyphens", {}, "A well-kept boat.", False),
    ("detectable_format:sentence_hyphens", {}, "No mark at all", True),
    ("detectable_format:sentence_hyphens", {}, "It rains. We stay.", False),
    ("detectable_format:sentence_hyphens", {}, "---", True),
    ("keywords:no_adjacent_consecutive", {}, "Zinc attracts dust", True),
    ("keywords:no_adjacent_consecutive", {}, "An old Boat came", False),
    ("keywords:no_adjacent_consecutive", {}, "An old Pier", False),
    ("keywords:no_adjacent_consecutive", {}, "(one) )two", False),
    ("keywords:no_adjacent_consecutive", {}, "\u0130zmir waits", False),
    ("keywords:no_adjacent_consecutive", {}, "\u0130zmir", True),
    ("detectable_format:square_brackets", {}, "[one]\n[two]", True),
    ("detectable_format:square_brackets", {}, "[one] [two],", False),
    ("detectable_format:square_brackets", {}, "[", False),
    ("keywords:word_once", KEYWORD, "A BUOYANT crew", True),
    ("keywords:word_once", KEYWORD, "Buoy by buoy", False),
    ("keywords:word_once", {"keyword": " b.oy "}, "boy, buoy", True),
    ("keywords:word_once", {"keyword": " "}, "a", False),
    ("keywords:word_count_different_numbers", TWICE | {"relation": LEAST}, "Buoys, buoy", True),
    ("keywords:word_count_different_numbers", TWICE | {"relation": LESS}, "Buoys, buoy", False),
    ("keywords:exclude_word_harder", KEYWORD, "Buoy or buoy, a Buoy and buoy", True),
    ("keywords:exclude_word_harder", KEYWORD, "The red buoy drifts", False),
    ("keywords:exclude_word_harder", {"keyword": " buoy "}, "The red buoy drifts", False),
    ("keywords:exclude_word_harder", KEYWORD | {"instruction": "red"}, "The red flag", True),
    ("paragraphs:paragraphs", {}, "***\nOne\n***\nTwo\n***", True),
    ("paragraphs:paragraphs", {}, "One\n\nTwo", False),
    ("paragraphs:paragraphs", {}, "One\n***\n***\nTwo", False),
    ("paragraphs:paragraphs2", {}, "\n\nOne\n\nTwo\n\n", True),
    ("paragraphs:paragraphs2", {}, "One\n\n\n\nTwo", False),
    ("paragraphs:paragraphs2", {}, "One\nTwo", False),
    ("first_word:first_word_sent", {"first_word": "Rain"}, "Rain falls.\nrain stops! RAIN again?", True),
    ("first_word:first_word_sent", {"first_word": "Rain"}, "Rain falls. Snow falls.", False),
    ("first_word:first_word_sent", {"first_word": "rain"}, "Rain, again.", False),
    ("first_word:first_word_sent", {"first_word": "rain"}, "Rain falls! !", False),
    ("first_word:first_word_answer", {"first_word": " rain "}, "\n Rain falls. Snow falls.", True),
    ("first_word:first_word_answer", {"first_word": "rain"}, "Rain. Snow.", False),
    ("last_word:last_word_sent", {"last_word": "Rain"}, "I like rain. Do you like (rain)?", True),
    ("last_word:last_word_sent", {"last_word": "rain"}, "I like rain. Do you?", False),
    ("last_word:last_word_sent", {"last_word": "rain"}, "I like rain .", False),
    ("last_word:last_word_sent", {"last_word": ["rain", "snow"]}, "I like rain.", True),
    ("last_word:last_word_answer", {"last_word": "lighthouse"}, "Go to the Light-house!\n", True),
    ("last_word:last_word_answer", {"last_word": "house"}, "Go to the light-house", False),
    ("last_word:last_word_answer", {"last_word": "end"}, "The end !", False),
    ("detectable_format:bigram_wrapping", {}, "<<at sea>>\n<<all day>> long", True),
    ("detectable_format:bigram_wrapping", {}, "<<at sea>> all day", False),
    ("detectable_format:bigram_wrapping", {}, "alone", True),
    ("punctuation:punctuation_dot", {}, "Wait\u2026 5,00\u3002", True),
    ("punctuation:punctuation_dot", {}, "Wait 5.00", False),
    ("punctuation:punctuation_exclamation", {}, "Wait\uff01", True),
    ("punctuation:punctuation_exclamation", {}, "a != b", False),
    ("count:lowercase_counting", {"N": 2}, "Don't SAY caf\u00e9 a_b b2", True),
    ("count:lowercase_counting", {"N": 2}, "one two three", False),
    ("count:lowercase_counting", {"N": -1}, "ONE", False),
    ("letters:letter_counting", {"N": 4, "relation": LEAST}, "a1 Z\u00e9 b-C", True),
    ("letters:letter_counting", {"N": 4, "relation": LESS}, "a1 Z\u00e9 b-C", False),
    ("letters:letter_counting", {"N": 4, "relation": "more than"}, "abcdef", False),
    ("letters:letter_counting2", {"letter": "E", "let_frequency": 2, "let_relation": LEAST}, "Eel", True),
    ("letters:letter_counting2", {"letter": "e", "let_frequency": 2, "let_relation": LESS}, "Eel", False),
    ("count:counting_composition", THREE_WORDS, "We go. You stay." + "***We go. You stay." * 2, True),
    ("count:counting_composition", THREE_WORDS, "We go. Stay." + "***We go. Stay." * 2, False),
    ("count:counting_composition", {"n_sent": 1, "n_words": 2}, "***Go.***Go.***Go.", False),
    ("count:counting_composition", {"n_sent": 1, "n_words": 2}, "Go.***Go.", False),
    ("count:counting_composition", {"n_sent": 1, "n_words": 2}, "Go.* * *Go.* * *Go.", False),
    ("count:count_unique", {}, "One boat, no Boat.", True),
    ("count:count_unique", {}, "One boat, two boats, three.", False),
    ("count:count_unique", {}, "the cat saw the dog", False),
    ("count:count_unique", {}, "They don't, we can't", False),
    ("count:count_increment_word", {"keyword1": "oar", "keyword2": "sea"}, "Sea, oars, seas", True),
    ("count:count_increment_word", {"keyword1": "oar", "keyword2": "sea"}, "Sea, board, oars, seas", False),
    ("keywords:palindrome", {}, "They saw a level", True),
    ("keywords:palindrome", {}, "The Level, radar.", False),
    ("keywords:palindrome", {}, "one - two", True),
    ("keywords:keyword_specific_position", KEYWORD | {"n": 2, "m": 3}, "Look! A red buoy. Gone.", True),
    ("keywords:keyword_specific_position", KEYWORD | {"n": 2.0, "m": 2}, "Look! A (buoy). Gone.", False),
    ("keywords:keyword_specific_position", {"keyword": ["buoy"], "n": 1, "m": 1}, "buoy", True),
    ("keywords:keyword_specific_position", KEYWORD | {"n": 1, "m": 1}, "Buoy", False),
    ("keywords:keyword_specific_position", KEYWORD | {"n": 3, "m": 1}, "Look! A red buoy.", False),
    ("keywords:start_end", {}, "Sea after sea", True),
    ("keywords:start_end", {}, "Sea after sea.", False),
    ("keywords:start_end", {}, "Sea", False),
]  # fmt: skip

# id, kwargs, path, part of the message
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("copy:repeat_phrase", {"small_n": 2}, "kwargs.phrase", "would draw one at random"),
    ("copy:repeat_phrase", PHRASE | {"small_n": 0}, "kwargs.small_n", "must not be 0"),
    ("copy:repeat_phrase", PHRASE | {"phrase": " "}, "kwargs.phrase", "must have a word"),
    ("copy:repeat_phrase", PHRASE | {"phrase": "(a b"}, "kwargs.phrase", "not a regular expression"),
    ("copy:repeat_phrase", PHRASE | {"phrase": "(a) b (c)"}, "kwargs.phrase", "more than one group"),
    ("copy:copy", {}, "kwargs.prompt_to_repeat", "is missing"),
    ("copy:copying_simple", {"prompt_to_repeat": ""}, "kwargs.prompt_to_repeat", "must not be empty"),
    ("copy:copying_multiple", PROMPT, "kwargs.N", "is missing"),
    ("copy:copying_multiple", PROMPT | {"N": 0}, "kwargs.N", "must not be 0"),
    ("new:copy_span_idx", PROMPT | {"n_start": 0, "n_end": 3}, "kwargs.n_start", "must not be 0"),
    ("new:copy_span_idx", PROMPT | {"n_start": 1, "n_end": 2.5}, "kwargs.n_end", "whole number, not 2.5"),
    ("new:copy_span_idx", PROMPT | {"n_start": 1, "n_end": True}, "kwargs.n_end", "whole number, not True"),
    ("keywords:word_once", {"keyword": "(x"}, "kwargs.keyword", "not a regular expression"),
    ("keywords:exclude_word_harder", {"instruction": "a b"}, "kwargs.keyword", "is missing"),
    ("first_word:first_word_sent", {"first_word": []}, "kwargs.first_word", "valid string, not []"),
    ("first_word:first_word_sent", {"first_word": ""}, "kwargs.first_word", "must not be empty"),
    ("first_word:first_word_answer", {"first_word": ["rain"]}, "kwargs.first_word", "valid string"),
    ("count:lowercase_counting", {}, "kwargs.N", "is missing"),
    ("letters:letter_counting", {"N": 5}, "kwargs.relation", "is missing"),
    ("letters:letter_counting2", HASH, "kwargs.letter", "one letter from a to z, not '#'"),
    ("count:counting_composition", {"n_sent": 2}, "kwargs.n_words", "is missing"),
    ("count:count_increment_word", {"keyword1": "a"}, "kwargs.keyword2", "is missing"),
    ("keywords:keyword_specific_position", KEYWORD | {"n": 0, "m": 1}, "kwargs.n", "whole number from 1"),
]  # fmt: skip


@pytest.mark.parametrize(("id", "kwargs", "response", "holds"), CASES)
def test_verdict(id: str, kwargs: dict[str, Any], response: str, holds: bool) -> None:
    verdict = evaluate(Text(response), build(id, kwargs))
    assert verdict.holds is holds
    assert verdict.observed
    assert verdict.required


@pytest.mark.parametrize("entry", IFTRAIN, ids=lambda entry: entry.id)
def test_every_id_has_both_cases(entry: CatalogueEntry) -> None:
    assert {holds for id, _, _, holds in CASES if id == entry.id} == {True, False}


def test_all_29_are_there() -> None:
    assert len(IFTRAIN) == 29


@pytest.mark.parametrize(("id", "kwargs", "path", "message"), REFUSED)
def test_refused(id: str, kwargs: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(BadKwargs) as caught:
        build(id, kwargs)
    assert caught.value.path == path
    assert message in caught.value.message


@pytest.mark.parametrize(("id", "kwargs", "response"), [(c[0], c[1], c[2]) for c in CASES])
def test_loose_tries_no_fewer_variants_than_it_has_to(id: str, kwargs: dict[str, Any], response: str) -> None:
    check = build(id, kwargs)
    for decorated in (
        response,
        f"Sure!\n{response}",
        f"{response}\nHope this helps.",
        f"*Sure*\n*{response}*\nBye.",
    ):
        any_variant = any(check.holds(Text(raw)) for raw in revise(decorated) if raw.strip())
        assert evaluate(Text(decorated), check, mode="loose").holds is any_variant


def test_an_unchanged_phrase_before_a_changed_one_fails() -> None:
    # the port in verifiable-instructions looks at the last repetition only
    response = "Small boats cross the wide bay. Small ships cross the wide bay."
    assert not evaluate(Text(response), build("copy:repeat_phrase", PHRASE)).holds


def test_a_list_of_first_words_is_its_first_one() -> None:
    # the same port compares where it should assign, and raises
    check = build("first_word:first_word_sent", {"first_word": ["Rain", "Snow"]})
    assert evaluate(Text("Rain falls. Rain stops."), check).holds


@given(
    st.text(alphabet="ab. \n", max_size=40),
    st.sampled_from(["a", "ab", "a.", ".b", "b"]),
    st.sampled_from(["b", "a.", "ba"]),
)
def test_repetitions_are_what_the_pattern_finds(response: str, first: str, last: str) -> None:
    found = [m.split() for m in re.findall(f"{first} .*? {last}", response)]
    phrase = [first, "x", last]
    changed = [len(m) == 3 and sum(a != b for a, b in zip(m, phrase, strict=True)) == 1 for m in found]
    check = build("copy:repeat_phrase", {"phrase": " ".join(phrase), "small_n": max(len(found), 1)})
    assert check.holds(Text(response)) is (bool(found) and all(changed))


@given(st.text(alphabet="abB'`. \n\"", max_size=30).filter(str.strip))
def test_short_cuts_say_what_the_tokens_say(response: str) -> None:
    text = Text(response)
    first, last = text.tokens[0].lower(), text.tokens[-1].lower()
    assert build("count:count_unique", {}).holds(text) is (len(set(text.tokens)) == len(text.tokens))
    assert build("keywords:start_end", {}).holds(text) is (len(text.tokens) > 1 and first == last)


def test_a_phrase_that_never_ends_takes_linear_time() -> None:
    check = build("copy:repeat_phrase", PHRASE)
    start = time.process_time()
    assert not check.holds(Text("Small " * 100_000))
    assert time.process_time() - start < 2
