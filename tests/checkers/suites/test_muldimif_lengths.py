"""`muldimif:constraint` on lengths: words, sentences, paragraphs."""

from __future__ import annotations

import pytest

from rubricate_checkers import Text, build, evaluate


def holds(subcategory: str, constraint: str, response: str) -> bool:
    kwargs = {"category": "Length", "subcategory": subcategory, "constraint": constraint}
    return evaluate(Text(response), build("muldimif:constraint", kwargs)).holds


# sentence, numbers of words that it allows up to 31
WORDS: list[tuple[str, set[int]]] = [
    ("Write exactly 3 words.", {3}),
    ("Exactly a total of four words, please", {4}),
    ("A single word will do", {1}),
    ("a 5-word answer, at most 5-word long", {0, 1, 2, 3, 4, 5}),
    ("Write exactly twenty one words", {20}),  # only the first word of the number is read
    ("Write exactly some words, at most 2 words", {0, 1, 2}),
    ("between 2 to 4 words", {2, 3, 4}),
    ("between four and two words", {2, 3, 4}),
    ("between twenty-five and thirty words", set(range(25, 31))),
    ("Range: 2 to 3 words", {2, 3}),
    ("Range: 2-3", {2, 3}),
    ("range 2 – 3", {2, 3}),
    ("2 to 3 words", {2, 3}),
    ("a 2-3 word line", {2, 3}),
    ("2到3个字", {2, 3}),
    ("At least twenty five words", set(range(32))),  # "twenty five" is no number here
    ("At least twenty-five words", set(range(5, 21))),  # read as a range, from 5 to 20
    ("a minimum of 30 words", {30, 31}),
    ("a minimum length of 30 words", {30, 31}),
    ("no less than 30 words", {30, 31}),
    ("must not exceed 1 word", {0, 1}),
    ("not exceeding 1 word", {0, 1}),
    ("not surpass one word", {0, 1}),
    ("no more than 1 word", {0, 1}),
    ("a maximum of 1 word", {0, 1}),
    ("a maximum length of 1 word", {0, 1}),
    ("no longer than 1 word", {0, 1}),
    ("a limit of 1 word", {0, 1}),
    ("within 1 word", {0, 1}),
    ("within a one word limit", {0, 1}),
    ("最多1个字", {0, 1}),
    ("在1个单词以内", {0, 1}),
    ("limited to 2 words", {0, 1, 2}),  # half of a range that is none
    ("Keep it brief", set(range(32))),
]


@pytest.mark.parametrize(("sentence", "allowed"), WORDS)
def test_words(sentence: str, allowed: set[int]) -> None:
    assert {count for count in range(32) if holds("Words", sentence, "so " * count)} == allowed


@pytest.mark.parametrize(
    ("sentence", "response", "expected"),
    [
        ("at most 2 words", "你好 and so on", True),  # of a text with Chinese, only that is counted
        ("at most 2 words", "你好。 and so on", False),
        ("at most 3 words and at least 2 sentences", "Go. Stay!", True),
        ("at most 3 words and at least 2 sentences", "Go... stay", False),  # a run of marks is one
        ("at most 3 words and no more than one sentence", "Go. Stay.", False),
        ("at most 3 words, 'river' among them", "The River bends", True),
        ("at most 3 words, 'river' among them", "The rivers bend", False),
        ("at most 3 words, '' among them", "so", False),
        ("at most 3 words, '' among them", "so ..", True),
    ],
)
def test_words_and_more(sentence: str, response: str, expected: bool) -> None:
    assert holds("Words", sentence, response) is expected


TABLE = "| Hill | Note |\n|---|---|\n| Old Crag | steep and long |\n| Fell | |"

# sentence, response, whether it holds
EACH_WORDS: list[tuple[str, str, bool]] = [
    ("Each hill must have at most 2 words", TABLE, True),
    ("Each hill must have at most 1 word", TABLE, False),  # "1 word" is not read, "words" is
    ("Each note must have at most 2 words", TABLE, False),
    ("Each cell must have at most 2 words", TABLE, False),  # no such column: all cells
    ("Each cell must have at most 3 words", TABLE, True),
    ("Each hill must have between one and 2 words", '{"hill": "Old Crag"}', True),
    ("Each hill must have between one and 2 words", '{"hill": "Old long Crag"}', False),
    ("Each hill must have at least 1 words", '{"fell": "Crag"}', False),
    ("Each entry must have at least 2 words", '{"a": "Old Crag", "b": 7}', False),
    ("Each entry must have at least 1 words", "[1, 2]", False),
    ("Each entry must have at least 1 words", "[1, 2", False),
    ("each, in range: 1-2 words", '{"a": 1}', False),  # no noun to look for
    ("Each line must have exactly 2 words", "1. Top: Old Crag\n2. Low Fell", True),
    ("Each line must have exactly 2 words", "1. Top: Old Crag\n2. Fell", False),
    ("Each line must have a minimum of 2 words", "- Old Crag\n* Low Fell\nand", True),
    ("Each line must have a minimum length of 2 words", "- Old Crag\n- Fell", False),
    ("Each line must have less than 2 words", "# Crag\nHills and fells:\n\nFell\n| a b c |x", False),
    ("Each line must have less than 4 words", "# Crag\n**The list of hills here:**\n\nFell", True),
    ("Each line must have not exceeding 1 words", "#  Crag", True),
    ("Each line must not exceed 1 words", "Old Crag", False),
    ("Each line must have no more than 1 words", "", False),
    ("Each line must have a maximum of 1 words", "Crag", True),
    ("Each line must have a maximum length of 1 words", "Crag", True),
    ("Each line must have a limit of 1 words", "Old Crag", False),
    ("Each line must be short", "Crag", False),
    ("Each word must be at most 4 characters long", "Old Crag", True),
    ("Each word must be at most 4 characters long", "Tall Crags", False),
    (
        "Each word must be at least 3 characters long",
        "Old  Crag",
        False,
    ),  # an empty word is between two blanks
    ("Each word must be At Most 4 characters long", "Old Crag", False),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), EACH_WORDS)
