"""How a response begins and ends, its sources, quotes and emojis: sentences mostly known by heart."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
from dataclasses import dataclass

from ...kwargs import refuse
from ...text import Text
from .measures import SHORT_BLURB, count_citations, count_words
from .requirement import Bounds, Counted, Requirement, Trait, Unclear

__all__ = ["parse"]

_START_IDENTIFIER = re.compile(r"Start identifier(?: must be|:).*\s'([^']+)'")
_START_WITH = re.compile(
    "(?:start|begin|it is essential to start) (?:with|by) the (?:identifier|phrase) '?([^']+)'?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"The name of the showroom must start with the letter '([A-Za-z])'\.")
_MENTION = re.compile("[Mm]ust mention (.+) and the (.+)")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")
_EMOJIS = re.compile("[\u2702-\u27b0\u24c2-\U0001f251\U00010000-\U0010ffff]+")
"""A run of emojis is one, and far more than emojis is taken for one: Chinese characters, too."""
_NUMBERED_SOURCE = re.compile(r"\[\d+\]")
_QUOTE = re.compile("[\"“”‘’']")


def parse(sentence: str) -> Requirement:
    """What a sentence asks for. One that is not known is satisfied by no response."""
    start = _START_IDENTIFIER.match(sentence)
    if "Each example must start with" in sentence:
        if start is None:
            refuse("has no start in single quotes, on which the reference code breaks")
        return _contains(start[1])
    if sentence in _KNOWN:
        return _KNOWN[sentence]
    if start := start or _START_WITH.search(sentence):
        return _Start(start[1])
    if letter := _LETTER.match(sentence):
        word = re.compile(rf"\b{letter[1].upper()}[a-zA-Z]*\b")
        return _matched(word, f'a word that starts with "{letter[1].upper()}"')
    if mention := _MENTION.search(sentence):
        return _contains(mention[1], f"the {mention[2]}")
    return Unclear(passes="be in full sentences" in sentence)


def _contains(*phrases: str) -> Trait:
    words = " and ".join(f'"{phrase}"' for phrase in phrases)
    return Trait(lambda raw: all(phrase in raw for phrase in phrases), words, f"not {words}")


def _matched(pattern: re.Pattern[str], trait: str) -> Trait:
    return Trait(lambda raw: pattern.search(raw) is not None, trait, f"not {trait}")


@dataclass(frozen=True)
class _Start(Requirement):
    """The response starts with a string, in any case, after blanks and `#`."""

    start: str

    def _beginning(self, text: Text) -> str:
        return text.raw.lstrip(" #")

    def holds(self, text: Text) -> bool:
        return self._beginning(text).lower().startswith(self.start.lower())

    def observed(self, text: Text) -> str:
        return f'"{self._beginning(text)[: len(self.start)]}"'

    @property
    def required(self) -> str:
        return f'"{self.start}" at the start'


def _has_emojis(raw: str) -> bool:
    sentences = map(str.strip, _SENTENCE_END.split(raw))
    return all(len(_EMOJIS.findall(sentence)) >= 3 for sentence in sentences if sentence)


def _names_sources(raw: str) -> bool:
    """Whether the last line has `Sources:` with something behind it, or comes right after `Sources:`."""
    heading = "Sources:"
    end = len(raw) - raw.endswith("\n")
    line = raw.rfind("\n", 0, end) + 1
    inside = raw.find(heading, line, end)
    if inside >= 0 and inside + len(heading) < end:
        return True
    before = raw.rfind(heading, 0, line)
    return before >= 0 and line < end and not raw[before + len(heading) : line].strip()


def _ends_with_sources(raw: str) -> bool:
    return _names_sources(raw.strip())


def _cites_sources(raw: str) -> bool:
    return _names_sources(raw) and _NUMBERED_SOURCE.search(raw) is not None


_AT_END = Trait(_ends_with_sources, "sources at the end", "no sources at the end")
_CITED = Trait(_cites_sources, "sources at the end, cited as [1]", "no cited sources")
_QUOTED = _matched(_QUOTE, "a quotation mark or apostrophe")

_KNOWN: dict[str, Requirement] = {
    "Keep it a paragraph long": Trait(lambda raw: "\n" not in raw, "one line", "a line break"),
    "End identifier: Sources must be cited at the end of the response": _AT_END,
    (
        "make sure to conclude your response by citing your sources, as this is a crucial part of the answer"
    ): _AT_END,
    "Response must be written as a short blurb": SHORT_BLURB,
    "ensure that the response is written as a short blurb": SHORT_BLURB,
    "ensure the response is a short blurb": SHORT_BLURB,
    "The response must be short and simple": SHORT_BLURB,
    "The response should be concise, with a maximum of 50 words": Counted(
        count_words, Bounds(high=50), "word"
    ),
    "Each sentence must include at least three emojis.": Trait(
        _has_emojis, "3 runs of emojis in each sentence", "a sentence with fewer than 3 runs of emojis"
    ),
    "Must include quotes from the sources": _QUOTED,
    "with quotes from these sources": _QUOTED,
    "Must provide sources that are cited": _CITED,
    "The response must include sources that are cited": _CITED,
    "It must include in-text citations": Counted(count_citations, Bounds(low=1), "citation"),
}
