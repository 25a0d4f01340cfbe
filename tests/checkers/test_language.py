"""langdetect and its faster twin."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import langdetect
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricate_checkers import MissingData, Text, build, evaluate, language

TEXTS = [
    "The ferry leaves at eight.",
    "THE FERRY LEAVES AT EIGHT.",
    "Le bateau part à huit heures, et nous aussi.",
    "Das Boot fährt um acht.",
    "El barco sale mañana",
    "Лодка уходит в восемь часов",
    "船は八時に出ます",
    "배는 여덟 시에 떠난다",
    "القارب يغادر في الساعة الثامنة",
    "नाव आठ बजे निकलती है",
    "hi",
    "ok ok ok",
    "$x^2+y^2=z^2$",
    "1234",
    "",
    "👍🏽",
    "see http://example.org/path or me@example.org",
    "İstanbul ıI ſtraße ẞ",
    "a" * 20_000,
    "one two three " * 900 + "vier fünf sechs " * 900,
]


@pytest.fixture(autouse=True)
def _own_detector() -> Iterator[None]:
    yield
    language.detector.cache_clear()


def test_both_backends_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    language.detector.cache_clear()
    fast = language.detector()
    monkeypatch.setitem(sys.modules, "langdetect_rs", None)
    language.detector.cache_clear()
    slow = language.detector()
    assert fast is not slow
    assert [slow(text) for text in TEXTS] == [fast(text) for text in TEXTS]


def test_detection_repeats_itself() -> None:
    language._remembered.cache_clear()
    first = [language.detect(text) for text in TEXTS]
    language._remembered.cache_clear()
    assert [language.detect(text) for text in reversed(TEXTS)] == first[::-1]


def test_no_features_is_none_and_holds() -> None:
    assert language.detect("12:30") is None
    verdict = evaluate(Text("12:30"), build("language:response_language", {"language": "de"}))
    assert verdict.holds
    assert verdict.observed == "no language to be seen"


def test_no_backend_is_missing_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langdetect_rs", None)
    monkeypatch.setitem(sys.modules, "langdetect", None)
    language.detector.cache_clear()
    with pytest.raises(MissingData, match="install rubricate"):
        language.detector()


PIECES = st.sampled_from(
    ["*", "**", " ", "\n", "boat", "Boot", "le", "quai", "I", "1", ".", "http://a.b", "me@a.b", "é"]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_idle_asterisks_change_no_language(text: str) -> None:
    assert language.detect(text) == language.detector()(text)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join), st.sampled_from(sorted(language.OUTDONE)))
def test_what_is_ruled_out_is_not_detected(text: str, code: str) -> None:
    if language.rules_out(text, code):
        assert language.detector()(text) not in (None, code)


def test_english_is_ruled_out_as_japanese() -> None:
    assert language.rules_out("The boat", "ja")
    assert language.rules_out("The boat’s late – “again”", "th")
    assert not language.rules_out("The boat", "ru")
    assert not language.rules_out("THE", "ja")
    assert not language.rules_out("The bоat", "ja")  # one letter is Cyrillic
    assert not language.rules_out("a " + "—" * 9, "ja")  # langdetect takes such letters out


def _frequencies() -> dict[str, dict[str, float]]:
    """For each language, how often its profile has each n-gram that an ASCII text can have."""
    found = {}
    for file in (Path(langdetect.__file__).parent / "profiles").iterdir():
        profile = json.loads(file.read_text(encoding="utf-8"))
        found[profile["name"]] = {
            ngram: count / profile["n_words"][len(ngram) - 1]
            for ngram, count in profile["freq"].items()
            if ngram.isascii() and not ngram.isspace()
        }
    return found


def test_each_language_that_is_ruled_out_is_outdone_by_one_other() -> None:
    frequencies = _frequencies()
    for code in language.OUTDONE:
        own = frequencies.pop(code)
        assert any(
            all(other.get(ngram, 0) > frequency * 1.001 for ngram, frequency in own.items())
            for other in frequencies.values()
        ), code
        frequencies[code] = own
