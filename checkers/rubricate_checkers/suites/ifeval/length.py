"""`length_constraints:`: numbers of words, sentences and paragraphs."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationInfo, field_validator

from ...check import Check, Example, Span
from ...kwargs import DRAWN_NOTE, Count, Ordinal, Relation, Str, refuse
from ...loose import Rescue
from ...punkt import most_sentences
from ...text import Text
from ...wording import amount, compare

_SEPARATOR = "***"


class NumberOfWords(Check, id="length_constraints:number_words", aliases=("rubrichub:NumberOfWords",)):
    r"""The response has `less than` or `at least` so many words.

    A word is a run of `\w`: `don't` is two, `a_b` is one, a run of Chinese characters is one.
    """

    num_words: Count
    relation: Relation
    example = Example(
        kwargs={"num_words": 4, "relation": "at least"},
        passes="Four words are enough.",
        fails="Three are not.",
    )

    def holds(self, text: Text) -> bool:
        return compare(text.word_count, self.relation, self.num_words)

    def observed(self, text: Text) -> str:
        return amount(text.word_count, "word")

    @property
    def required(self) -> str:
        return f"{self.relation} {amount(self.num_words, 'word')}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE if self.relation == "at least" else Rescue.SMALLEST


class NumberOfSentences(
    Check, id="length_constraints:number_sentences", aliases=("rubrichub:NumberOfSentences",)
):
    """The response has `less than` or `at least` so many sentences, as Punkt's English model cuts them.

    A heading or list item without a full stop belongs to the sentence after it.
    """

    num_sentences: Count
    relation: Relation
    example = Example(
        kwargs={"num_sentences": 2, "relation": "at least"},
        passes="It rains. We stay.",
        fails="It rains and we stay.",
    )

    def holds(self, text: Text) -> bool:
        if most_sentences(text.raw) < self.num_sentences:
            return self.relation == "less than"
        return compare(len(text.sentence_spans), self.relation, self.num_sentences)

    def observed(self, text: Text) -> str:
        return amount(len(text.sentence_spans), "sentence")

    @property
    def required(self) -> str:
        return f"{self.relation} {amount(self.num_sentences, 'sentence')}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(start, end, "counted") for start, end in text.sentence_spans)


def separated_paragraphs(text: str) -> int | None:
    """Number of paragraphs between `***` separators; None if one in the middle is empty."""
    pieces = [bool(piece.strip()) for piece in text.split(_SEPARATOR)]
    return None if not all(pieces[1:-1]) else sum(pieces)


class NumberOfParagraphs(
    Check, id="length_constraints:number_paragraphs", aliases=("rubrichub:ParagraphChecker",)
):
    """The response has exactly so many paragraphs, separated by `***`.

    Blank lines separate nothing, and bold italics (`***so***`) do. An empty paragraph may come first
    or last, where it does not count, but not in between.
    """

    num_paragraphs: Count
    example = Example(
        kwargs={"num_paragraphs": 2},
        passes="The way there.\n***\nThe way back.",
        fails="The way there.\n\nThe way back.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(separated_paragraphs) == self.num_paragraphs

    def observed(self, text: Text) -> str:
        count = text.view(separated_paragraphs)
        return "an empty paragraph between others" if count is None else amount(count, "paragraph")

    @property
    def required(self) -> str:
        return f"{amount(self.num_paragraphs, 'paragraph')} separated by ***"

    def evidence(self, text: Text) -> Iterable[Span]:
        at = text.raw.find(_SEPARATOR)
        while at >= 0:
            yield Span(at, at + len(_SEPARATOR), "counted")
            at = text.raw.find(_SEPARATOR, at + len(_SEPARATOR))


class NthParagraphFirstWord(
    Check,
    id="length_constraints:nth_paragraph_first_word",
    aliases=("rubrichub:ParagraphFirstWordCheck",),
):
    """There are exactly so many paragraphs, separated by an empty line, and the nth starts with a word.

    Blank paragraphs do not count, yet they shift which one is the nth. Quotes before the word and
    punctuation after it are ignored, other marks are not (`*So*` starts with `*so*`).
    """

    num_paragraphs: Count
    nth_paragraph: Ordinal
    first_word: Str
    example = Example(
        kwargs={"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "later"},
        passes="We met.\n\nLater, we spoke.",
        fails="We met.\n\nWe spoke later.",
    )

    @field_validator("nth_paragraph")
    @classmethod
    def _nth_is_there(cls, value: int, info: ValidationInfo) -> int:
        if value > info.data.get("num_paragraphs", value):
            refuse(f"must not exceed num_paragraphs ({value}): {DRAWN_NOTE}")
        return value

    def _first_word(self, text: Text) -> str | None:
        """First word of the nth paragraph in lower case; None where there is no such paragraph."""
        pieces = text.view(_paragraphs)
        tokens = pieces[self.nth_paragraph - 1].split(None, 1) if self.nth_paragraph <= len(pieces) else []
        if not tokens:
            return None
        word = tokens[0].lstrip("'").lstrip('"')
        end = next((i for i, char in enumerate(word) if char in ".,?!'\""), len(word))
        return word[:end].lower()

    def holds(self, text: Text) -> bool:
        return (
            _count_nonblank(text) == self.num_paragraphs and self._first_word(text) == self.first_word.lower()
        )

    def observed(self, text: Text) -> str:
        word = self._first_word(text)
        start = "is blank or missing" if word is None else f'starts with "{word}"'
        return f"{amount(_count_nonblank(text), 'paragraph')}, number {self.nth_paragraph} {start}"

    @property
    def required(self) -> str:
        count = amount(self.num_paragraphs, "paragraph")
        return f'{count}, number {self.nth_paragraph} starting with "{self.first_word}"'


def _paragraphs(text: str) -> list[str]:
    return text.split("\n\n")


def _count_nonblank(text: Text) -> int:
    pieces = text.view(_paragraphs)
    return len(pieces) - pieces.count("") - sum(map(str.isspace, pieces))
