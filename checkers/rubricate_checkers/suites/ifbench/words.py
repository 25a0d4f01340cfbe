"""`words:` about each word by itself or beside its neighbour."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from string import ascii_lowercase

from ...check import Check, Example, Span
from ...kwargs import Count
from ...loose import Rescue
from ...spans import each_word
from ...text import Text
from ...wording import amount
from .common import bare, chunks


def _alphabet_fault(raw: str) -> str | None:
    """What is wrong with the initials, or None where each is the letter after the one before."""
    words = chunks(bare(raw))
    first = next(words, None)
    if first is None:
        return "no words"
    expected = ascii_lowercase.find(first[0].lower())
    if expected < 0:
        return f'"{first}" first'
    for word in words:
        expected = (expected + 1) % 26
        if word.lower()[0] != ascii_lowercase[expected]:
            return f'"{word}" where {ascii_lowercase[expected]} is next'
    return None


class Alphabet(Check, id="words:alphabet", suite="ifbench", aliases=("ifbench@2025:words:alphabet",)):
    """Each word starts with the letter after that of the word before; a comes after z.

    Punctuation is taken out first; the first word may start with any letter from a to z.
    """

    example = Example(
        kwargs={},
        passes="Xenia yields Zac's apple.",
        fails="Xenia yields all apples.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_alphabet_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_alphabet_fault) or "the letters in order"

    @property
    def required(self) -> str:
        return "words that start with consecutive letters"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARRED  # asterisks are punctuation


class Vowels(Check, id="words:vowel", suite="ifbench", aliases=("ifbench@2025:words:vowel",)):
    """The response is one paragraph, that is one line, with at most three of the vowels a, e, i, o, u."""

    example = Example(kwargs={}, passes="A red hen went in.", fails="A red hen went out in sun.")

    def _vowels(self, text: Text) -> list[str]:
        return [vowel for vowel in "aeiou" if vowel in text.lower]

    def holds(self, text: Text) -> bool:
        return "\n" not in text.raw.strip() and len(self._vowels(text)) <= 3

    def observed(self, text: Text) -> str:
        lines = amount(text.raw.strip().count("\n") + 1, "line")
        return f"{lines} with the vowels {' '.join(self._vowels(text)) or 'none'}"

    @property
    def required(self) -> str:
        return "one line with at most three different vowels"


_CLUSTER = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")


def _without_cluster(raw: str) -> str | None:
    return next((word for word in chunks(raw.lower()) if not _CLUSTER.search(word)), None)


class Consonants(Check, id="words:consonants", suite="ifbench", aliases=("ifbench@2025:words:consonants",)):
    """Each word has two consonants next to each other; y is one.

    Words stand between whitespace, so a number or a lone dash fails.
    """

    example = Example(kwargs={}, passes="Bright stars blink.", fails="Bright stars are out.")

    def holds(self, text: Text) -> bool:
        return text.view(_without_cluster) is None

    def observed(self, text: Text) -> str:
        word = text.view(_without_cluster)
        return "a cluster in each word" if word is None else f'no cluster in "{word}"'

    @property
    def required(self) -> str:
        return "two consonants together in each word"

    def evidence(self, text: Text) -> Iterable[Span]:
        return each_word(text.raw, "violation", lambda word: not _CLUSTER.search(word.lower()))


def _palindromes(raw: str) -> int:
    words = bare(raw).lower().split()
    return sum(1 for word in words if word[0] == word[-1] and len(word) > 4 and word == word[::-1])


class Palindromes(Check, id="words:palindrome", suite="ifbench", aliases=("ifbench@2025:words:palindrome",)):
    """The response has at least ten palindromes of five characters or more, repeats included.

    Punctuation is taken out first; a number can be one.
    """

    example = Example(
        kwargs={},
        passes="Level, civic, radar, refer, rotor, kayak, madam, tenet, sagas, stats.",
        fails="Level, civic, radar.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_palindromes) >= 10

    def observed(self, text: Text) -> str:
        return amount(text.view(_palindromes), "palindrome")

    @property
    def required(self) -> str:
        return "at least 10 palindromes of 5 characters or more"

    def evidence(self, text: Text) -> Iterable[Span]:
        return each_word(text.raw, "counted", lambda word: _palindromes(word) > 0)

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE


_PRIMES = frozenset(n for n in range(2, 100) if all(n % divisor for divisor in range(2, n)))


def _of_other_length(raw: str) -> str | None:
    return next((word for word in chunks(bare(raw)) if len(word) not in _PRIMES), None)


class PrimeLengths(
    Check, id="words:prime_lengths", suite="ifbench", aliases=("ifbench@2025:words:prime_lengths",)
):
    """The length of each word is a prime number below 100; punctuation is taken out first."""

    example = Example(kwargs={}, passes="We saw seven geese.", fails="We were ready.")

    def holds(self, text: Text) -> bool:
        return text.view(_of_other_length) is None

    def observed(self, text: Text) -> str:
        word = text.view(_of_other_length)
        return "prime lengths only" if word is None else f'"{word}" of {amount(len(word), "character")}'

    @property
    def required(self) -> str:
        return "words of prime length only"

    def evidence(self, text: Text) -> Iterable[Span]:
        return each_word(text.raw, "violation", lambda word: _of_other_length(word) is not None)

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARRED  # asterisks are punctuation


def _most_common(raw: str) -> tuple[str, int]:
    counts = Counter(bare(raw.lower()).split())
    word = max(counts, key=counts.__getitem__, default="")
    return word, counts[word]


class Repeats(Check, id="words:repeats", suite="ifbench", aliases=("ifbench@2025:words:repeats",)):
    """No word occurs more than so many times, whatever its case; punctuation is taken out first."""

    small_n: Count
    example = Example(
        kwargs={"small_n": 1},
        passes="Knock before you enter.",
        fails="Knock, knock, who is there?",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_most_common)[1] <= self.small_n

    def observed(self, text: Text) -> str:
        word, times = text.view(_most_common)
        return f'"{word}" {amount(times, "time")}' if times else "no words"

    @property
    def required(self) -> str:
        return f"no word more than {amount(self.small_n, 'time')}"

    def evidence(self, text: Text) -> Iterable[Span]:
        most_common = text.view(_most_common)[0]
        return each_word(text.raw, "counted", lambda word: bare(word.lower()) == most_common)

    @property
    def rescue(self) -> Rescue:
        return Rescue.SMALLEST


def _same_initials(raw: str) -> str | None:
    """The first two neighbours that start with the same character."""
    pairs = pairwise(chunks(bare(raw.lower())))
    return next((f"{word} {other}" for word, other in pairs if word[0] == other[0]), None)


class NoConsecutive(
    Check, id="words:no_consecutive", suite="ifbench", aliases=("ifbench@2025:words:no_consecutive",)
):
    """No two neighbouring words start with the same letter; punctuation is taken out first."""

    example = Example(kwargs={}, passes="Big dogs run.", fails="Big brown dogs run.")

    def holds(self, text: Text) -> bool:
        return text.view(_same_initials) is None

    def observed(self, text: Text) -> str:
        words = text.view(_same_initials)
        return "different initials" if words is None else f'"{words}"'

    @property
    def required(self) -> str:
        return "neighbouring words with different initials"

    @property
    def rescue(self) -> Rescue:
        return Rescue.SMALLEST
