"""`count:` of words of a kind: conjunctions, names, Japanese words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, filterfalse

from ... import data
from ...check import Check, Example
from ...kwargs import Count, Ordinal
from ...loose import Rescue
from ...memo import Memo
from ...text import Text
from ...wording import amount, listed
from .common import EDGES

# -- conjunctions -----------------------------------------------------------------------------------

_CONJUNCTIONS = frozenset({"and", "but", "for", "nor", "or", "so", "yet"})
_is_conjunction = Memo(lambda chunk: chunk.strip(EDGES).lower() in _CONJUNCTIONS)


def _conjunctions(raw: str) -> int:
    return sum(map(_is_conjunction.__getitem__, set(raw.split())))


class Conjunctions(
    Check, id="count:conjunctions", suite="ifbench", aliases=("ifbench@2025:count:conjunctions",)
):
    """The response has at least so many different coordinating conjunctions.

    They are and, but, for, nor, or, so, yet, and are told apart as they are written: `And`, `and` and
    `and,` are three.
    """

    small_n: Count
    example = Example(
        kwargs={"small_n": 2},
        passes="It was late, but warm and dry.",
        fails="It was late but dry.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_conjunctions) >= self.small_n

    def observed(self, text: Text) -> str:
        return amount(text.view(_conjunctions), "different conjunction")

    @property
    def required(self) -> str:
        return f"at least {amount(self.small_n, 'different conjunction')}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS


# -- names ------------------------------------------------------------------------------------------

_NAMES = frozenset(data.words("person_names"))
_WORD = re.compile(r"\w+")
_names_in = Memo(lambda chunk: tuple(_NAMES.intersection(_WORD.findall(chunk))))
_names_anywhere_in = Memo(lambda chunk: tuple(name for name in _NAMES if name in chunk))


def _capitalised(raw: str) -> Iterator[str]:
    return filterfalse(str.islower, raw.split())  # a name has a capital


def _whole_names(raw: str) -> set[str]:
    return set(chain.from_iterable(map(_names_in.__getitem__, _capitalised(raw))))


def _names_in_words(raw: str) -> set[str]:
    return set(chain.from_iterable(map(_names_anywhere_in.__getitem__, _capitalised(raw))))


class PersonNames(Check, id="count:person_names", suite="ifbench"):
    """The response has at least `N` different first names of a list of fifty, as whole words."""

    N: Count
    example = Example(
        kwargs={"N": 2},
        passes="Nora rowed and Leo steered.",
        fails="Nora rowed, and in Miami she steered.",
    )

    def names(self, text: Text) -> set[str]:
        """The names in the response."""
        return text.view(_whole_names)

    def holds(self, text: Text) -> bool:
        return len(self.names(text)) >= self.N

    def observed(self, text: Text) -> str:
        return listed(sorted(self.names(text))) or "none of the names"

    @property
    def required(self) -> str:
        return f"at least {amount(self.N, 'different name')} of the list"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS


class PersonNames2025(PersonNames, id="ifbench@2025:count:person_names", suite="ifbench@2025"):
    """The response has at least `N` different first names of a list of fifty, inside words too.

    `Miami` has `Mia` in it.
    """

    example = Example(
        kwargs={"N": 2},
        passes="Nora rowed, and in Miami she steered.",
        fails="Nora rowed and steered.",
    )

    def names(self, text: Text) -> set[str]:
        return text.view(_names_in_words)


# -- Japanese ---------------------------------------------------------------------------------------

_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def _is_japanese(chunk: str) -> bool:
    word = chunk.strip(EDGES)
    return not word or word.isdigit() or _JAPANESE.search(word) is not None


class WordsJapanese(
    Check, id="count:words_japanese", suite="ifbench", aliases=("ifbench@2025:count:words_japanese",)
):
    """Every `N`th word has a Japanese character: hiragana, katakana or a common kanji.

    Numbers and words of nothing but punctuation are let through, and a response with fewer words
    passes; katakana of half width are not known.
    """

    N: Ordinal
    example = Example(
        kwargs={"N": 3},
        passes="A small 猫 sat on 椅子 today.",
        fails="A small 猫 sat on chairs today.",
    )

    def _first_other(self, text: Text) -> str | None:
        """The first word in such a place that is not Japanese."""
        return next(filterfalse(_is_japanese, text.raw.split()[self.N - 1 :: self.N]), None)

    def holds(self, text: Text) -> bool:
        return self._first_other(text) is None

    def observed(self, text: Text) -> str:
        other = self._first_other(text)
        return "Japanese in every such place" if other is None else f'"{other}" in such a place'

    @property
    def required(self) -> str:
        return f"a Japanese word in each place that {self.N} divides"
