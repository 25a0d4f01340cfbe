"""`change_case:`: capitals and lower case."""

from __future__ import annotations

from collections.abc import Iterable

from ...check import Check, Example, Span
from ...kwargs import Number, Relation
from ...spans import each_word
from ...text import Text
from ...wording import amount, compare


class CapitalWordFrequency(
    Check,
    id="change_case:capital_word_frequency",
    aliases=("rubrichub:CapitalWordFrequencyChecker",),
):
    """Words in capitals occur `less than` or `at least` so many times.

    Words are nltk's tokens: `I` and `U.S.` count, `DON'T` is two (`DO`, `N'T`).
    """

    capital_frequency: Number
    capital_relation: Relation
    example = Example(
        kwargs={"capital_frequency": 2, "capital_relation": "at least"},
        passes="STOP and LOOK.",
        fails="STOP and look.",
    )

    def holds(self, text: Text) -> bool:
        return compare(text.uppercase_tokens, self.capital_relation, self.capital_frequency)

    def observed(self, text: Text) -> str:
        return amount(text.uppercase_tokens, "word") + " in capitals"

    @property
    def required(self) -> str:
        return f"{self.capital_relation} {amount(self.capital_frequency, 'word')} in capitals"

    def evidence(self, text: Text) -> Iterable[Span]:
        end = 0
        for token in text.tokens:
            start = text.raw.find(token, end)
            if start < 0 or token in _QUOTES:
                continue
            end = start + len(token)
            if token.isupper():
                yield Span(start, end, "counted")


_QUOTES = ("``", "''")
"""Tokens that nltk makes of double quotes."""


def _detected(text: Text) -> str:
    return f"language {text.language}" if text.language else "no language to be seen"


class EnglishCapital(
    Check, id="change_case:english_capital", aliases=("rubrichub:CapitalLettersEnglishChecker",)
):
    """The response is in English and all in capitals.

    The language is langdetect's guess, which capitals make less certain.
    """

    example = Example(
        kwargs={},
        passes="THE WEATHER WILL STAY FINE THROUGH THE WEEKEND, SO WE SHOULD GO TO THE BEACH.",
        fails="The weather will stay fine through the weekend, so we should go to the beach.",
    )

    def holds(self, text: Text) -> bool:
        return text.raw.isupper() and text.language in (None, "en")

    def observed(self, text: Text) -> str:
        return f"all in capitals, {_detected(text)}" if text.raw.isupper() else "not all in capitals"

    @property
    def required(self) -> str:
        return "all in capitals, language en"

    def evidence(self, text: Text) -> Iterable[Span]:
        return each_word(text.raw, "violation", lambda word: word.upper() != word)


class EnglishLowercase(
    Check, id="change_case:english_lowercase", aliases=("rubrichub:LowercaseLettersEnglishChecker",)
):
    """The response is in English and all in lower case."""

    example = Example(
        kwargs={},
        passes="the weather will stay fine through the weekend, so we should go to the beach.",
        fails="The weather will stay fine through the weekend, so we should go to the beach.",
    )

    def holds(self, text: Text) -> bool:
        return text.raw.islower() and text.language in (None, "en")

    def observed(self, text: Text) -> str:
        return f"all in lower case, {_detected(text)}" if text.raw.islower() else "not all in lower case"

    @property
    def required(self) -> str:
        return "all in lower case, language en"

    def evidence(self, text: Text) -> Iterable[Span]:
        return each_word(text.raw, "violation", lambda word: word.lower() != word)
