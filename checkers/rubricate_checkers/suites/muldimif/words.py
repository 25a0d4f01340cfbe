"""Number of words of a response; sentences with "each" go to `words_each`.

Words are what blanks separate. In a response with a Chinese character or full-width mark, those
are counted instead and other words ignored.
"""

from __future__ import annotations

import re

from . import words_each
from .numbers import TO_HUNDRED, compound
from .requirement import All, Bounds, Counted, Requirement
from .terms import Terms

__all__ = ["parse"]

_NAMES = {"zero": 0} | TO_HUNDRED

_CHINESE = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\u3000-\u303f\uff00-\uffef]")
_STOPS = re.compile(r"[.!?]+")
_QUOTED = re.compile(r"""["']([^']*)["']""")

_EXACT = re.compile(r"exactly\s+([a-z0-9-, ]+?)\s+\S+")
"""The number is nearly always the first word after `exactly`, also of `exactly twenty five`."""

_END = r"(?=\s*word|$|\b)"
_RANGES = [
    re.compile(pattern)
    for pattern in (
        rf"between\s+([a-z0-9-– ]+?)\s+to\s+([a-z0-9-– ]+?){_END}",
        rf"between\s+([a-z0-9-– ]+?)\s+and\s+([a-z0-9-– ]+?){_END}",
        rf"range:?\s*([a-z0-9-– ]+?)\s+to\s+([a-z0-9-– ]+?){_END}",
        rf"range:?\s*([a-z0-9-– ]+?)\s*[-–]\s*([a-z0-9-– ]+?){_END}",
        rf"(\b[a-z0-9-–]+\b)\s+to\s+(\b[a-z0-9-–]+\b){_END}",
        rf"(\b[a-z0-9-–]+\b)\s*[-–]\s*(\b[a-z0-9-–]+\b){_END}",
        r"([0-9]+)\s*到\s*([0-9]+)(?=\s*个|字)",
    )
]

_MIN_WORDS = [re.compile(r"(?:at\s+least|minimum\s+(?:length\s+)?of|no\s+less\s+than)\s+(\S+)\s+word")]
_MAX_WORDS = [
    re.compile(pattern)
    for pattern in (
        r"(?:not\s+exceed(?:ing)?|not\s+surpass|at\s+most|no\s+more\s+than|maximum\s+(?:length\s+)?of"
        r"|no\s+longer\s+than|limit\s+of|within(?:\s+a)?)\s+(\S+)\s+word",
        r"最多([0-9]+)(?:个|字)",
        r"在([0-9]+)\s*(?:个单词以内|个字以内|字以内|单词以内|词以内|字)",
    )
]
_MIN_SENTENCES = [re.compile(r"(?:at\s+least|minimum\s+of)\s+(\S+)\s+sentence")]
_MAX_SENTENCES = [
    re.compile(
        r"(?:not\s+exceed|at\s+most|no\s+more\s+than|maximum\s+(?:length\s+)?of|no\s+longer\s+than)"
        r"\s+(\S+)\s+sentence"
    )
]


def _count_words(raw: str) -> int:
    chinese = sum(1 for _ in _CHINESE.finditer(raw))
    return chinese or len(raw.split())


def _count_sentences(raw: str) -> int:
    return sum(1 for _ in _STOPS.finditer(raw))


def parse(sentence: str) -> Requirement:
    """The numbers that a sentence sets, and what it quotes: all of it must occur in the response.

    One that sets nothing is satisfied by every response.
    """
    if re.search(r"\beach\b", sentence, re.IGNORECASE):
        return words_each.parse(sentence)
    sentence = _normalised(sentence)
    match = _EXACT.search(sentence)
    exact = compound(match[1], _NAMES) if match else None
    if exact is not None:
        return Counted(_count_words, Bounds(exact, exact), "word")
    parts: list[Requirement] = []
    if quoted := tuple(_QUOTED.findall(sentence)):
        parts.append(Terms(quoted))
    sentences = Bounds(_first(_MIN_SENTENCES, sentence), _first(_MAX_SENTENCES, sentence))
    for count, bounds, noun in (
        (_count_words, _word_bounds(sentence), "word"),
        (_count_sentences, sentences, "sentence"),
    ):
        if bounds != Bounds():
            parts.append(Counted(count, bounds, noun))
    return All.of(parts)


def _normalised(sentence: str) -> str:
    sentence = re.sub(r"\s+", " ", sentence.lower().strip('"').strip())
    for old, new in (("-word", " word"), ("a total of ", ""), ("words", "word"), ("a single", "exactly one")):
        sentence = sentence.replace(old, new)
    return sentence.strip()


def _word_bounds(sentence: str) -> Bounds:
    low: int | None = None
    high: int | None = None
    for pattern in _RANGES:
        # an end that is no number leaves the other one standing, unless a later pattern fits
        if match := pattern.search(sentence):
            low, high = compound(match[1], _NAMES), compound(match[2], _NAMES)
            if low is not None and high is not None:
                return Bounds(min(low, high), max(low, high))
    if low is None:
        low = _first(_MIN_WORDS, sentence)
    if high is None:
        high = _first(_MAX_WORDS, sentence)
    return Bounds(low, high)


def _first(patterns: list[re.Pattern[str]], sentence: str) -> int | None:
    """The number of the first pattern that finds one."""
    for pattern in patterns:
        match = pattern.search(sentence)
        number = compound(match[1], _NAMES) if match else None
        if number is not None:
            return number
    return None
