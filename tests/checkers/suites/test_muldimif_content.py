"""`muldimif:constraint` on content: keywords, punctuation, beginnings and sources."""

from __future__ import annotations

import pytest

from rubricate_checkers import Text, build, evaluate


def holds(subcategory: str, constraint: str, response: str) -> bool:
    kwargs = {"category": "Content", "subcategory": subcategory, "constraint": constraint}
    return evaluate(Text(response), build("muldimif:constraint", kwargs)).holds


TABLE = "| Place | Note on it |\n|---|---|\n| # Fell | a long river |\n| Crag | no river |"

# sentence, response, whether it holds
KEYWORDS: list[tuple[str, str, bool]] = [
    ("Include 'river' and 'bank'", "The RIVER has a bank.", True),
    ("Include 'river' and 'bank'", "The rivers have a bank.", False),
    ("Include 'river' or 'bank'", "A bank.", True),
    ("Include 'river' or 'bank'", "A brook.", False),
    ("Include a river or a bank", "A river.", False),  # any of no keywords
    ("Include a river", "Nothing", True),  # all of no keywords
    ('Include ""river"", ""the bank\'s edge"" and so on', "River, the bank's edge", True),
    ('Include ""river"", ""the bank\'s edge"" and so on', "River, the banks edge", False),
    ('"Include ""river"" and ""bank"""', "river", True),  # the last one loses its quotation marks
    ("\"Include 'river'\"", "a river", True),
    ("必须包含「河」", "小河水", True),
    ("必须包含「河」", "小山", False),
    ("Include 'C++'", "C++!", True),
    ("Include 'C++'", "C++x", False),
    ("Include 'river' at least twice", "river, River", True),
    ("Include 'river' at least two times", "river", False),
    ("Include 'river', which must appear multiple times", "river", False),
    ("Include 'river', at least 3 words long", "the river", False),
    ("Include 'river', at least 3 words long", "the old river", True),
    ("Include 'river' in at least 2 words", "old river", False),  # and twice, too
    ("Include 'river' in no more than two words", "the river", True),
    ("Include 'river' in no more than two words", "the old river", False),
    ("It is a single word, 'river'", "river", True),
    ("It is a single word, 'river'", "a river", False),
    ("Must include 'river' and must end with a period", "A river. ", True),
    ("Must include 'river' and must end with period", "A river", False),
    ("Must use capitalized letters for each word and include 'river'", "The River", True),
    ("Must use capitalized letters for each word and include 'river'", "The river", False),
    ("Must use capitalized letters for each word and include 'river'", "2 Rivers, 1 River", False),
    ("Avoid using the term 'river'", "a brook", True),
    ("Avoid using term 'river' or 'bank'", "a bank", True),  # only the first one
    ("'river' must be avoided", "A River", False),
    ("'river' must be avoided", "Rivers", True),
    ("A reply that includes the keyword 'bank' and avoids the keyword 'river'", "a bankside", True),
    ("A reply that includes the keyword 'bank' and avoids the keyword 'river'", "a Bank", False),
    ("A reply that includes the keyword 'bank' and avoids the keyword 'river'", "a bank, rivers", False),
]

IF_A_TOPIC = "If discussing {}, the summary must include the keyword 'tax'."
KEYWORDS += [
    (IF_A_TOPIC.format("land"), "land and taxes", True),
    (IF_A_TOPIC.format("land"), "land", False),
    (IF_A_TOPIC.format("land"), "Land", True),
    (IF_A_TOPIC.format("city land/water laws"), "city water laws", False),
    (IF_A_TOPIC.format("city land/water laws"), "city laws", True),
    (IF_A_TOPIC.format("land / water"), "water", False),
    (IF_A_TOPIC.format("land") + " " + IF_A_TOPIC.format("sea"), "land tax", True),
]

KEYWORDS += [
    ("Each note must include 'river'", TABLE, True),
    ("Each place must include 'river'", TABLE, False),
    ("Every word must include 'river'", TABLE, True),  # no such column: the wordiest one
    ("Each place must include 'fell' or 'crag', at most one word", TABLE, True),  # without the `#`
    ("Each note must include 'river'", "| Note |\n| a river |", False),  # no rule, no rows
    ("Each note must include 'river'", "|\n|\n|", False),
    ("Each note must include 'river'", '{"a": "a river", "b": ["river"]}', True),
    ("Each note must include 'river'", '[{"river": 1}, 2]', False),
    ("Each note must include 'river'", '{"a": "a river"', False),
    ("Each note must include 'river'", "{}", False),
    ("Each note needs to include 'river'", "1. a river\nso\n2. River 3", True),
    ("Each note has to include 'river'", "1. a river\n2. a bank", False),
    ("Each note should include 'river' in at most 2 words", "- a river\n* River", True),
    ("Each note should include 'river' in at most 2 words", "- a river\n  * a River", False),  # and a star
    ("Each note should include 'river'", "- a river\n* the River", True),
    ("Each note must include 'river'", "a river\n---\nthe River\n ===", True),
    ("Each note must include 'river'", "a river\n***\nthe bank", False),
    ("Each note must include 'river'", "a river\n-*-\nthe bank", True),
    ("Each note must include 'river'", "---", False),
    ("Include 'river' in each note", "a river", False),  # says nothing of what each one must
    ("Must use capitalized letters for each word, include 'river'", "- river", False),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), KEYWORDS)
