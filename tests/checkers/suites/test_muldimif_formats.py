"""`muldimif:constraint` on formats: Markdown, tables, JSON, XML and others."""

from __future__ import annotations

import pytest

from rubricate_checkers import Text, build, evaluate


def holds(subcategory: str, constraint: str, response: str) -> bool:
    kwargs = {"category": "Format", "subcategory": subcategory, "constraint": constraint}
    return evaluate(Text(response), build("muldimif:constraint", kwargs)).holds


ONE_TWO = "# Hills\n## Fells\nso"
TWO_TWO = "## Hills\n##\tFells "
LEVELS = "# a\n## b\n### c"

# sentence, response, whether it holds
MARKDOWN: list[tuple[str, str, bool]] = [
    ("include headings at two levels: main and subheadings", ONE_TWO, True),
    ("be structured with a main heading and subheadings", TWO_TWO, False),
    ("Questions must be organized under a level 2 heading.", "# Hills\n## Which?", True),
    ("Questions must be organized under a level 2 heading.", "# Which?", False),
    ("Questions must be organized under a level 2 heading.", "Which?", False),
    ("include a single level 1 heading", ONE_TWO, True),
    ("include a single level 1 heading", "# a\n# b", False),
    ("be structured using a minimum of two heading levels", ONE_TWO, True),
    ("include headings at two levels", TWO_TWO, False),
    ("use heading levels 1 and two", ONE_TWO, True),
    ("use heading levels 1 and 3", ONE_TWO, False),
    ("use heading levels, level 2 for parts, level 3 for the rest", LEVELS, True),
    ("use heading levels, level 2 for parts, level 4 for the rest", LEVELS, False),
    ("must include a heading level 1, a heading level 3", LEVELS, True),
    ("must include a heading level 1, a heading level 3", ONE_TWO, False),
    ("parts should be H1, details H3", LEVELS, True),
    ("parts should be H1, details H4", LEVELS, False),
    ("it should have Level 2 for parts", TWO_TWO, True),
    ("it should have Level 3 for parts", TWO_TWO, False),
    ("a level 2 heading titled 'Fells'.", ONE_TWO, True),
    ("a level 1 heading titled 'Fells'.", ONE_TWO, False),
    ("a part titled so, with a level 2 heading with the text 'Fells'", ONE_TWO, True),
    ("use a level 3 heading for what is titled", ONE_TWO, False),
    ("use at least 2 heading level 2", ONE_TWO, True),
    ("use at least 2 heading level 3", ONE_TWO, False),
    ("include two level 2 heading lines", ONE_TWO, True),  # one is enough
    ("include a level 3 heading", ONE_TWO, False),
    ("must use a heading level of H2", ONE_TWO, True),
    ("use exactly two heading levels", ONE_TWO, True),
    ("use exactly two levels", LEVELS, False),
    ("use at least 3 heading levels", ONE_TWO, False),
    ("use up to two heading levels", LEVELS, False),
    ("use a maximum of two heading levels", "no heading", True),
    ("use under two heading levels", ONE_TWO, True),
    ("Heading levels must not exceed 2", ONE_TWO, True),
    ("Heading levels must be limited to level 2", LEVELS, False),
    ("Heading levels must not exceed 2", "no heading", False),
    ("must begin with a level 2 heading", TWO_TWO, True),
    ("must begin with a level 2 heading", ONE_TWO, False),
    ("Use Heading Level 1", TWO_TWO, False),
    ("Present parts with headings", "####### deep", True),
    ("Present parts with headings", "#hash", False),
    ("Present parts with headings", "#", False),
    ("Each part must include a level 2 heading", TWO_TWO, True),
    ("Each part must include a level 2 heading", ONE_TWO, False),
    ("In many ways, use a level 2 heading", ONE_TWO, False),  # "any" is in "many"
    ("Each part must shine", "so", False),
    ("Each part must shine", "# so", True),
    ("It must shine", "so", True),
    ("make it bold", "a **b** c", True),
    ("make it bold", "a __b__ c", True),
    ("make it bold", "a **b\n** c", False),
    ("make it bold", "a *** c", False),
    ("use bullet points", "so\n + go", True),
    ("use bullet points", "so\n +go", False),
    ("use block quotes", "so\n  > go", True),
    ("use block quotes", "so", False),
    ("at least two block quotes", "> so\n\n> go", True),
    ("at least two block quotes", "> so", False),
    ("be set in block quotes", "> so\n> go", True),
    ("be set in block quotes", "> so\n\n> go", False),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), MARKDOWN)
def test_markdown(sentence: str, response: str, expected: bool) -> None:
    assert holds("Markdown", sentence, response) is expected


def test_only_a_comma_between_word_characters_starts_a_clause() -> None:
    assert not holds("Markdown", "include a level 1 heading,include a level 3 heading", ONE_TWO)
    assert holds("Markdown", "include a level 1 heading, include a level 3 heading", ONE_TWO)


def table(rows: int, columns: int = 2, rule: bool = True) -> str:
    line = "|" + " so |" * columns + "\n"
    return line + (("|" + "---|" * columns + "\n") if rule else "") + line * rows


