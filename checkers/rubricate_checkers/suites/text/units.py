"""What a word, a sentence, a paragraph and a line are for the `text:` checks.

They follow what a person would count, in scripts with and without spaces between words. The upstream
suites count otherwise, each in its own way.
"""

from __future__ import annotations

import re

from ...text import Text

__all__ = ["UNSPACED", "line_spans", "paragraph_spans", "sentence_spans", "word_spans"]

Spans = list[tuple[int, int]]

_HAN_AND_KANA = (
    r"\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"
    r"\U00020000-\U0003fffd"
)

UNSPACED = _HAN_AND_KANA + r"\u0e01-\u0e5b\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Characters of scripts without spaces between words (also Thai, Lao, Burmese, Khmer), for use in `[]`."""

# From the first letter or digit of a chunk to its last; dashes and the bars of tables part chunks.
_LETTER = rf"[^\W_{_HAN_AND_KANA}]"
_WORD = re.compile(rf"[{_HAN_AND_KANA}]|{_LETTER}(?:[^\s—|{_HAN_AND_KANA}]*{_LETTER})?")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+|\Z")
_LINE = re.compile(r"[^\r\n]+")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_STOPS = "[。！？｡؟।॥]"
_SENTENCE_BREAK = re.compile(
    r"\n\s*\n"  # a blank line
    r"|\n(?=[^\S\n]*(?:[-*+•]|\d{1,3}[.)]|\#{1,6})[^\S\n])"  # before an item of a list, or a heading
    rf"|{_STOPS}+[\"'”’」』）)》】]*"
)
_STOP = re.compile(_STOPS)
_LIST_NUMBER = re.compile(r"\W*\d{1,3}[.)]\W*")


def word_spans(raw: str) -> Spans:
    """(start, end) of each word.

    A word is what stands between blanks, dashes and table bars and has a letter or digit, without the
    marks around it: `well-known`, `don't`, `3.14` and a web address are one each, `*` and `–` none. Each
    Chinese or Japanese character is a word; a run of Thai, Lao, Khmer or Burmese is one.
    """
    return [match.span() for match in _WORD.finditer(raw)]


def sentence_spans(text: Text) -> Spans:
    """(start, end) of each sentence.

    Sentences are cut as nltk's Punkt cuts English ones, which knows abbreviations, and besides at the
    full stops of Chinese, Japanese, Arabic and Hindi, at blank lines, and before headings and items of
    lists. A piece without a letter or digit, or a bare item number, is none.
    """
    raw = text.raw
    has_stop = _STOP.search(raw) is not None
    spans = []
    for start, end in text.sentence_spans:
        if has_stop or raw.find("\n", start, end) >= 0:
            for match in _SENTENCE_BREAK.finditer(raw, start, end):
                spans.append((start, match.end()))
                start = match.end()
        spans.append((start, end))
    return [_trimmed(raw, *span) for span in spans if _is_sentence(raw, *span)]


def _trimmed(raw: str, start: int, end: int) -> tuple[int, int]:
    piece = raw[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def _is_sentence(raw: str, start: int, end: int) -> bool:
    first = _LETTER_OR_DIGIT.search(raw, start, end)
    if first is None:
        return False
    return not first[0].isdecimal() or _LIST_NUMBER.fullmatch(raw, start, end) is None


def paragraph_spans(raw: str) -> Spans:
    """(start, end) of each paragraph: lines between blank lines, with at least one letter or digit.

    A heading or a list that is set off by blank lines is a paragraph; a rule of dashes is none.
    """
    spans = []
    start = 0
    for match in _BLANK_LINES.finditer(raw):
        if _LETTER_OR_DIGIT.search(raw, start, match.start()):
            spans.append(_trimmed(raw, start, match.start()))
        start = match.end()
    return spans


def line_spans(raw: str) -> Spans:
    """(start, end) of each line that is not blank; lines end at a line feed, a carriage return, or both."""
    return [match.span() for match in _LINE.finditer(raw) if not match.group().isspace()]
