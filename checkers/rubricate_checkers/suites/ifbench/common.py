"""What several checks of IFBench read: words without punctuation, and the sentences of a generation."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Sequence

from ...check import Check
from ...regex_sentences import first_sentences, regex_sentences
from ...text import Text

__all__ = [
    "EDGES",
    "ReadsSentences",
    "RegexSentences",
    "bare",
    "chunks",
    "may_occur",
    "spaces_unless",
]

EDGES = string.punctuation + " "
"""What is stripped from the ends of words: ASCII punctuation and the space, no other whitespace."""

_PUNCTUATION = string.punctuation.encode()


def bare(text: str) -> str:
    """The text without ASCII punctuation; nothing takes its place, so `well-known` is one word."""
    # no byte of UTF-8 but an ASCII character itself is below 128, and bytes are quick to delete
    return (
        text.encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION).decode("utf-8", "surrogatepass")
    )


def spaces_unless(keeps: Callable[[str], bool]) -> bytes:
    """A table for `bytes.translate` that turns the ASCII characters that are not kept into spaces."""
    return bytes(code if keeps(chr(code)) else ord(" ") for code in range(128)) + bytes(128)


_CHUNK = re.compile(r"\S+")


def chunks(text: str) -> Iterator[str]:
    """What `str.split` finds, one by one: most checks of every word fail at one of the first."""
    return (match[0] for match in _CHUNK.finditer(text))


def may_occur(word: str, text: Text) -> bool:
    """False only where a word is certain not to be in the response, in any case.

    That is cheaper to see than which sentence or place it is in.
    """
    if not (word.isascii() and word.isalnum()) or text.ascii_lower is None:
        return True
    return word.lower() in text.ascii_lower


class ReadsSentences(Check):
    """A check that reads sentences, which Punkt cuts in the newer generation."""

    def sentences(self, text: Text) -> Sequence[str]:
        """The response's sentences as this generation cuts them."""
        return text.sentences

    def beginning(self, text: Text) -> Sequence[str]:
        """Some of the first sentences, or none where that takes as long as all of them."""
        return ()


class RegexSentences(ReadsSentences):
    """A check of the older generation, which cuts sentences by regular expressions."""

    def sentences(self, text: Text) -> Sequence[str]:
        return text.view(regex_sentences)

    def beginning(self, text: Text) -> Sequence[str]:
        """Some of the first sentences."""
        return text.view(first_sentences)
