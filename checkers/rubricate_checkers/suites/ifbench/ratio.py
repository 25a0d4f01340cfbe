"""`ratio:` of stop words and of kinds of sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ... import data
from ...check import Check, Example
from ...kwargs import Count
from ...text import Text
from ...wording import amount
from .common import ReadsSentences, RegexSentences, spaces_unless

_STOP_WORDS = frozenset(data.words("stop_words"))
_STOP_BYTES = frozenset(map(str.encode, _STOP_WORDS))
_WORD = re.compile(r"\w+")
_WORDS_ONLY = spaces_unless(lambda char: char.isalnum() or char == "_")


def _stop_words(raw: str) -> int:
    if raw.isascii():
        tokens = raw.lower().encode().translate(_WORDS_ONLY).split()
        return sum(map(_STOP_BYTES.__contains__, tokens))
    return sum(word.lower() in _STOP_WORDS for word in _WORD.findall(raw))


class StopWords(Check, id="ratio:stop_words", suite="ifbench", aliases=("ifbench@2025:ratio:stop_words",)):
    r"""At most so many per cent of the words are English stop words.

    Words are runs of `\w`, so `don't` is two, `don` and `t`, both of them on NLTK's list. A response
    without words fails.
    """

    percentage: Count
    example = Example(
        kwargs={"percentage": 25},
        passes="Fresh bread smells wonderful.",
        fails="It is the smell of bread.",
    )

    def _percentage(self, text: Text) -> float | None:
        words = text.word_count
        return text.tally(_stop_words) / words * 100 if words else None

    def holds(self, text: Text) -> bool:
        share = self._percentage(text)
        return share is not None and share <= self.percentage

    def observed(self, text: Text) -> str:
        share = self._percentage(text)
        return "no words" if share is None else f"{share:.4g} % stop words"

    @property
    def required(self) -> str:
        return f"at most {self.percentage:g} % stop words"


def _periods(sentences: Sequence[str]) -> int:
    return sum(sentence.endswith(".") for sentence in sentences)


class SentenceType(ReadsSentences, id="ratio:sentence_type", suite="ifbench"):
    """There are twice as many sentences that end with a period as with a question mark.

    A mark before a closing quote does not end a sentence, and no sentences of either kind are fine.
    """

    example = Example(
        kwargs={},
        passes="The shop is closed. It opens at nine. Shall we wait?",
        fails="The shop is closed. Shall we wait?",
    )

    def _ends(self, text: Text) -> tuple[int, int]:
        ends = [sentence[-1:] for sentence in self.sentences(text)]
        return ends.count("."), ends.count("?")

    def holds(self, text: Text) -> bool:
        periods, questions = self._ends(text)
        return periods == 2 * questions

    def may_hold(self, variant: Text, response: Text) -> bool:
        return _periods(self.beginning(variant)) <= 2 * variant.raw.count("?")

    def observed(self, text: Text) -> str:
        periods, questions = self._ends(text)
        return f"{amount(periods, 'period')} and {amount(questions, 'question mark')} at ends of sentences"

    @property
    def required(self) -> str:
        return "twice as many sentences with a period as with a question mark"


class SentenceType2025(
    RegexSentences, SentenceType, id="ifbench@2025:ratio:sentence_type", suite="ifbench@2025"
):
    """There are twice as many sentences that end with a period as with a question mark.

    A period or question mark before a straight closing quote ends a sentence here.
    """


class SentenceBalance(ReadsSentences, id="ratio:sentence_balance", suite="ifbench"):
    """Equally many sentences end with a period, a question mark and an exclamation mark.

    A mark before a closing quote does not end a sentence, and no sentences of any kind are fine.
    """

    example = Example(
        kwargs={},
        passes="The shop is closed. Shall we wait? Never!",
        fails="The shop is closed. Shall we wait? We shall.",
    )

    def _ends(self, text: Text) -> tuple[int, int, int]:
        ends = [sentence[-1:] for sentence in self.sentences(text)]
        return ends.count("."), ends.count("?"), ends.count("!")

    def holds(self, text: Text) -> bool:
        periods, questions, exclamations = self._ends(text)
        return periods == questions == exclamations

    def may_hold(self, variant: Text, response: Text) -> bool:
        return _periods(self.beginning(variant)) <= min(variant.raw.count("?"), variant.raw.count("!"))

    def observed(self, text: Text) -> str:
        periods, questions, exclamations = self._ends(text)
        return f"{periods} x . and {questions} x ? and {exclamations} x ! at ends of sentences"

    @property
    def required(self) -> str:
        return "as many sentences with . as with ? and with !"


class SentenceBalance2025(
    RegexSentences, SentenceBalance, id="ifbench@2025:ratio:sentence_balance", suite="ifbench@2025"
):
    """Equally many sentences end with a period, a question mark and an exclamation mark.

    A mark before a straight closing quote ends a sentence here.
    """


class SentenceLengths(ReadsSentences, id="ratio:sentence_words", suite="ifbench"):
    """There are exactly three sentences, all of the same number of characters.

    That their words differ is not checked.
    """

    example = Example(
        kwargs={},
        passes="Rain fell. Wind blew. Mist rose.",
        fails="Rain fell. Wind blew. The mist rose.",
    )

    def _lengths(self, text: Text) -> list[int]:
        return [len(sentence.strip()) for sentence in self.sentences(text)]

    def holds(self, text: Text) -> bool:
        return len(self.sentences(text)) == 3 and len(set(self._lengths(text))) == 1

    def may_hold(self, variant: Text, response: Text) -> bool:
        return len(self.beginning(variant)) <= 3

    def observed(self, text: Text) -> str:
        count = amount(len(self.sentences(text)), "sentence")
        lengths = ", ".join(map(str, self._lengths(text)[:3]))
        return f"{count} of {lengths} characters" if len(self.sentences(text)) == 3 else count

    @property
    def required(self) -> str:
        return "three sentences of the same length"


class SentenceLengths2025(
    RegexSentences, SentenceLengths, id="ifbench@2025:ratio:sentence_words", suite="ifbench@2025"
):
    """There are exactly three sentences, all of the same number of characters.

    That their words differ is not checked; sentences are those of the older generation.
    """
