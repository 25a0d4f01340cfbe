"""`detectable_format:` and `paragraphs:`: hyphens, brackets and separators."""

from __future__ import annotations

from collections.abc import Iterable

from ...check import Check, Example, Span
from ...loose import Rescue
from ...regex_sentences import regex_sentences
from ...spans import each_word
from ...text import Text
from ...wording import amount
from ..ifeval.length import separated_paragraphs


def _unhyphenated(text: str) -> str | None:
    """The first part between hyphens that is not a sentence as it stands, if any."""
    sentences = regex_sentences(text.replace("-", " "))
    # upstream stops at the shorter list, so a text of fewer parts than sentences can pass
    pairs = zip(text.split("-"), sentences, strict=False)
    return next((part for part, sentence in pairs if part != sentence), None)


class SentenceHyphens(Check, id="detectable_format:sentence_hyphens", suite="iftrain"):
    """Sentences are joined by hyphens without spaces.

    The parts between hyphens are compared with the sentences in order, until either list ends: a text
    without a hyphen passes when its first sentence is all of it, and a hyphenated word fails.
    """

    example = Example(
        kwargs={}, passes="The tide is out.-We can walk.", fails="The tide is out. - We can walk."
    )

    def holds(self, text: Text) -> bool:
        return text.view(_unhyphenated) is None

    def observed(self, text: Text) -> str:
        part = text.view(_unhyphenated)
        return (
            "sentences joined by hyphens" if part is None else f'"{part[:80]}", which is no sentence as it is'
        )

    @property
    def required(self) -> str:
        return "hyphens between sentences and no spaces around them"


def _unbracketed(text: str) -> str | None:
    """The first word without its brackets, if any."""
    return next((word for word in text.split() if word[0] != "[" or word[-1] != "]"), None)


class SquareBrackets(Check, id="detectable_format:square_brackets", suite="iftrain"):
    """Every word is in square brackets of its own.

    Words are what whitespace separates: `[so it]` and `[so],` fail.
    """

    example = Example(kwargs={}, passes="[Low] [tide] [now]", fails="[Low tide now]")

    def holds(self, text: Text) -> bool:
        return text.view(_unbracketed) is None

    def observed(self, text: Text) -> str:
        word = text.view(_unbracketed)
        return "every word in brackets" if word is None else f'"{word}"'

    @property
    def required(self) -> str:
        return "every word in square brackets"

    def evidence(self, text: Text) -> Iterable[Span]:
        return each_word(text.raw, "violation", lambda word: _unbracketed(word) is not None)


def _unwrapped(text: str) -> str | None:
    """The first two words that are not wrapped together, if any."""
    words = text.split()
    return next(
        (
            f"{first} {second}"
            for first, second in zip(words[::2], words[1::2], strict=False)
            if not (first.startswith("<<") and second.endswith(">>"))
        ),
        None,
    )


class BigramWrapping(Check, id="detectable_format:bigram_wrapping", suite="iftrain"):
    """Every two words are wrapped in double angular brackets: `<<low tide>> <<at noon>>`.

    Words are what whitespace separates. A last word without a partner is not looked at.
    """

    example = Example(kwargs={}, passes="<<low tide>> <<at noon>>", fails="<<low>> tide")

    def holds(self, text: Text) -> bool:
        return text.view(_unwrapped) is None

    def observed(self, text: Text) -> str:
        words = text.view(_unwrapped)
        return "every two words wrapped" if words is None else f'"{words}"'

    @property
    def required(self) -> str:
        return "every two words in << >>"


class TwoParagraphs(Check, id="paragraphs:paragraphs", suite="iftrain"):
    """There are exactly two paragraphs, separated by `***`.

    A separator may also open or close the response.
    """

    example = Example(
        kwargs={},
        passes="We sail at dawn.\n***\nWe land at noon.",
        fails="We sail at dawn.\n\nWe land at noon.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(separated_paragraphs) == 2

    def observed(self, text: Text) -> str:
        return _paragraphs_in_words(text.view(separated_paragraphs))

    @property
    def required(self) -> str:
        return "2 paragraphs separated by ***"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARRED


def _spaced_paragraphs(text: str) -> int | None:
    """Number of paragraphs between empty lines; None if one in the middle is blank."""
    pieces = [bool(piece.strip()) for piece in text.split("\n\n")]
    return sum(pieces) if all(pieces[1:-1]) else None


def _paragraphs_in_words(count: int | None) -> str:
    return "an empty paragraph between others" if count is None else amount(count, "paragraph")


class TwoSpacedParagraphs(Check, id="paragraphs:paragraphs2", suite="iftrain"):
    """There are exactly two paragraphs, separated by one empty line.

    Three empty lines in a row hold a blank paragraph, which fails.
    """

    example = Example(
        kwargs={}, passes="We sail at dawn.\n\nWe land at noon.", fails="We sail at dawn.\nWe land at noon."
    )

    def holds(self, text: Text) -> bool:
        return text.view(_spaced_paragraphs) == 2

    def observed(self, text: Text) -> str:
        return _paragraphs_in_words(text.view(_spaced_paragraphs))

    @property
    def required(self) -> str:
        return "2 paragraphs separated by an empty line"
