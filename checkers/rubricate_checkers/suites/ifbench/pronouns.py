"""`count:pronouns`."""

from __future__ import annotations

import re
import string
from itertools import product

from ... import data
from ...check import Check, Example
from ...kwargs import Count
from ...loose import Rescue
from ...memo import Memo
from ...punkt import sentence_spans
from ...segment import tokens
from ...text import Text
from ...wording import amount
from .common import bare

_PERSONAL = frozenset(data.words("personal_pronouns"))
_PRONOUNS = _PERSONAL.union(data.words("other_pronouns"))

_LETTERS = re.compile(r"[^\W\d_]+")
_PARTED = ("n't", "gimme", "lemme")  # where nltk parts letters, and one part may be a pronoun
_INNER_BREAK = re.compile(r"""[.?!][)";}\]*:@'({\[!?]""")  # where Punkt may cut a chunk
_FOREIGN_SPACES = [c for c in map(chr, range(0x3001)) if c.isspace() and c not in string.whitespace]
_DEPENDS = 1 << 40  # more than any text has, so that a sum tells whether one was in it


def _count_among(words: tuple[str, ...]) -> int:
    return sum(map(_PRONOUNS.__contains__, words))


def _pronouns_of_chunk(chunk: str) -> int:
    """Number of pronouns in a chunk of lower case, or `_DEPENDS` where its surroundings change it."""
    if chunk in _PRONOUNS:
        return 1
    if len(chunk) > 2 and chunk[-1] == "." and chunk[:-1] in _PRONOUNS:
        return 1  # but for `i.` none is an abbreviation: the period ends the sentence and stands alone
    if _PRONOUNS.isdisjoint(_LETTERS.findall(chunk)) and not any(part in chunk for part in _PARTED):
        return 0
    if _INNER_BREAK.search(chunk):
        return _DEPENDS
    contexts = (f"{before}{chunk}{after}" for before, after in product(("", "x ", "x\n"), ("", " x", "\nx")))
    counts = {_count_among(tokens(context, [(0, len(context))])) for context in contexts}
    return counts.pop() if len(counts) == 1 else _DEPENDS


_pronouns_in = Memo(_pronouns_of_chunk)


def _pronouns(raw: str) -> int:
    """Number of pronouns among the tokens, mostly without cutting sentences."""
    text = raw.replace("/", " ").lower()
    if not any(space in text for space in _FOREIGN_SPACES):  # Punkt looks for words between others
        count = sum(map(_pronouns_in.__getitem__, text.split()))
        if count < _DEPENDS:
            return count
    return _count_among(tokens(text, sentence_spans(text)))


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
