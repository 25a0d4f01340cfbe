"""`first_word:`, `last_word:` and `keywords:`: which word stands at the edge of the response or a sentence.

Sentences are those of the regular expressions in `regex_sentences`, where a line break is a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...check import Check, Example, Span
from ...kwargs import Ordinal, Phrase
from ...regex_sentences import regex_sentences
from ...spans import at_end, at_start
from ...text import Text
from ...wording import amount
from .kwargs import WordOrList

_MARKS = re.compile(r"[^\w\s]")


def _first_word(text: str) -> str | None:
    """The first word in lower case; None where there is none."""
    words = text.split(None, 1)
    return words[0].lower() if words else None


def _last_word(text: str) -> str | None:
    """The last word in lower case and without marks, so that it may be empty; None where there is none."""
    words = text.rsplit(None, 1)
    return _MARKS.sub("", words[-1]).lower() if words else None


def _first_words(text: str) -> list[str | None]:
    return [_first_word(sentence) for sentence in regex_sentences(text)]


def _last_words(text: str) -> list[str | None]:
    return [_last_word(sentence) for sentence in regex_sentences(text)]


def _quoted(word: str | None) -> str:
    return "no word" if word is None else f'"{word}"'


def _share(words: list[str | None], word: str) -> str:
    """How many sentences have the word at the edge, and what another one has."""
    other = next((found for found in words if found != word), word)
    having = f"{words.count(word)} of {amount(len(words), 'sentence')}"
    return having if other == word else f"{having}, another has {_quoted(other)}"


class FirstWordOfSentences(Check, id="first_word:first_word_sent", suite="iftrain"):
    """Every sentence starts with a word, in any case; `Dogs,` is another word than `dogs`.

    Of a list of words only the first is read. A sentence of nothing but a mark fails.
    """

    first_word: WordOrList
    example = Example(
        kwargs={"first_word": "waves"},
        passes="Waves rise. Waves fall.",
        fails="Waves rise. They fall.",
    )

    @property
    def _word(self) -> str:
        return self.first_word.strip().lower()

    def holds(self, text: Text) -> bool:
        words = text.view(_first_words)
        return words.count(self._word) == len(words)

    def observed(self, text: Text) -> str:
        return _share(text.view(_first_words), self._word)

    @property
    def required(self) -> str:
        return f'every sentence starting with "{self._word}"'


class FirstWordOfAnswer(Check, id="first_word:first_word_answer", suite="iftrain"):
    """The response starts with a word, in any case; `Yes,` is another word than `yes`."""

    first_word: Phrase
    example = Example(
        kwargs={"first_word": "yes"}, passes="Yes the ferry runs today.", fails="Yes, the ferry runs today."
    )

    def holds(self, text: Text) -> bool:
        return text.view(_first_word) == self.first_word.strip().lower()

    def observed(self, text: Text) -> str:
        return f"{_quoted(text.view(_first_word))} first"

    @property
    def required(self) -> str:
        return f'"{self.first_word.strip().lower()}" first'

    def evidence(self, text: Text) -> Iterable[Span]:
        return at_start(text.raw, len("".join(text.raw.split(None, 1)[:1])), self.holds(text))


class LastWordOfSentences(Check, id="last_word:last_word_sent", suite="iftrain"):
    """Every sentence ends with a word, in any case and without the marks on it.

    A mark that stands alone leaves no word: `A dog .` ends with none. Of a list of words only the first
    is read.
    """

    last_word: WordOrList
    example = Example(
        kwargs={"last_word": "ashore"},
        passes="We rowed ashore. Did you swim ashore?",
        fails="We rowed ashore. Did you swim?",
    )

    @property
    def _word(self) -> str:
        return self.last_word.strip().lower()

    def holds(self, text: Text) -> bool:
        words = text.view(_last_words)
        return words.count(self._word) == len(words)

    def observed(self, text: Text) -> str:
        return _share(text.view(_last_words), self._word)

    @property
    def required(self) -> str:
        return f'every sentence ending with "{self._word}"'


class LastWordOfAnswer(Check, id="last_word:last_word_answer", suite="iftrain"):
    """The response ends with a word, in any case and without the marks on it: `hot-dog` is `hotdog`."""

    last_word: Phrase
    example = Example(
        kwargs={"last_word": "home"}, passes="At dusk they sailed home.", fails="At dusk they sailed."
    )

    def holds(self, text: Text) -> bool:
        return text.view(_last_word) == self.last_word.strip().lower()

    def observed(self, text: Text) -> str:
        return f"{_quoted(text.view(_last_word))} last"

    @property
    def required(self) -> str:
        return f'"{self.last_word.strip().lower()}" last'

    def evidence(self, text: Text) -> Iterable[Span]:
        return at_end(text.raw, len("".join(text.raw.rsplit(None, 1)[-1:])), self.holds(text))


class KeywordPosition(Check, id="keywords:keyword_specific_position", suite="iftrain"):
    """A keyword, in this very case, is word m of sentence n, both counted from 1.

    Words are nltk's tokens, so that a comma or a bracket before it counts. Of a list of keywords only
    the first is read.
    """

    keyword: WordOrList
    n: Ordinal
    m: Ordinal
    example = Example(
        kwargs={"keyword": "lamp", "n": 2, "m": 3},
        passes="Night fell. The old lamp glowed.",
        fails="Night fell. Then, the lamp glowed.",
    )

    def _word(self, text: Text) -> str | None:
        sentences = text.view(regex_sentences)
        if len(sentences) < self.n:
            return None
        sentence = sentences[self.n - 1]
        return next(iter(Text(sentence).tokens[self.m - 1 :]), None)

    def holds(self, text: Text) -> bool:
        return self._word(text) == self.keyword.strip()

    def observed(self, text: Text) -> str:
        return f"{_quoted(self._word(text))} at word {self.m} of sentence {self.n}"

    @property
    def required(self) -> str:
        return f'"{self.keyword.strip()}" as word {self.m} of sentence {self.n}'


def _ends_elsewhere(text: str) -> bool:
    """Whether the last character is not in the first word, so that no token can be both first and last."""
    last = text.rstrip()[-1:]
    quote = last in "\"'`"  # nltk writes quotes otherwise
    return last.isascii() and not quote and last.lower() not in text.split(None, 1)[0].lower()


class StartEnd(Check, id="keywords:start_end", suite="iftrain"):
    """The response starts and ends with the same word, in any case.

    Words are nltk's tokens: with a full stop at the end, the full stop is the last one.
    """

    example = Example(
        kwargs={}, passes="Home is where they call it home", fails="Home is where they call it home."
    )

    def holds(self, text: Text) -> bool:
        if text.view(_ends_elsewhere):
            return False
        return len(text.tokens) > 1 and text.tokens[0].lower() == text.tokens[-1].lower()

    def observed(self, text: Text) -> str:
        if text.view(_ends_elsewhere):
            words = text.raw.split()
            return f'"{words[0]}" first and "{words[-1]}" last'
        if len(text.tokens) < 2:
            return amount(len(text.tokens), "word")
        return f'"{text.tokens[0]}" first and "{text.tokens[-1]}" last'

    @property
    def required(self) -> str:
        return "the same word first and last"
