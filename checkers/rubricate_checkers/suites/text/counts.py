"""`text:` counts of words, sentences, paragraphs, lines and characters."""

from __future__ import annotations

from ...check import Example
from ...text import Text
from .bounds import Bounded
from .units import line_spans, paragraph_spans, sentence_spans, word_spans


class WordCount(Bounded, id="text:word_count", suite="text"):
    """The response has `min` to `max` words.

    A word is what stands between blanks, dashes (—) and table bars and has a letter or digit:
    `well-known`, `don't` and `3.14` are one each. Each Chinese or Japanese character is a word; a run of
    Thai, Lao, Khmer or Burmese is one.
    """

    noun = "word"
    example = Example(kwargs={"max": 4}, passes="A well-known lighthouse.", fails="A lighthouse on a rock.")

    def spans(self, text: Text) -> list[tuple[int, int]]:
        return text.view(word_spans)


class SentenceCount(Bounded, id="text:sentence_count", suite="text"):
    """The response has `min` to `max` sentences.

    They are cut by nltk's Punkt, which knows English abbreviations, and at the full stops of Chinese,
    Japanese, Arabic and Hindi. A blank line, a heading and an item of a list end the sentence before.
    """

    noun = "sentence"
    example = Example(
        kwargs={"min": 2, "max": 2}, passes="Dr. Lind sails at six. Be there!", fails="Dr. Lind sails at six."
    )

    def spans(self, text: Text) -> list[tuple[int, int]]:
        return text.once(sentence_spans)


class ParagraphCount(Bounded, id="text:paragraph_count", suite="text"):
    """The response has `min` to `max` paragraphs, set off by blank lines.

    A heading or a list that is set off so counts as one; what has no letter or digit, like `***`, does not.
    """

    noun = "paragraph"
    example = Example(
        kwargs={"min": 2},
        passes="Out with the tide.\n\nBack with it.",
        fails="Out with the tide.\nBack with it.",
    )

    def spans(self, text: Text) -> list[tuple[int, int]]:
        return text.view(paragraph_spans)


class LineCount(Bounded, id="text:line_count", suite="text"):
    """The response has `min` to `max` lines; blank ones do not count."""

    noun = "line"
    example = Example(
        kwargs={"min": 2, "max": 2}, passes="Low tide\n\nHigh tide", fails="Low tide, high tide"
    )

    def spans(self, text: Text) -> list[tuple[int, int]]:
        return text.view(line_spans)


class CharCount(Bounded, id="text:char_count", suite="text"):
    """The response has `min` to `max` characters, without the blanks at its ends.

    Characters are Unicode code points: `é` may be one or two, and an emoji several.
    """

    noun = "character"
    example = Example(kwargs={"max": 20}, passes="The tide is out.", fails="The tide is out, so we wait.")

    def spans(self, text: Text) -> list[tuple[int, int]]:
        start = len(text.raw) - len(text.raw.lstrip())
        return [(start, max(start, len(text.raw.rstrip())))]

    def count(self, text: Text) -> int:
        return len(text.raw.strip())
