"""`sentence:`: alliteration, growing sentences, and a keyword in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from ...check import Example
from ...kwargs import Count, Phrase
from ...text import Text
from ...wording import amount
from .common import EDGES, ReadsSentences, RegexSentences, bare, may_occur


def _alliteration(sentence: str) -> int:
    """Number of words in runs that share their first character, of all runs together."""
    words = [word for word in (word.lstrip(EDGES) for word in sentence.lower().split()) if word]
    score = 0
    in_run = False
    for word, following in pairwise(words):
        same = word[0] == following[0]
        if same:
            score += 1 if in_run else 2
        in_run = same
    return score


def _lack_of_alliteration(sentences: Sequence[str]) -> str | None:
    """The first sentence that has no more alliterating words than the one before."""
    before = -1
    for number, sentence in enumerate(sentences, 1):
        score = _alliteration(sentence)
        if score <= before:
            return f"{score} after {before} in sentence {number}"
        before = score
    return None


class AlliterationIncrement(ReadsSentences, id="sentence:alliteration_increment", suite="ifbench"):
    """Each sentence has more alliterating words than the one before.

    Words in runs of the same first letter are counted, all runs of a sentence together; the first
    sentence may have none.
    """

    example = Example(
        kwargs={},
        passes="We left. Big boats came. Seven silver swans sang.",
        fails="Big boats came. We left.",
    )

    def holds(self, text: Text) -> bool:
        return _lack_of_alliteration(self.sentences(text)) is None

    def may_hold(self, variant: Text, response: Text) -> bool:
        return _lack_of_alliteration(self.beginning(variant)) is None

    def observed(self, text: Text) -> str:
        return _lack_of_alliteration(self.sentences(text)) or "more in each sentence"

    @property
    def required(self) -> str:
        return "more alliterating words in each sentence than in the one before"


class AlliterationIncrement2025(
    RegexSentences,
    AlliterationIncrement,
    id="ifbench@2025:sentence:alliteration_increment",
    suite="ifbench@2025",
):
    """Each sentence has more alliterating words than the one before.

    As in `sentence:alliteration_increment`, with the sentences of the older generation.
    """


class SentenceIncrement(ReadsSentences, id="sentence:increment", suite="ifbench"):
    """Each sentence has exactly so many more words than the one before.

    Punctuation is taken out first; a single sentence passes.
    """

    small_n: Count
    example = Example(
        kwargs={"small_n": 1},
        passes="It rains. We wait inside.",
        fails="It rains. We wait.",
    )

    def _fault(self, sentences: Sequence[str]) -> str | None:
        counts = (len(bare(sentence).split()) for sentence in sentences)
        before = next(counts, 0)
        for number, count in enumerate(counts, 2):
            if count != before + self.small_n:
                return f"{amount(count, 'word')} after {before} in sentence {number}"
            before = count
        return None

    def holds(self, text: Text) -> bool:
        return self._fault(self.sentences(text)) is None

    def may_hold(self, variant: Text, response: Text) -> bool:
        return self._fault(self.beginning(variant)) is None

    def observed(self, text: Text) -> str:
        return self._fault(self.sentences(text)) or f"{self.small_n:g} more in each sentence"

    @property
    def required(self) -> str:
        return f"exactly {amount(self.small_n, 'word')} more in each sentence than in the one before"


class SentenceIncrement2025(
    RegexSentences, SentenceIncrement, id="ifbench@2025:sentence:increment", suite="ifbench@2025"
):
    """Each sentence has exactly so many more words than the one before.

    As in `sentence:increment`, with the sentences of the older generation.
    """


class SentenceKeyword(ReadsSentences, id="sentence:keyword", suite="ifbench"):
    """The `N`th sentence has a keyword as a whole word, in any case.

    With `N` 0 it is the last sentence.
    """

    word: Phrase
    N: Count
    example = Example(
        kwargs={"word": "lamp", "N": 2},
        passes="It grew dark. He lit the lamp.",
        fails="He lit the lamp. It grew dark.",
    )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"\b{re.escape(self.word)}\b", re.IGNORECASE)

    def has_word(self, sentence: str) -> bool:
        """Whether the keyword is in a sentence."""
        return self._pattern.search(sentence) is not None

    def holds(self, text: Text) -> bool:
        if not may_occur(self.word, text):
            return False
        sentences = self.sentences(text)
        return len(sentences) >= self.N and self.has_word(sentences[int(self.N - 1)])

    def observed(self, text: Text) -> str:
        if not may_occur(self.word, text):
            return f'no "{self.word}"'
        sentences = self.sentences(text)
        if len(sentences) < self.N:
            return amount(len(sentences), "sentence")
        there = self.has_word(sentences[int(self.N - 1)])
        return f'"{self.word}" {"" if there else "not "}in sentence {self.N:g}'

    @property
    def required(self) -> str:
        return f'"{self.word}" in sentence {self.N:g}'


class SentenceKeyword2025(
    RegexSentences, SentenceKeyword, id="ifbench@2025:sentence:keyword", suite="ifbench@2025"
):
    """The `N`th sentence has a keyword, in any case and inside words too.

    With `N` 0 it is the last sentence.
    """

    example = Example(
        kwargs={"word": "lamp", "N": 2},
        passes="It grew dark. The lamplight was warm.",
        fails="The lamplight was warm. It grew dark.",
    )

    def has_word(self, sentence: str) -> bool:
        return self.word.lower() in sentence.lower()
