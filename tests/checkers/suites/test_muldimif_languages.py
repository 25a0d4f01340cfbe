"""`muldimif:constraint` on languages: case of English text, kinds of Chinese."""

from __future__ import annotations

import sys

import pytest

from rubricate_checkers import MissingData, Text, build, evaluate
from rubricate_checkers.suites.muldimif import chinese


def holds(subcategory: str, constraint: str, response: str) -> bool:
    kwargs = {"category": "Language", "subcategory": subcategory, "constraint": constraint}
    return evaluate(Text(response), build("muldimif:constraint", kwargs)).holds


TABLE = "| BIG | NAMES |\n|---|---|\n| so | go |"
JSON = '{"SO": "go", "NO": 1}'

# sentence, response, whether it holds
ENGLISH: list[tuple[str, str, bool]] = [
    ("in all uppercase letters", "SO 1!", True),
    ("in all-uppercase letters", "So", False),
    ("in capitalized form", "So", False),
    ("entirely in uppercase letters", "SO", False),  # not understood
    ("in all uppercase letters", " ", False),
    ("capitalize the first letter of each word", "So It Is", True),
    ("capitalize the first letter of each word", "So it Is", False),
    ("each word in upper style", "1 Étude -no", True),
    ("each word in upper style", "one", False),
    ("capitalized", "Ünder ünder", True),  # only a-z must not begin a word
    ("a capital letter for each word", "So go", False),
    ("in lowercase", "so go", True),
    ("all lowercases", "So", False),
    ("be written as a short blurb", "so", True),
    ("be written as a short blurb", " ", False),
    ("in rhyme", "so", False),
    ("table headers in all uppercase", TABLE, True),
    ("table entries in lowercase", TABLE, True),
    ("table entries in lowercase", "| SO", False),
    ("table in lowercase", TABLE, False),
    ("table headers and headings in all uppercase", TABLE, False),
    ("table in lowercase", "So", False),
    ("json keys in all uppercase", JSON, True),
    ("json values in lowercase", JSON, True),
    ("json in lowercase", JSON, False),
    ("json keys in all uppercase", '"SO": "go"', False),
    ("json keys in all uppercase", "{so}", False),
    ("headings in all uppercase", "# SO\ngo\n##\nGO", True),
    ("headings in all uppercase", "# So", False),
    ("headings in all uppercase", "so", False),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), ENGLISH)
def test_english(sentence: str, response: str, expected: bool) -> None:
    assert holds("English", sentence, response) is expected


SIMPLIFIED, TRADITIONAL, SHARED = "这里下雨", "這裡下雨", "下雨"

CHINESE: list[tuple[str, str, bool]] = [
    ('Must include the phrase "下雨" in Simplified Chinese', TRADITIONAL, True),
    ('Must include the phrase ""下雪"" in Simplified Chinese', SIMPLIFIED, False),
    ('Must write the name "Shen Lim" in Simplified Chinese', "他叫沈林", True),
    ('Must write the name "Shen Lim" in Simplified Chinese', SIMPLIFIED, False),
    ("Must use Traditional Chinese characters", TRADITIONAL, True),
    ("Must convert into Traditional Chinese characters", SIMPLIFIED, False),
    ("Must be converted into Traditional Chinese characters", f"{TRADITIONAL} Rain", False),
    ("Must use Traditional Chinese characters", SHARED, True),
    ("include some Traditional Chinese characters", f"{TRADITIONAL} rain", True),
    ("use some Traditional Chinese characters", SHARED, False),
    ("請使用繁體中文", SIMPLIFIED, False),
    ("include some content in Simplified Chinese", f"{SIMPLIFIED} {TRADITIONAL}", True),
    ("Use Simplified Chinese characters", TRADITIONAL, False),
    ("The reply must be in Simplified Chinese", SIMPLIFIED, True),
    ("The reply must be in Simplified Chinese", SHARED, False),  # nothing that Traditional writes otherwise
    ("必须用简体中文", SIMPLIFIED, True),
    ("用中文简体描述", TRADITIONAL, False),
    ("Must translate the text into Simplified Chinese", SIMPLIFIED, True),
    ("Must translate the text into Simplified Chinese", SHARED, True),
    ("Must translate the text into Simplified Chinese", f"{SIMPLIFIED}a", False),
    ("Simplified, please", SIMPLIFIED, True),
    ("Simplified, please", "rain", False),
    ("in Chinese", SIMPLIFIED, False),
]


@pytest.mark.parametrize(("sentence", "response", "expected"), CHINESE)
def test_chinese(sentence: str, response: str, expected: bool) -> None:
    assert holds("Chinese", sentence, response) is expected


def test_missing_conversion_tables_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zhconv", None)
    chinese._converter.cache_clear()
    with pytest.raises(MissingData, match="pip install zhconv"):
        holds("Chinese", "Use Simplified Chinese characters", SIMPLIFIED)
