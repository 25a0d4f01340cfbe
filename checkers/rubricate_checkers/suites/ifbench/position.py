"""`words:` in given places: first and last ones, and keywords."""

from __future__ import annotations

import string
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator

from ...check import Check, Example
from ...kwargs import Ordinal, Phrase, Str
from ...loose import Rescue
from ...punkt import sentence_spans
from ...segment import tokens
from ...text import Text
from ...wording import amount
from .common import EDGES, ReadsSentences, RegexSentences, may_occur
from .ends import first_tokens, last_tokens


class LastFirst(ReadsSentences, id="words:last_first", suite="ifbench"):
    """The last word of each sentence is the first word of the next, in any case.

    The first word keeps the punctuation behind it, so `Fun, it` does not follow `fun.`
    """

    example = Example(
        kwargs={},
        passes="We went home. Home is warm. Warm is good.",
        fails="We went home. It is warm.",
    )

    def _fault(self, text: Text) -> str | None:
        sentences = self.sentences(text)
        for sentence, following in pairwise(sentences):
            last = sentence.rstrip(EDGES).split()[-1:]
            first = following.lstrip(EDGES).split(None, 1)[:1]
            if not last or not first:
                return "a sentence without words"
            if last[0].lower() != first[0].lower():
                return f'"{first[0]}" after "{last[0]}"'
        return None

    def holds(self, text: Text) -> bool:
        return self._fault(text) is None

    def observed(self, text: Text) -> str:
        return self._fault(text) or "each sentence taken up by the next"

    @property
    def required(self) -> str:
        return "each sentence starting with the last word of the one before"


class LastFirst2025(RegexSentences, LastFirst, id="ifbench@2025:words:last_first", suite="ifbench@2025"):
    """The last word of each sentence is the first word of the next, in any case.

    As in `words:last_first`, with the sentences of the older generation.
    """


def _edge_words(line: str) -> tuple[str, str] | None:
    words = line.lower().strip().strip(EDGES).split()
    return (words[0], words[-1]) if words else None


def _paragraph_fault(raw: str) -> str | None:
    """The first and last word of the first line in which they differ; lines without words are skipped."""
    ends = map(_edge_words, raw.split("\n"))
    return next((f'"{pair[0]}" … "{pair[1]}"' for pair in ends if pair and pair[0] != pair[1]), None)