def test_words_of_each(sentence: str, response: str, expected: bool) -> None:
    assert holds("Words", sentence, response) is expected


# sentence, numbers of sentence marks that it allows up to 12
SENTENCES: list[tuple[str, set[int]]] = [
    ("Exactly: 2 sentences", {2}),
    ("exactly two topic sentences", {2}),
    ("It must contain two sentences", {2}),
    ("It should be a single sentence", {1}),
    ("consisting of only one sentence", {1}),
    ("in a single sentence", {1}),
    ("at least: 12 sentences", {12}),
    ("a minimum of twelve sentences", {12}),
    ("no fewer than 12 sentences", {12}),
    ("至少包含十句话", {10, 11, 12}),
    ("at most 3 sentences each, contain at most 1 sentence", {0, 1}),
    ("at most 1 sentence", {0, 1}),
    ("not exceeding 1 sentence", {0, 1}),
    ("no longer than 1 sentence", {0, 1}),
    ("limited to 1 sentence", {0, 1}),
    ("must not exceed 1 sentence", {0, 1}),
    ("a maximum length of 1 sentence", {0, 1}),
    ("not to exceed 1 sentence", {0, 1}),
    ("not surpass a total of 1 sentence", {0, 1}),
    ("至多一个句子", {0, 1}),
    ("Range: 2-3 sentences", {2, 3}),
    ("between two and 3 sentences", {2, 3}),
    ("between 2 to 3 sentences", {2, 3}),
    ("cut into 2 to 3 sentences", {2, 3}),
    ("a range of 2 to 3 sentences", {2, 3}),
    ("be composed of 2 to 3 sentences", {2, 3}),
    ("consists of 2 to 3 sentences", {2, 3}),
    ("consisting of 2 to 3 sentences", {2, 3}),
    ("二到三句", {2, 3}),
    ("between 3 and 2 sentences", set()),
    ("at least 11 and at most 12 sentences", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
    ("at least 11 sentences and at most 1 sentence", {11, 12}),  # only one bound is read
    ("a few sentences", set(range(13))),
]


@pytest.mark.parametrize(("sentence", "allowed"), SENTENCES)
def test_sentences(sentence: str, allowed: set[int]) -> None:
    assert {count for count in range(13) if holds("Sentences", sentence, "So?" * count + " so")} == allowed


def test_marks_are_counted_not_sentences() -> None:
    assert holds("Sentences", "exactly 7 sentences", "Wait... 3.14! Why? Dr. No。")


# sentence, numbers of paragraphs that it allows up to 11
PARAGRAPHS: list[tuple[str, set[int]]] = [
    ("exactly two paragraphs", {2}),
    ("must contain 2 paragraphs", {2}),
    ("must be a single paragraph", {1}),
    ("at least ten paragraphs", {10, 11}),
    ("At least: 10 paragraphs", {10, 11}),
    ("a minimum of ten distinct paragraphs", {10, 11}),
    ("at most 1 paragraph", {0, 1}),
    ("not exceeding one paragraph", {0, 1}),
    ("no more than 1 paragraph", {0, 1}),
    ("最多分为两个段落", {0, 1, 2}),
    ("range 2-3 paragraphs", {2, 3}),
    ("Range: 2-3", {2, 3}),
    ("between 2 and 3 paragraphs", {2, 3}),
    ("between 2 to 3 paragraphs", {2, 3}),
    ("2 to 3 paragraphs", {2, 3}),
    ("between two and three paragraphs", set()),
]


@pytest.mark.parametrize(("sentence", "allowed"), PARAGRAPHS)
def test_paragraphs(sentence: str, allowed: set[int]) -> None:
    assert {count for count in range(12) if holds("Paragraphs", sentence, "So.\n\n" * count)} == allowed


@pytest.mark.parametrize("break_", ["\n", "\n \n", "\r\n\r\n"])
def test_only_two_line_feeds_part_paragraphs(break_: str) -> None:
    assert holds("Paragraphs", "exactly 1 paragraph", f"One{break_}two\n\n\n\n")
