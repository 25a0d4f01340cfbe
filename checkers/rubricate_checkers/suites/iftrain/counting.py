"""`count:` and `letters:`: numbers of words and letters."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...check import Check, Example, Span
from ...kwargs import Phrase
from ...loose import Rescue
from ...regex_sentences import regex_sentences
from ...text import Text
from ...wording import amount, compare
from ..ifeval.keywords import LetterFrequency
from .kwargs import Total

_LOWERCASE_WORD = re.compile(r"\b[a-z]+\b")
_LETTERS = bytes(range(ord("A"), ord("Z") + 1)) + bytes(range(ord("a"), ord("z") + 1))
_SEPARATOR = re.compile(r"\s?\*\*\*\s?")


def _lowercase_words(text: str) -> int:
    return len(_LOWERCASE_WORD.findall(text))


class LowercaseCounting(Check, id="count:lowercase_counting", suite="iftrain"):
    """The response has at most so many words in lower case, all of them taken together.

    A word is a run of a to z with no other letter, digit or underscore on either side: `don't` is two,
    `café` is none.
    """

    N: Total
    example = Example(kwargs={"N": 2}, passes="SHIPS pass in SILENCE.", fails="Ships pass in silence today.")

    def holds(self, text: Text) -> bool:
        return text.view(_lowercase_words) <= self.N

    def observed(self, text: Text) -> str:
        return amount(text.view(_lowercase_words), "word") + " in lower case"

    @property
    def required(self) -> str:
        return f"at most {amount(self.N, 'word')} in lower case"

    @property
    def rescue(self) -> Rescue:
        # taking an asterisk out joins words and makes none
        return Rescue.SMALLEST

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*match.span(), "counted") for match in _LOWERCASE_WORD.finditer(text.raw))


def _letters(text: str) -> int:
    encoded = text.encode("ascii", "ignore")
    return len(encoded) - len(encoded.translate(None, _LETTERS))


class LetterCounting(Check, id="letters:letter_counting", suite="iftrain"):
    """The response has `less than` or `at least` so many letters from A to z.

    With any other relation it never holds, as upstream.
    """

    N: Total
    relation: Phrase
    example = Example(kwargs={"N": 10, "relation": "less than"}, passes="Go ashore!", fails="Stay on board!")

    def holds(self, text: Text) -> bool:
        return self.relation in ("less than", "at least") and compare(
            text.view(_letters), self.relation, self.N
        )

    def observed(self, text: Text) -> str:
        return amount(text.view(_letters), "letter")

    @property
    def required(self) -> str:
        return f"{self.relation} {amount(self.N, 'letter')}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.SMALLEST if self.relation == "less than" else Rescue.NONE


class LetterCounting2(LetterFrequency, id="letters:letter_counting2", suite="iftrain"):
    """A letter from a to z occurs so often; the same rule as `keywords:letter_frequency`."""

    example = Example(
        kwargs={"letter": "k", "let_frequency": 2, "let_relation": "less than"},
        passes="The dock is empty.",
        fails="The dark dock is empty.",
    )


def _paragraphs(text: str) -> list[str]:
    return _SEPARATOR.split(text)


def _words_per_sentence(text: str) -> list[list[int]]:
    """Numbers of words in each sentence of each paragraph; blank paragraphs have none."""
    return [
        [len(Text(sentence).tokens) for sentence in regex_sentences(paragraph)]
        for paragraph in _paragraphs(text)
    ]


class CountingComposition(Check, id="count:counting_composition", suite="iftrain"):
    """There are three paragraphs separated by `***`, of so many sentences of so many words each.

    Words are nltk's tokens, so the full stop counts as one. A separator at the very start or end fails.
    """

    n_sent: Total
    n_words: Total
    example = Example(
        kwargs={"n_sent": 1, "n_words": 3},
        passes="Rain falls.\n***\nWe wait.\n***\nIt clears.",
        fails="Rain falls hard.\n***\nWe wait.\n***\nIt clears.",
    )

    def holds(self, text: Text) -> bool:
        return len(text.view(_paragraphs)) == 3 and all(
            len(sentences) == self.n_sent and all(words == self.n_words for words in sentences)
            for sentences in text.view(_words_per_sentence)
        )

    def observed(self, text: Text) -> str:
        count = len(text.view(_paragraphs))
        if count != 3:
            return amount(count, "paragraph")
        sentences = text.view(_words_per_sentence)
        words = "; ".join(" + ".join(map(str, numbers)) or "none" for numbers in sentences)
        return f"words in the sentences of each paragraph: {words}"

    @property
    def required(self) -> str:
        each = f"{amount(self.n_sent, 'sentence')} of {amount(self.n_words, 'word')}"
        return f"3 paragraphs of {each} each, separated by ***"


def _repeated(words: Iterable[str]) -> str | None:
    """The first word that occurs for the second time, if any."""
    seen: set[str] = set()
    for word in words:
        if word in seen:
            return word
        seen.add(word)
    return None


def _repeated_plain_word(text: str) -> str | None:
    """The first repeated word of letters and digits: nltk makes the same tokens of it both times."""
    return _repeated(filter(str.isalnum, text.split()))


class CountUnique(Check, id="count:count_unique", suite="iftrain"):
    """No word occurs twice in the same case.

    Words are nltk's tokens, and marks are words too: two commas or two full stops fail.
    """

    example = Example(kwargs={}, passes="The boats are in.", fails="The boats are in. The crew rests.")

    def _twice(self, text: Text) -> str | None:
        # most texts repeat a plain word, and it is seen without cutting tokens
        return text.view(_repeated_plain_word) or _repeated(text.tokens)

    def holds(self, text: Text) -> bool:
        return text.once(self._twice) is None

    def observed(self, text: Text) -> str:
        word = text.once(self._twice)
        return "no word twice" if word is None else f'"{word}" more than once'

    @property
    def required(self) -> str:
        return "no word twice"
