"""`words:` that need a language resource: parts of speech and syllables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

from ...check import Check, Example
from ...errors import MissingData
from ...loose import Rescue
from ...memo import Memo
from ...text import Text
from .common import bare, chunks
from .ends import first_tokens


@cache
def _tagger() -> Any:
    """The English tagger of nltk; raises `MissingData` where its weights are not on nltk's path."""
    from nltk.tag.perceptron import PerceptronTagger

    try:
        return PerceptronTagger(lang="eng")
    except LookupError as error:
        raise MissingData(
            "the weights of nltk's English tagger are not installed; put averaged_perceptron_tagger_eng "
            "into the folder taggers of a directory that NLTK_DATA names"
        ) from error


def _tag_of_first(tokens: str) -> str:
    """What `tag` says of the first token, without tagging the others."""
    words, tagger = tokens.split(" "), _tagger()
    tag: str | None = tagger.tagdict.get(words[0])
    if tag is None:
        context = [*tagger.START, *map(tagger.normalize, words), *tagger.END]
        features = tagger._get_features(0, words[0], context, *tagger.START)
        tag, _ = tagger.model.predict(features)
    return tag


_first_tag = Memo(_tag_of_first, limit=5_000)


def _start(raw: str) -> tuple[str, str]:
    """(first token, its part of speech). The tagger reads no further than two tokens ahead."""
    tokens = first_tokens(raw, 3)
    return tokens[0], _first_tag[" ".join(tokens)]


class StartVerb(Check, id="words:start_verb", suite="ifbench", aliases=("ifbench@2025:words:start_verb",)):
    """The response starts with a verb, as nltk's averaged perceptron tags its first token.

    The tagger errs: it takes the `Go` of `Go home now.` for a name. A leading mark, such as `**`,
    fails. Without the tagger's weights the check cannot decide.
    """

    example = Example(kwargs={}, passes="Running late is rude.", fails="The bus is late.")

    def holds(self, text: Text) -> bool:
        return "VB" in text.view(_start)[1]

    def observed(self, text: Text) -> str:
        token, tag = text.view(_start)
        return f'"{token}" first, tagged {tag}'

    @property
    def required(self) -> str:
        return "a verb (VB…) first"


@cache
def _count_syllables() -> Callable[[str], int]:
    try:
        import syllapy
    except ImportError as error:
        raise MissingData("syllapy is not installed; install rubricate[checkers]") from error
    count: Callable[[str], int] = syllapy.count
    return count


_syllables = Memo(lambda word: _count_syllables()(word))


def _same_parity(raw: str) -> str | None:
    """The first two neighbours of which both have an odd or both an even number of syllables."""
    for word, other in pairwise(chunks(bare(raw).lower())):
        if _syllables[word] % 2 == _syllables[other] % 2:
            return f'"{word}" with {_syllables[word]} and "{other}" with {_syllables[other]}'
    return None


class OddEvenSyllables(
    Check,
    id="words:odd_even_syllables",
    suite="ifbench",
    aliases=("ifbench@2025:words:odd_even_syllables",),
):
    """Words with an odd and an even number of syllables alternate, as the package syllapy counts them.

    Punctuation is taken out first. A word with digits has no syllables, which is even; a single word
    passes.
    """

    example = Example(kwargs={}, passes="Green apples taste sour-sweet.", fails="Green trees grow tall.")

    def holds(self, text: Text) -> bool:
        return text.view(_same_parity) is None

    def observed(self, text: Text) -> str:
        return text.view(_same_parity) or "odd and even numbers of syllables in turn"

    @property
    def required(self) -> str:
        return "odd and even numbers of syllables in turn"

    @property
    def rescue(self) -> Rescue:
        return Rescue.SMALLEST
