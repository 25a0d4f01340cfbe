"""`count:` of words that are on a list: conjunctions, names, pronouns, Japanese words."""

# The methods are those of Check and are documented there.
from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, filterfalse, product

from ... import data
from ...check import Check, Example
from ...kwargs import Count, Ordinal
from ...loose import Rescue
from ...memo import Memo
from ...punkt import sentence_spans
from ...segment import tokens
from ...text import Text
from ...wording import amount, listed
from .common import EDGES, bare

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


# -- pronouns ---------------------------------------------------------------------------------------

_PERSONAL = frozenset(data.words("personal_pronouns"))
_PRONOUNS = _PERSONAL.union(data.words("other_pronouns"))
_LETTERS = re.compile(r"[^\W\d_]+")
_PARTED = ("n't", "gimme", "lemme")  # where nltk parts letters, and one part may be a pronoun
_DEPENDS = 1 << 40  # more than any text has, so that a sum tells whether one was in it


def _count_pronouns(words: tuple[str, ...]) -> int:
    return sum(map(_PRONOUNS.__contains__, words))


def _pronouns_of_chunk(chunk: str) -> int:
    """Number of pronouns in a chunk of lower case, or `_DEPENDS` where its surroundings change it."""
    if chunk in _PRONOUNS or (chunk[-1] == "." and chunk[:-1] in _PRONOUNS):
        return 1  # no pronoun is an abbreviation, so its period always ends the sentence and stands alone
    if _PRONOUNS.isdisjoint(_LETTERS.findall(chunk)) and not any(part in chunk for part in _PARTED):
        return 0
    contexts = (f"{before}{chunk}{after}" for before, after in product(("", "x ", "x\n"), ("", " x", "\nx")))
    counts = {_count_pronouns(tokens(context, [(0, len(context))])) for context in contexts}
    return counts.pop() if len(counts) == 1 else _DEPENDS


_pronouns_in = Memo(_pronouns_of_chunk)


def _pronouns(raw: str) -> int:
    text = raw.replace("/", " ").lower()
    count = sum(map(_pronouns_in.__getitem__, text.split()))
    return count if count < _DEPENDS else _count_pronouns(tokens(text, sentence_spans(text)))


def _personal_pronouns(raw: str) -> int:
    return sum(map(_PERSONAL.__contains__, bare(raw.replace("/", " ").lower()).split()))


class Pronouns(Check, id="count:pronouns", suite="ifbench"):
    """The response has at least `N` pronouns of any kind, repeats included.

    Words are nltk's tokens of the response in lower case, so the `it` of `it's` counts; a slash parts
    words (`she/her` is two).
    """

    N: Count
    example = Example(
        kwargs={"N": 3},
        passes="She gave me something.",
        fails="She gave Leo a book.",
    )

    def count(self, text: Text) -> int:
        """Number of pronouns in the response."""
        return text.view(_pronouns)

    def holds(self, text: Text) -> bool:
        return self.count(text) >= self.N

    def observed(self, text: Text) -> str:
        return amount(self.count(text), "pronoun")

    @property
    def required(self) -> str:
        return f"at least {amount(self.N, 'pronoun')}"


class Pronouns2025(Pronouns, id="ifbench@2025:count:pronouns", suite="ifbench@2025"):
    """The response has at least `N` personal pronouns, possessive and reflexive ones included.

    Punctuation is taken out first, so `it's` is the pronoun `its`; a slash parts words.
    """

    example = Example(
        kwargs={"N": 3},
        passes="She gave me her book.",
        fails="She gave me something.",
    )

    def count(self, text: Text) -> int:
        return text.view(_personal_pronouns)

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE


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