class ParagraphLastFirst(
    Check,
    id="words:paragraph_last_first",
    suite="ifbench",
    aliases=("ifbench@2025:words:paragraph_last_first",),
):
    """Each paragraph, that is each line, ends with the word it starts with, in any case.

    Punctuation at the ends of the line is ignored, and lines without words are skipped.
    """

    example = Example(
        kwargs={},
        passes="Rain falls on rain.\nMist rises in the mist.",
        fails="Rain falls on rain.\nMist rises.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_paragraph_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_paragraph_fault) or "the same word at both ends of each line"

    @property
    def required(self) -> str:
        return "the same word first and last in each line"

    @property
    def rescue(self) -> Rescue:
        return Rescue.SMALLEST


def _strip(value: str) -> str:
    return value.strip()


class KeywordPosition(ReadsSentences, id="words:keywords_specific_position", suite="ifbench"):
    """The `m`th word of the `n`th sentence is a keyword, in any case.

    Words are nltk's tokens with a letter or digit in them, so `don't` is two.
    """

    keyword: Annotated[Phrase, AfterValidator(_strip)]
    n: Ordinal
    m: Ordinal
    example = Example(
        kwargs={"keyword": "lamp", "n": 2, "m": 3},
        passes="Night fell. Her own lamp, long cold, was lost.",
        fails="Night fell. Her lamp was lost.",
    )

    def word(self, sentence: str) -> str | None:
        """The mth word of a sentence, None where there are fewer."""
        found = tokens(sentence, sentence_spans(sentence))
        words = [token for token in found if any(map(str.isalnum, token))]
        return words[self.m - 1] if len(words) >= self.m else None

    def is_keyword(self, word: str) -> bool:
        """Whether a word is the keyword."""
        return word.lower() == self.keyword.lower()

    def _word(self, text: Text) -> str | None:
        sentences = self.sentences(text)
        return self.word(sentences[self.n - 1]) if len(sentences) >= self.n else None

    def holds(self, text: Text) -> bool:
        if not may_occur(self.keyword, text):
            return False
        word = self._word(text)
        return word is not None and self.is_keyword(word)

    def observed(self, text: Text) -> str:
        if not may_occur(self.keyword, text):
            return f'no "{self.keyword}"'
        word = self._word(text)
        if word is not None:
            return f'"{word}" there'
        count = len(self.sentences(text))
        return amount(count, "sentence") if count < self.n else f"fewer than {amount(self.m, 'word')} there"

    @property
    def required(self) -> str:
        return f'"{self.keyword}" as word {self.m} of sentence {self.n}'


class KeywordPosition2025(
    RegexSentences,
    KeywordPosition,
    id="ifbench@2025:words:keywords_specific_position",
    suite="ifbench@2025",
):
    """The `m`th token of the `n`th sentence is a keyword, in its own case.

    Tokens are nltk's: punctuation marks count.
    """

    example = Example(
        kwargs={"keyword": "lamp", "n": 2, "m": 3},
        passes="Night fell. Then, lamp in hand, she left.",
        fails="Night fell. Then she took a lamp.",
    )

    def word(self, sentence: str) -> str | None:
        found = tokens(sentence, sentence_spans(sentence))
        return found[self.m - 1] if len(found) >= self.m else None

    def is_keyword(self, word: str) -> bool:
        return word == self.keyword


def _first_two(raw: str) -> tuple[str, ...]:
    return first_tokens(raw, 2)


def _last_three(raw: str) -> tuple[str, ...]:
    return last_tokens(raw, 3)


class WordsPosition(Check, id="words:words_position", suite="ifbench"):
    """The second word and the second to last word are a keyword, in any case.

    Words are nltk's tokens; one final punctuation mark is not counted as the last word.
    """

    keyword: Annotated[Str, AfterValidator(_strip)]
    example = Example(
        kwargs={"keyword": "tea"},
        passes="More tea, or less tea then.",
        fails="More tea, or less then.",
    )

    def places(self, text: Text) -> tuple[str, str] | None:
        """The second and the second to last word; None where there are too few."""
        first, last = text.view(_first_two), text.view(_last_three)
        offset = 3 if last and last[-1] in string.punctuation else 2
        return (first[1], last[-offset]) if len(last) >= offset else None

    def is_keyword(self, word: str) -> bool:
        """Whether a word is the keyword."""
        return word.lower() == self.keyword.lower()

    def holds(self, text: Text) -> bool:
        if not may_occur(self.keyword, text):
            return False
        words = self.places(text)
        return words is not None and all(map(self.is_keyword, words))

    def observed(self, text: Text) -> str:
        if not may_occur(self.keyword, text):
            return f'no "{self.keyword}"'
        words = self.places(text)
        return f'"{words[0]}" and "{words[1]}" there' if words else "too few words"

    @property
    def required(self) -> str:
        return f'"{self.keyword}" second and second to last'


class WordsPosition2025(WordsPosition, id="ifbench@2025:words:words_position", suite="ifbench@2025"):
    """The second token and the second to last token are a keyword, in its own case.

    Tokens are nltk's: with a final period the second to last token is the last word.
    """

    example = Example(
        kwargs={"keyword": "tea"},
        passes="More tea, or less tea.",
        fails="More tea, or less tea then.",
    )

    def places(self, text: Text) -> tuple[str, str] | None:
        first, last = text.view(_first_two), text.view(_last_three)
        return (first[1], last[-2]) if len(first) >= 2 else None

    def is_keyword(self, word: str) -> bool:
        return word == self.keyword