ROWS: list[tuple[str, set[int]]] = [
    ("a table with exactly two rows", {2}),
    ("a table of no more than 1 row", {0, 1}),
    ("a table may not have more than 1 row", {0, 1}),
    ("a table must not exceed 1 row", {0, 1}),
    ("a table that does not exceed one row", {0, 1}),
    ("a table not exceeding 1 row", {0, 1}),
    ("a table with a row limit of 1", {0, 1}),
    ("Two rows must be included in the table", {2}),
    ("a table of exactly 2 columns and 2 rows", {2}),
    ("a table may not exceed 3 columns and 1 row", {0, 1}),
    ("a table with a maximum of 1 rows", {0, 1}),
    ("a table limited to 1 rows", {0, 1}),
    ("a table with a maximum of 2 columns and 1 row", {0, 1}),
    ("a table; limit the number of rows to 1", {0, 1}),
    ("a table; limit it to 1 rows", {0, 1}),
    ("limit the table to 1 rows", {0, 1}),
    ("so that the number of rows in each table does not exceed one", {0, 1}),
    ("a table with few rows", {0, 1, 2, 3, 4}),
]


@pytest.mark.parametrize(("sentence", "allowed"), ROWS)
@pytest.mark.parametrize("rule", [True, False])
def test_table_rows(sentence: str, allowed: set[int], rule: bool) -> None:
    assert {rows for rows in range(5) if holds("Table", sentence, table(rows, rule=rule))} == allowed


COLUMNS: list[tuple[str, set[int]]] = [
    ("a table with exactly two columns", {2}),
    ("a table of no more than 1 column", {1}),
    ("a table with a column limit of 1", {1}),
    ("a table of exactly 1 row and 2 columns", {2}),
    ("a table in three columns", {3}),
    ("a table may not exceed 3 rows and 1 column", {1}),
    ("a table with a maximum of 1 columns", {1}),
    ("a table, maximum 1 columns", {1}),
    ("a table of at most 1 columns", {1}),
    ("a table limited to 1 columns", {1}),
    ("a table; limit the number of columns to 1", {1}),
    ("a table as one single column", {1}),
    ("a table with few columns", {1, 2, 3}),
]


@pytest.mark.parametrize(("sentence", "allowed"), COLUMNS)
def test_table_columns(sentence: str, allowed: set[int]) -> None:
    assert {columns for columns in (1, 2, 3) if holds("Table", sentence, table(1, columns))} == allowed


BOOKS = "| Title | Author | Year of issue |\n|---|---|---|\n| Fells | Ash | 1999 |"

TABLES: list[tuple[str, str, bool]] = [
    ("Use a table", "none", False),
    ("If you use a table, give it exactly 1 row", "none", True),
    ("If you choose to include any tables, give them exactly 1 row", "none", True),
    ("If tabular data are presented, give it exactly 1 row in a table", "none", True),
    ("If there is a table used, give it exactly 1 row", "none", True),
    ("Give exactly 1 row", "none", True),
    ("Give exactly 1 row", BOOKS, True),
    ("Give exactly 1 row", BOOKS + "\nand\n| more |", False),  # all up to the last border is the table
    ("a table of exactly 1 row", "a | b", False),
    ("a table of at most 3 columns", "a | b", False),
    ("a Markdown table", BOOKS, True),
    ("a table of no more than 1 row", "a | b", True),
    ("a Markdown table", "a | b", False),
    ("a table whose title must not exceed five words", BOOKS, False),  # borders are words, too
    ("a table whose title must not exceed seven words", BOOKS, True),
    ('a table with columns for "Title," and "Author"', BOOKS, True),
    ('a table with columns for "Title of the book"', BOOKS, True),
    ('a table with columns for "Price"', BOOKS, False),
    ('a table with "Year" in it', BOOKS, True),
    ('a table with "Year of issue and more" in it', BOOKS, False),
    ("a table; columns should be title, year", BOOKS, True),
    ("a table; columns should be brand", BOOKS.replace("Title", "Break"), True),  # looks for "br"
    ("a table; columns should be brand", BOOKS, False),
    ("a table with columns: 'Title', 'Year'", BOOKS, True),
    ("a table with columns: 'Price'", BOOKS, False),
    ('the table must include columns named "Title"', BOOKS, False),  # looks for "me"
    ('the table must include columns named "Title"', BOOKS.replace("Title", "Name"), True),
    ("in the table, each series must include title, author and year", BOOKS, True),
    ("in the table, each series must include title, author and year", BOOKS.replace("Year", "Day"), False),
    ("in the table, each series must include title and author", BOOKS, True),
    ("in the table, each series must include title and author", BOOKS.replace("Author", "By"), False),
    ("in the table, each row must include film title and release year", BOOKS, True),
    ("in the table, each row must include film title and release year", BOOKS.replace("Year", "Day"), False),
    ("in the table, each row must include the fells, ash and its year", BOOKS, True),
    ("in the table, each row must include the price", BOOKS, False),
    ("in the table, each item must include the title and its price tag", BOOKS, False),
    ("in the table, each book must include the title and its price tag", BOOKS, False),
    ("in the table, each item should be presented in fells", BOOKS, True),
    ("in the table, each item should be presented in lakes", BOOKS, False),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), TABLES)
