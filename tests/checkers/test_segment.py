"""Sentences and tokens against nltk itself."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from rubricate_checkers import MissingData, punkt, segment
from rubricate_checkers.memo import Memo

MARKS = [*".?!,:;\"'`()[]{}<>*-“”‘’«»„@#&%$_/…–—", "...", "--", "''", "``", ". .", "?!"]
BLANKS = [" ", " ", " ", "\n", "\t", "\r\n", "\xa0", "\x1c"]
WORDS = [
    "word",
    "Word",
    "WORD",
    "I",
    "A",
    "x",
    "1",
    "12",
    "3.5",
    "12,000",
    "é",
    "É",
    "ß",
    "İ",
    "ſ",
    "𝐀",
    "中文。",
]
SHORT = ["U.S.", "Dr.", "e.g.", "p.m.", "Ph.D", "No", "etc", "O'Neil", "हिन्दी"]
APOSTROPHES = ["D's", "don't", "DON'T", "n't", "'s", "'S", "'ll", "'re", "d'ye", "more'n", "'tis", "'Twas"]
SPLIT = ["cannot", "CANNOT", "wanna", "Wanna", "gonna"]
ATOMS = [*MARKS, *BLANKS, *WORDS, *SHORT, *APOSTROPHES, *SPLIT, *WORDS, *SHORT, *APOSTROPHES]
TEXTS = st.lists(st.sampled_from(ATOMS), max_size=16).map("".join)


@cache
def reference() -> Any:
    """nltk's own splitter with the same parameters."""
    source = punkt._packaged_parameters()
    parameters = PunktParameters()
    parameters.abbrev_types = set(source.ABBREV_TYPES)
    parameters.collocations = set(source.COLLOCATIONS)
    parameters.sent_starters = set(source.SENT_STARTERS)
    parameters.ortho_context.update(source.ORTHO_CONTEXT)
    return PunktSentenceTokenizer(parameters)


def reference_tokens(text: str) -> list[str]:
    tokenize = NLTKWordTokenizer().tokenize
    return [token for start, end in reference().span_tokenize(text) for token in tokenize(text[start:end])]


@settings(max_examples=1500, deadline=None)
@given(TEXTS)
@example("Wow!\n!\n!")
@example(" .)\nA")
@example('"a." b.')
@example("1. **Title** 2. *Name*.")
def test_sentences_are_those_of_nltk(text: str) -> None:
    spans = punkt.sentence_spans(text)
    assert spans == list(reference().span_tokenize(text))
    assert len(spans) <= punkt.most_sentences(text)


@settings(max_examples=1500, deadline=None)
@given(TEXTS)
@example('""')
@example('a "" b')
@example("x\x1c'y'")
@example('He ( left . ) "')
def test_tokens_are_those_of_nltk(text: str) -> None:
    assert list(segment.tokens(text, punkt.sentence_spans(text))) == reference_tokens(text)


@settings(max_examples=2500, deadline=None)
@given(TEXTS)
@example("A D's.")
@example("'Tis so")
@example("Dn't")
@example("]U.S.wanna. b")
def test_uppercase_tokens_are_those_of_nltk(text: str) -> None:
    count = segment.uppercase_tokens(text)
    assert count is None or count == sum(map(str.isupper, reference_tokens(text)))


@pytest.mark.parametrize("text", ["A NASA plan (U.S.), I'M for.", "The END.", 'He said "NO".'])
def test_uppercase_tokens_are_mostly_counted_without_cutting(text: str) -> None:
    assert segment.uppercase_tokens(text) == sum(map(str.isupper, reference_tokens(text)))


@settings(max_examples=500, deadline=None)
@given(st.one_of(TEXTS, st.text()))
@example("\ud800a b")
def test_word_count_is_that_of_the_regex(text: str) -> None:
    assert segment.count_words(text) == len(re.findall(r"\w+", text))


def test_looking_a_word_up_does_not_grow_the_parameters() -> None:
    orthography = punkt.load().orthography
    before = len(orthography)
    punkt.sentence_spans("At 5 p.m. Qwertzuiop left. No. Asdfghjkl. See fig. Yxcvbnm.")
    assert len(orthography) == before > 10_000


@pytest.fixture
def _fresh() -> Any:
    punkt.load.cache_clear()
    yield
    punkt.load.cache_clear()


@pytest.mark.usefixtures("_fresh")
def test_nltk_of_another_minor_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.__version__", "3.10.1")
    with pytest.raises(MissingData, match=r"nltk 3.10.1 splits otherwise"):
        punkt.load()


@pytest.mark.usefixtures("_fresh")
def test_missing_parameters_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingData, match="put punkt_tab on nltk's data path"):
        punkt.load()


@pytest.mark.usefixtures("_fresh")
def test_punkt_tab_on_the_data_path_is_preferred(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    (folder / "abbrev_types.txt").write_text("qqq\n")
    (folder / "sent_starters.txt").write_text("")
    (folder / "collocations.tab").write_text("")
    (folder / "ortho_context.tab").write_text("")
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    assert len(punkt.sentence_spans("Ask Qqq. about it.")) == 1
    assert len(punkt.sentence_spans("Ask Dr. Vega.")) == 2


def test_memo_is_bounded_and_keeps_no_giant_keys() -> None:
    computed: list[str] = []

    def length(key: str) -> int:
        computed.append(key)
        return len(key)

    memo = Memo(length, limit=2)
    assert [memo[key] for key in ("a", "b", "a", "c", "a")] == [1] * 5
    assert computed == ["a", "b", "c", "a"]
    assert memo["x" * 1000] == 1000
    assert len(memo) <= 2
