"""The first and last tokens of a text, without cutting the rest.

Where nltk cuts a sentence depends on the word at hand and the next one, and a token on its chunk and
its neighbours, so that a dozen chunks at either end decide the tokens there.
"""

from __future__ import annotations

import re

from ...punkt import sentence_spans
from ...segment import tokens

__all__ = ["first_tokens", "last_tokens"]

_CHUNKS = 12
_BEGINNING = re.compile(rf"\s*\S++(?:\s++\S++){{{_CHUNKS - 1}}}")


def _tokens(text: str) -> tuple[str, ...]:
    return tokens(text, sentence_spans(text))


def first_tokens(raw: str, count: int) -> tuple[str, ...]:
    """The first tokens of a text.

    Args:
        raw: Any text.
        count: How many, at most 4.

    Returns:
        As many of its first `nltk.word_tokenize` tokens as it has, up to `count`.

    Raises:
        MissingData: nltk or Punkt's parameters are not installed.
    """
    beginning = _BEGINNING.match(raw)
    return _tokens(beginning[0] if beginning else raw)[:count]


def last_tokens(raw: str, count: int) -> tuple[str, ...]:
    """The last tokens of a text.

    Args:
        raw: Any text.
        count: How many, at most 4.

    Returns:
        As many of its last `nltk.word_tokenize` tokens as it has, up to `count`.

    Raises:
        MissingData: nltk or Punkt's parameters are not installed.
    """
    chunks = raw.rsplit(None, _CHUNKS)
    if len(chunks) <= _CHUNKS:
        return _tokens(raw)[-count:]
    end = raw.rstrip()
    return _tokens(end[len(chunks[0]) :])[-count:]
