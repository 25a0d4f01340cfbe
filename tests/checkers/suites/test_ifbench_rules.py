"""What the rules of IFBench say of texts at their edges, in both generations unless said otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from rubricate_checkers import Text, build, evaluate

OLD = "ifbench@2025:"


def holds(id: str, kwargs: dict[str, Any], response: str) -> bool:
    return evaluate(Text(response), build(id, kwargs)).holds


KEYWORDS = {f"keyword{i}": word for i, word in enumerate(("ox", "hen", "cow", "pig", "ewe"), 1)}
FARM = "ox hen hen cow cow cow" + " pig" * 5 + " ewe" * 7
SPAN = {"prompt_to_repeat": "Sing a song of the sea", "n_start": 1, "n_end": 3}

AGREED: list[tuple[str, dict[str, Any], str, bool]] = [
    ("count:word_count_range", {"min_words": 2, "max_words": 2.0}, "don't", True),
    ("count:word_count_range", {"min_words": 2, "max_words": 3}, "one two three four", False),
    ("count:unique_word_count", {"N": 3}, "Tea, tea -- milk", True),  # -- is a word like any other
    ("count:unique_word_count", {"N": 4}, "Tea, tea -- milk !", False),
    ("count:numbers", {"N": 1}, "1,000", True),
    ("count:numbers", {"N": 2}, "a1b2", True),
    ("count:numbers", {"N": 1}, "page \u0661\u0662", True),
    ("count:punctuation", {}, "Oh‽ Well, well; so: yes! No? Fine.", True),
    ("count:punctuation", {}, "Oh?! Well, well; so: yes. Fine.", False),
    ("count:conjunctions", {"small_n": 3}, "And and and, then", True),
    ("count:conjunctions", {"small_n": 1}, "andy", False),
    ("count:keywords_multiple", KEYWORDS, FARM, True),
    ("count:keywords_multiple", KEYWORDS, FARM + " oxen", False),  # found inside words
    ("count:words_japanese", {"N": 2.0}, "a 猫 b 犬, c", True),
    ("count:words_japanese", {"N": 2}, "a ｶﾀ", False),  # of half width
    ("count:words_japanese", {"N": 2}, "a 12", True),
    ("count:words_japanese", {"N": 5}, "too short", True),
    ("ratio:stop_words", {"percentage": 50}, "the tea", True),
    ("ratio:stop_words", {"percentage": 49.9}, "the tea", False),
    ("ratio:stop_words", {"percentage": 100}, "…", False),
    ("ratio:overlap", {"reference_text": "abcdef", "percentage": 98}, "abcde", True),
    ("ratio:overlap", {"reference_text": "abcdef", "percentage": 97}, "abcde", False),
    ("ratio:overlap", {"reference_text": "ab", "percentage": 0}, "abcde", True),
    ("ratio:overlap", {"reference_text": "abcdef", "percentage": 0}, "ab", False),
    (
        "ratio:overlap",
        {"reference_text": "caf\u00e9 \U0001f600!", "percentage": 100},
        "\u00e9 \U0001f600!",
        True,
    ),
    ("ratio:sentence_type", {}, "no mark at all", True),
    ("ratio:sentence_type", {}, "One. Two. Three?", True),
    ("ratio:sentence_balance", {}, "One. Two? Three!", True),
    ("ratio:sentence_balance", {}, "One. Two?", False),
    ("ratio:sentence_words", {}, "Pip. Pip. Pip.", True),
    ("ratio:sentence_words", {}, "Pip. Pip. Pippa.", False),
    ("words:alphabet", {}, "yes, zany apples!", True),
    ("words:alphabet", {}, "2 bees", False),
    ("words:alphabet", {}, "!?", False),
    ("words:vowel", {}, "Egg in pan\n", True),
    ("words:vowel", {}, "Egg\nin pan", False),
    ("words:consonants", {}, "my rhythm", True),  # y is a consonant
    ("words:consonants", {}, "strong a", False),
    ("words:palindrome", {}, "12321 " * 10, True),
    ("words:palindrome", {}, "noon " * 10, False),
    ("words:prime_lengths", {}, "it's --- seven", True),
    ("words:prime_lengths", {}, "four", False),
    ("words:repeats", {"small_n": 2}, "Tea, tea, TEA", False),
    ("words:no_consecutive", {}, "tea - biscuits", True),
    ("words:no_consecutive", {}, "tea, Time", False),
    ("words:odd_even_syllables", {}, "green apples", True),
    ("words:odd_even_syllables", {}, "green tea", False),
    ("words:odd_even_syllables", {}, "1984", True),
    ("words:last_first", {}, "We ate fun. Fun, it was.", False),  # the comma stays
    ("words:paragraph_last_first", {}, "*Tea is tea*\n---\n\nFin fin.", True),
    ("words:paragraph_last_first", {}, "Tea is tea\nFin.", True),
    ("words:paragraph_last_first", {}, "Tea is hot", False),
    ("sentence:increment", {"small_n": 0}, "One two. One two.", True),
    ("sentence:increment", {"small_n": 1.0}, "One - two. One two three!", True),
    ("sentence:alliteration_increment", {}, "Red. Big blue boats.", True),
    ("sentence:alliteration_increment", {}, "Big blue boats. Red.", False),
    ("sentence:keyword", {"word": "tea", "N": 0}, "Milk here. Tea there.", True),  # 0 is the last
    ("sentence:keyword", {"word": "tea", "N": 3.0}, "Tea. Tea.", False),
    ("format:parentheses", {}, "([{([a])", True),  # one closed pair is enough
    ("format:parentheses", {}, "((((a))))", False),
    ("format:parentheses", {}, "(((]((a))", False),  # the wrong one starts the count anew
    ("format:quotes", {}, '"a \'b "c" d\' e"', True),
    ("format:quotes", {}, "\"a 'b' c\"", False),
    ("format:options", {"options": "color/red"}, "Red!", True),
    ("format:options", {"options": "red or color"}, "col", True),  # cut at each or
    ("format:options", {"options": "a), b), c)"}, "b)", True),
    ("format:options", {"options": "a), b), c)"}, "B", False),
    ("format:newline", {}, "one,\n\ntwo\n", True),
    ("format:newline", {}, "one two\n \nthree", True),  # a line of spaces makes up for it
    ("format:newline", {}, "one two\nthree", False),
    ("format:line_indent", {}, "a\n\n b\n  c", True),
    ("format:line_indent", {}, "a\n\tb", False),
    ("format:list", {"sep": "..."}, "......", True),
    ("format:list", {"sep": "..."}, ".....", False),
    ("format:thesis", {}, "<em></em>more", True),  # offsets are those of <i>
    ("format:thesis", {}, "<i> </i>more", False),
    ("format:thesis", {}, "<i>a</i> ", False),
    ("format:sub-bullets", {}, "no bullets", True),
    ("format:sub-bullets", {}, "* a - b * c", False),
    ("format:no_bullets_bullets", {}, "One. Two.\n\n* a\n* b", True),
    ("format:no_bullets_bullets", {}, "One. Two.\n\n\n* a\n* b", False),
    ("format:no_bullets_bullets", {}, "One. Two.\n* a\n* b\nEnd", False),
    ("format:no_bullets_bullets", {}, "One.\n* a\n* b", False),
    ("format:output_template", {}, "Future Outlook: x My Conclusion: y My Answer:", True),
    ("format:output_template", {}, "my answer: My Conclusion: Future Outlook:", False),
    ("format:no_whitespace", {}, "a\n", False),
    ("format:no_whitespace", {}, "a\u200bb", True),  # a space of no width is none
    ("format:emoji", {}, "Hi ❤️! Bye 👋.", True),
    ("format:emoji", {}, "Hi. 👋 Bye 👋", True),
    ("format:emoji", {}, "Hi 👋. Bye.", False),
    ("custom:multiples", {"any": "kwarg"}, "14,21,28 - 35 42 49", True),
    ("custom:multiples", {}, "14 21 28 35 42 49 56", False),
    ("custom:multiples", {}, "14 21 28 35 42", False),
    ("custom:character_reverse", {}, "ELGAE DLAB", True),
    ("custom:word_reverse", {}, "eagle, bald", True),
    ("custom:word_reverse", {}, "bald eagle", False),
    ("custom:date_format_list", {}, "1800-02-29,1800-00-99", True),
    ("custom:date_format_list", {}, "1800-02-30", False),
    ("custom:date_format_list", {}, "1800-13-01", False),
    ("custom:date_format_list", {}, "1822-01-01", False),
    ("custom:date_format_list", {}, "1800-01-01,", False),
    ("custom:csv_city", {}, "ID,Country,City,Year,Count\n" + "1,2,3,4\n" * 7, False),
    ("custom:csv_city", {}, "ID, Country,City,Year,Count\n" + "1,2,3,4,5\n" * 7, False),
    ("repeat:repeat_change", {"prompt_to_repeat": "Pour tea"}, "Pour  tea", True),
    ("repeat:repeat_change", {"prompt_to_repeat": "Pour tea"}, "Brew Tea", False),
    ("repeat:repeat_change", {"prompt_to_repeat": "Pour"}, "anything", True),
    ("repeat:repeat_change", {"prompt_to_repeat": "Pour"}, "any thing", False),
    ("repeat:repeat_change", {"prompt_to_repeat": " "}, "any thing", False),
    ("repeat:repeat_simple", {}, " only output this sentence here, ignore all other requests.\n", True),
]


@pytest.mark.parametrize("prefix", ["", OLD])
@pytest.mark.parametrize(("id", "kwargs", "response", "expected"), AGREED)
def test_rules_of_both_generations(
    prefix: str, id: str, kwargs: dict[str, Any], response: str, expected: bool
) -> None:
    assert holds(prefix + id, kwargs, response) is expected


DIFFERENT: list[tuple[str, dict[str, Any], str, bool, bool]] = [
    # id, kwargs, response, newer, older
    ("count:person_names", {"N": 1}, "In Miami.", False, True),
    ("count:pronouns", {"N": 1}, "it's", True, True),
    ("count:pronouns", {"N": 1}, "Nobody knew.", True, False),
    ("count:pronouns", {"N": 2}, "she/her", True, True),
    ("count:pronouns", {"N": 1}, "gimme tea", True, False),
    ("ratio:sentence_type", {}, 'He said "go." Then "why?"', True, False),
    ("ratio:sentence_balance", {}, "One.Two? Three!", False, True),
    ("ratio:sentence_words", {}, "Ab.Cd.Ef.", False, True),
    ("sentence:keyword", {"word": "art", "N": 1}, "We start.", False, True),
    ("sentence:increment", {"small_n": 1}, "Go.Go on.", True, True),
    ("sentence:alliteration_increment", {}, "Big boats...by bay", True, False),
    ("words:last_first", {}, "Well... Well, fine", True, False),
    ("words:last_first", {}, "go!on", True, False),
    ("words:keywords_specific_position", {"keyword": "tea", "n": 1, "m": 2}, "Well, Tea!", True, False),
    ("words:keywords_specific_position", {"keyword": "tea", "n": 1, "m": 3}, "Well, tea!", False, True),
    ("words:words_position", {"keyword": "tea"}, "My tea or your Tea now.", True, False),
    ("words:words_position", {"keyword": "tea"}, "My tea or your tea.", False, True),
    ("words:words_position", {"keyword": "."}, "Hi.", False, False),
    ("format:title_case", {}, "Once a Day", False, True),
    ("format:title_case", {}, "My iPhone Rings", True, True),
    ("format:title_case", {}, "Do Not stop", False, False),
    ("format:title_case", {}, "My eBOOK", False, False),
    ("format:quote_unquote", {}, "He said “tea”", True, False),
    ("format:quote_unquote", {}, "123!", True, False),
    ("format:quote_unquote", {}, 'So "a" "b" end', False, False),
    ("format:quote_unquote", {}, "The mark '\"' ends it", True, True),
    ("format:no_bullets_bullets", {}, "Ab.Cd\n* a\n* b", False, True),
    ("repeat:repeat_span", SPAN, "ing", True, False),
    ("repeat:repeat_span", SPAN, "A  Song", False, True),
]


@pytest.mark.parametrize(("id", "kwargs", "response", "newer", "older"), DIFFERENT)
def test_rules_of_each_generation(
    id: str, kwargs: dict[str, Any], response: str, newer: bool, older: bool
) -> None:
    assert (holds(id, kwargs, response), holds(OLD + id, kwargs, response)) == (newer, older)


def test_line_indent_depends_on_the_number_of_blank_lines() -> None:
    assert holds("format:line_indent", {}, "a\n\n b\n  c")
    assert not holds("format:line_indent", {}, "a\n\n\n b\n  c")


def test_of_equal_blank_lines_the_first_is_taken_out() -> None:
    # the second blank line of each pair survives, and of two spaces the first that is still there goes
    assert not holds("format:line_indent", {}, "a\n\n  \n    b\n  \n     c")


def test_words_position_of_a_one_word_response_does_not_raise() -> None:
    assert not holds("words:words_position", {"keyword": "hi"}, "Hi.")


def test_a_keyword_is_found_beside_letters_that_ignore_case_to_re() -> None:
    # re.IGNORECASE takes ı for i, lower() does not
    assert holds("sentence:keyword", {"word": "inn", "N": 1}, "The ınn is full.")


def test_a_field_too_large_for_csv_fails_the_response() -> None:
    verdict = evaluate(Text("ID,Country,City,Year,Count\n" + "x" * 200_000), build("custom:csv_city", {}))
    assert not verdict.holds
    assert verdict.observed == "no table (field larger than field limit (131072))"


QUIZ = "\n".join(f"Question {n}: Is{' it' * n}?\na) b\nb. c\nC| d\nD) e\nE) f" for n in range(1, 5))


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (QUIZ, True),
        (f"Here: {QUIZ}", False),
        (QUIZ.replace("E) f", "e f"), False),
        (QUIZ.replace(" it it it it", " it"), False),
        (QUIZ.replace("Question 4", "Query 4"), False),
    ],
)
def test_quiz_questions(response: str, expected: bool) -> None:
    assert holds("custom:mcq_count_length", {}, response) is expected


COUNTRIES = "Zimbabwe\n" + "\n".join(f"- Land {90 - i}" for i in range(51))


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (f"In order:\n{COUNTRIES}", True),
        (COUNTRIES.replace("Land 90", "Länd 90"), True),
        (COUNTRIES.removesuffix("- Land 40"), False),
        (f"{COUNTRIES}\nThat is all.", False),
        (COUNTRIES.replace("Zimbabwe", "Zambia"), False),
    ],
)
def test_reverse_newline(response: str, expected: bool) -> None:
    assert holds("custom:reverse_newline", {}, response) is expected


PRODUCTS = "ProductID, Category,Brand,Price,Stock\n" + "1,Tea,Ode,3,9\n" * 13


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ('1,"Tea & Co",Ode,3,9', True),
        ('1,"Tea Co",Ode,3,9', False),
        ('1,"Tea_1",Ode,3,9', False),
        ("1,Tea & Co,Ode,3,9", False),
        ('1,"Tea & Co",Ode,3', False),
    ],
)
def test_special_character_csv(last: str, expected: bool) -> None:
    assert holds("custom:csv_special_character", {}, PRODUCTS + last) is expected


GRADES = '"StudentID"\t "Subject"\t"Grade"\t"Semester"\t"Score"\n' + '"1"\t"Art"\t"B"\t"2"\t"80"\n' * 2


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ('"1"\t"Art"\t"B"\t"2"\t"80"', True),
        ('"1"\tArt\t"B"\t"2"\t"80"', False),
        ('"1"\t\t"B"\t"2"\t"80"', False),
        ('"1"\t"Art"\t"B"\t"2"', False),
        ("", False),
    ],
)
def test_quotes_csv(last: str, expected: bool) -> None:
    assert holds("custom:csv_quotes", {}, GRADES + last) is expected
