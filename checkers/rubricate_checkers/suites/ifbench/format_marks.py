"""`format:` of marks: brackets, quotes and emoji."""

from __future__ import annotations

import re
import string
from functools import cache

from ... import data
from ...check import Check, Example
from ...loose import Rescue
from ...text import Text
from .common import ReadsSentences, RegexSentences, bare

_CLOSES = {")": "(", "]": "[", "}": "{"}


def _all_but(chars: str) -> bytes:
    return bytes(set(range(256)) - set(chars.encode()))


_NO_BRACKETS = _all_but("()[]{}")
_NO_QUOTES = _all_but("\"'")


def _only(raw: str, others: bytes) -> str:
    """The ASCII characters of a text that are not among others."""
    return raw.encode("utf-8", "surrogatepass").translate(None, others).decode("ascii")


_DEEP = 5


def _nested_brackets(raw: str) -> bool:
    stack: list[str] = []
    deepest = 0
    for char in _only(raw, _NO_BRACKETS):
        if char in "([{":
            stack.append(char)
            deepest = max(deepest, len(stack))
        elif stack and stack[-1] == _CLOSES[char]:
            stack.pop()
            if deepest >= _DEEP:
                return True
        else:
            stack.clear()
            deepest = 0
    return False


class Parentheses(
    Check, id="format:parentheses", suite="ifbench", aliases=("ifbench@2025:format:parentheses",)
):
    """Brackets of any kind are nested five deep, and the innermost one is closed by its own kind.

    A bracket that closes another kind starts the count anew.
    """

    example = Example(
        kwargs={},
        passes="A (nest [of {brackets (and [more])}]) is here.",
        fails="A (nest [of brackets]) is here.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_nested_brackets)

    def observed(self, text: Text) -> str:
        return f"{_DEEP} levels" if self.holds(text) else f"no {_DEEP} levels that are closed"

    @property
    def required(self) -> str:
        return f"brackets at least {_DEEP} levels deep"

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE


_QUOTED_DEEP = 3


def _nested_quotes(raw: str) -> bool:
    stack: list[str] = []
    deepest = 0
    for char in _only(raw, _NO_QUOTES):
        if stack and char == stack[-1]:
            stack.pop()
            if deepest - len(stack) >= _QUOTED_DEEP:
                return True
        else:
            stack.append(char)
            deepest = max(deepest, len(stack))
    return False


class Quotes(Check, id="format:quotes", suite="ifbench", aliases=("ifbench@2025:format:quotes",)):
    """Straight quotes, double and single in turn, are nested three deep and closed.

    An apostrophe is a single quote; curly ones are ignored.
    """

    example = Example(
        kwargs={},
        passes="""She said: "He told me 'they cried "stop" twice' and left." """,
        fails="""She said: "He told me 'stop' and left." """,
    )

    def holds(self, text: Text) -> bool:
        return text.view(_nested_quotes)

    def observed(self, text: Text) -> str:
        return f"{_QUOTED_DEEP} levels" if self.holds(text) else f"no {_QUOTED_DEEP} levels that are closed"

    @property
    def required(self) -> str:
        return f"quotes nested {_QUOTED_DEEP} levels deep"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARRED  # asterisks are no quotes


_TOUCHING = re.compile(r'"\s*"')
_WHITESPACE = "".join(char for char in map(chr, range(0x3001)) if char.isspace())
_NOT_A_QUOTE = string.digits + string.punctuation.replace('"', "") + _WHITESPACE


def _unexplained_quote(raw: str) -> str | None:
    """The fault of a text's quotes: two that touch, or one at the end."""
    text = raw.replace("'\"'", "")
    if _TOUCHING.search(text):
        return "two quotes with nothing between them"
    return "a quote at the end" if text.rstrip(_NOT_A_QUOTE)[-1:] == '"' else None


def _unexplained_quote_2025(raw: str) -> str | None:
    text = raw.replace("“", '"').replace("”", '"')
    if not text.replace("'\"'", "").strip(_NOT_A_QUOTE):
        return "nothing but digits and marks"
    return _unexplained_quote(text)


class QuoteUnquote(Check, id="format:quote_unquote", suite="ifbench"):
    """Each phrase in straight double quotes is followed by unquoted text.

    Only two things fail: two quotes that touch, and a quote at the end, whatever digits and marks
    follow it. No quotes are fine, and so are curly ones.
    """

    example = Example(
        kwargs={},
        passes='"Less is more" means that simple things work.',
        fails='Simple things work: "Less is more".',
    )

    def fault(self, text: Text) -> str | None:
        """What is wrong with the quotes, or None."""
        return text.view(_unexplained_quote)

    def holds(self, text: Text) -> bool:
        return self.fault(text) is None

    def observed(self, text: Text) -> str:
        return self.fault(text) or "unquoted text after each quote"

    @property
    def required(self) -> str:
        return "unquoted text after each quote"


class QuoteUnquote2025(QuoteUnquote, id="ifbench@2025:format:quote_unquote", suite="ifbench@2025"):
    """Each phrase in double quotes, straight or curly, is followed by unquoted text.

    Only two things fail: two quotes that touch, and a quote at the end, whatever digits and marks
    follow it. No quotes are fine; a response of nothing but digits and marks is not.
    """

    example = Example(
        kwargs={},
        passes="“Less is more” means that simple things work.",
        fails="Simple things work: “Less is more”.",
    )

    def fault(self, text: Text) -> str | None:
        return text.view(_unexplained_quote_2025)


@cache
def _emoji() -> frozenset[str]:
    ranges = (entry.partition("-") for entry in data.words("emoji"))
    return frozenset(
        chr(code) for first, _, last in ranges for code in range(int(first, 16), int(last or first, 16) + 1)
    )


class EmojiSentences(ReadsSentences, id="format:emoji", suite="ifbench"):
    """Each sentence ends with an emoji, or the next one starts with one.

    Punctuation is taken out first, and the last or the last but one character must be an emoji; a
    sentence of nothing but punctuation fails.
    """

    example = Example(
        kwargs={},
        passes="The sun is out 🌞. We swim 🏊!",
        fails="The sun is out 🌞. We swim!",
    )

    def _fault(self, text: Text) -> str | None:
        emoji = _emoji()
        if text.raw.isascii() or emoji.isdisjoint(text.raw):
            return "no emoji"
        sentences = self.sentences(text)
        for i, sentence in enumerate(sentences):
            body = bare(sentence).strip()
            if not body:
                return f'no words in "{sentence}"'
            if emoji.isdisjoint(body[-2:]):
                following = bare(sentences[i + 1]).strip() if i + 1 < len(sentences) else ""
                if following[:1] not in emoji:
                    return f'no emoji at the end of sentence {i + 1}, "…{body[-20:]}"'
        return None

    def holds(self, text: Text) -> bool:
        return self._fault(text) is None

    def observed(self, text: Text) -> str:
        return self._fault(text) or "an emoji at the end of each sentence"

    @property
    def required(self) -> str:
        return "an emoji at the end of each sentence"


class EmojiSentences2025(
    RegexSentences, EmojiSentences, id="ifbench@2025:format:emoji", suite="ifbench@2025"
):
    """Each sentence ends with an emoji, or the next one starts with one.

    As in `format:emoji`, with the sentences of the older generation.
    """