def test_keywords(sentence: str, response: str, expected: bool) -> None:
    assert holds("Keywords", sentence, response) is expected


CELLS = "| A | B |\n|---|---|\n| Go. | Stay. |"

PUNCTUATION: list[tuple[str, str, bool]] = [
    ("The reply ends with a period", "So it is. ", True),
    ("The reply ends with a period", "Is it so?", False),
    ("The reply ends with a period", "", False),
    ("End with question marks or a semicolon", "so;", True),
    ("End with question marks or a semicolon", "so!", False),
    ("End with an exclamation mark", "so!", True),
    ("End with a punctuation mark", "so)", True),
    ("End with a punctuation mark", "so”", False),
    ("The reply must not end with a period", "so", True),
    ("The reply must not end with a period", "so.", False),
    ("The reply must not end with a period", " ", True),
    ("Do not use punctuation marks", "so~", False),
    ("End with a period followed by a `~`", "so.~", True),
    ("End with a period followed by a `~`", "so~", False),
    ("Each sentence ends with a period", "It rains. Dr. Ash stays.", True),
    ("Each sentence ends with a period", "It rains! We stay.", False),
    ("Each sentence ends with a period", "", True),
    ("A small reply ends with a period", "It rains! We stay.", False),  # "all" is in "small"
    ("Each paragraph ends with a period", "It rains! We stay.\n\nSo.", True),
    ("Each section ends with a period", "Rain\nWe stay.", False),
    ("Each cell ends with a period", CELLS, True),
    ("Each cell ends with a period", CELLS.replace("Stay.", "Stay"), False),
    ("Each cell ends with a period", "| Go. |", True),
    ("Each cell ends with a period", "Go\n\nStay", False),
    ("Each bullet point ends with a period", "Rain\n- Go. Stay.\n* Wait.", True),
    ("Each bullet point ends with a period", "- Go! Stay.", False),
    ("Each bullet point ends with a period", "  - Go!", False),
    ("Each bullet point ends with a period", "so\n  - Go!", True),  # indented ones are not looked at
    ("Each bullet point ends well", "• Go!", True),
    ("Each bullet point ends well", "• Go", False),
    ("Each sentence ends well", "So.", False),  # no mark is named
    ("Avoid a bad end", "So.", True),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), PUNCTUATION)
def test_punctuation(sentence: str, response: str, expected: bool) -> None:
    assert holds("Punctuation", sentence, response) is expected


AT_THE_END = "End identifier: Sources must be cited at the end of the response"
CITED = "Must provide sources that are cited"

IDENTIFIERS: list[tuple[str, str, bool]] = [
    ("Keep it a paragraph long", "One line.", True),
    ("Keep it a paragraph long", "Two\nlines.", False),
    ("Start identifier: 'Well then'", "## well then, go", True),
    ("Start identifier must be 'Well then'", "Then, well", False),
    ("Start identifier: Each example must start with the word 'So:'", "Now: So:", True),
    ("Start identifier: Each example must start with the word 'So:'", "so: so:", False),
    ("Begin by the phrase 'Well then'", "Well Then", True),
    ("it is essential to start with the identifier Well", "Now", False),
    (AT_THE_END, "Facts.\nSources: a book \n", True),
    (AT_THE_END, "Facts.\nSources:\n\na book", True),
    (AT_THE_END, "Sources:\na book\nand more", False),
    (AT_THE_END, "Facts. Sources:", False),
    ("The name of the showroom must start with the letter 'q'.", "At Quill House", True),
    ("The name of the showroom must start with the letter 'q'.", "at quill house", False),
    ("Response must be written as a short blurb", "a" * 200, True),
    ("The response must be short and simple", "a" * 201, False),
    ("The response should be concise, with a maximum of 50 words", "so " * 50, True),
    ("The response should be concise, with a maximum of 50 words", "so " * 51, False),
    ("Each sentence must include at least three emojis.", "Go 🚲 to 🚲 it 🚲. 🚲 a 🚲 b 🚲!", True),
    ("Each sentence must include at least three emojis.", "Go 🚲🚲🚲!", False),  # one run
    ("Each sentence must include at least three emojis.", "Go 🚲 to 🚲 it 🚲. Stay.", False),
    ("It must mention an old mill and the pond", "The pond by an old mill: the pond", True),
    ("It must mention an old mill and the pond", "an old mill, a pond", False),
    ("Must include quotes from the sources", "It’s so", True),
    ("with quotes from these sources", "It is so", False),
    (CITED, "So [1].\nSources: a book", True),
    (CITED, "So.\nSources: a book", False),
    (CITED, "So [1].\nSources: a book\n", True),
    (CITED, "So [1].\nSources: a book\n\n", False),
    ("It must include in-text citations", "So (Ash, 1999).", True),
    ("It must include in-text citations", "So (Ash 1999).", False),
    ("It must be in full sentences", "no", True),
    ("It must rhyme", "So, no.", False),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), IDENTIFIERS)
def test_identifiers(sentence: str, response: str, expected: bool) -> None:
    assert holds("Identifiers", sentence, response) is expected