def test_tables(sentence: str, response: str, expected: bool) -> None:
    assert holds("Table", sentence, response) is expected


def nested(levels: int) -> str:
    return '{"a": ' * levels + "[]" * (levels > 0) + "1" * (levels == 0) + "}" * levels


JSON: list[tuple[str, set[int]]] = [
    ("exactly two levels of nesting", {2}),
    ("structured as a JSON object with a nesting level of 2", {2}),
    ("a JSON example with exactly 2 levels", {2}),
    ("object nesting levels must be two", {2}),
    ("a nesting level of 2", {2}),
    ("be limited to two levels of nesting", {2}),
    ("must not exceed 1 level of nesting", {0, 1}),
    ("no more than 1 level", {0, 1}),
    ("a maximum of 1 nesting levels", {0, 1}),
    ("a maximum of 1 object nesting levels", {0, 1}),
    ("a maximum of 1 levels", {0, 1}),
    ("does not exceed 1 levels", {0, 1}),
    ("levels not exceeding 1", {0, 1}),
    ("with the structure not exceeding 1 levels", {0, 1}),
    ("object nesting levels must not exceed 1", {0, 1}),
    ("at least two levels of nesting and at most 3", {2, 3}),
    ("at least three levels deep", {3, 4}),
    ("must include a JSON object with at least 3 levels", {3, 4}),
    ("a maximum of 3 levels and at least two", {2, 3}),
    ("no more than 3 levels, no more than 1 level", {0, 1}),
    ("be nested", set()),
]


@pytest.mark.parametrize(("sentence", "allowed"), JSON)
def test_json(sentence: str, allowed: set[int]) -> None:
    assert {levels for levels in range(5) if holds("Json", sentence, nested(levels))} == allowed


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ('Here:\n```json\n{"a": [1]}\n```\nand ```json\n1\n```', True),
        ('{"a": [1]} so', False),
        ('```json\n{"a": [1]}', False),
        ("null", False),
        ('{"a": [NaN]}', True),
        ("[" + "9" * 5000 + "]", False),
    ],
)
def test_what_is_json(response: str, expected: bool) -> None:
    assert holds("Json", "at least 1 level deep", response) is expected


FENCED = "```xml\n<a b='1'/>\n```\n<c d='1' e='2'/>"

OTHERS: list[tuple[str, str, bool]] = [
    ("no more than one attribute", '<a b="1"></a>', True),
    ("no more than one attribute", "<a b='1' c='2'/>", False),
    ("no more than one attribute", FENCED, True),
    ("no more than one attribute", "```xml\n<a/>", False),
    ("no more than one attribute", "<a b='1' c=2>", True),  # not read as a tag
    ("it must not exceed one of the attributes", "<a b='1' c='2'/>", False),
    ("Limit the number of attributes to two", "<a b='1' c='2'/>", True),
    ("Limit the number of attributes to two", "<a b='1' c='2'/><d>", False),
    ("Number of attributes must be exactly 1", "<a\n x-y:z='1' >", True),
    ("Number of attributes must be exactly 1", "< a>", False),
    ("must have exactly one attribute", "", True),
    ("must include exactly 1 attribute", "<a/>", False),
    ("at least 1 attribute", "<a/>", False),
    ("at least 1 attribute", "<a b=''>", True),
    ("Must include 'an end'", "An End.", True),
    ("Must include 'an end'", "an ending", False),
    ("Must be in APA format", "So ( Ash, 1999 ).", True),
    ("must be provided in APA format", "So (Ash 1999).", False),
    ("No bullet points", "so -", True),
    ("No bullet points", "so\n\n  - go", False),
    ("Must be listed as bullet points", "so\n*go", True),
    ("the text is structured as bullet points", "so", False),
    ("in block quotes format", "so\n> go", True),
    ("in block quotes format", "so\n > go", False),
    ("be formatted in block quotes", "<BlockQuote>so", True),
    ("no more than 2 rows", "|a|\n|---|\n| - |\n|b|", True),
    ("no more than 1 rows", "|a|\n|b|", False),
    ("no more than 1 rows", "||\n|b|", False),
    ("a table, which is limited to a maximum of one rows", "<tr><TR>", False),
    ("in full sentences", "no", True),
    ("a short blurb", "a" * 201, False),
    ("The answer must include at least two references", "[1] (Ash, 1999)", True),
    ("The answer must include at least two references", "[1] [a]", False),
    ("No lists", "so 1. go", True),
    ("No lists", "so\n 1.\ngo", False),
    ("No lists", "1.go", True),
    ("No number points", "\n\t1.go", False),
    ("No number points", "so 1.go", True),
    ("Response must be written at medium length", "a" * 200, False),
    ("Response must be written at medium length", "a" * 201, True),
    ("Response must be written at medium length", "a" * 401, False),
    ("in rhyme", "so, no", False),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), OTHERS)
def test_others(sentence: str, response: str, expected: bool) -> None:
    assert holds("Text", sentence, response) is expected
