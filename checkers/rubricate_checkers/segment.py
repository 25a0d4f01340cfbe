r"""Words as the reference codes count them: `\w+` runs, and nltk's tokens.

`nltk.word_tokenize` cuts sentences, then runs some thirty regular expressions over each. Once a
sentence is cut, all of them look no further than one whitespace-separated chunk and the characters
around it, so a chunk's tokens can be remembered. What the short-cuts here do not cover goes through
nltk's own tokenizer, one chunk at a time.
"""

from __future__ import annotations

import re
import string
from functools import cache
from itertools import filterfalse, product
from typing import Any

import numpy as np

from .errors import MissingData
from .memo import Memo

__all__ = ["count_words", "tokens", "uppercase_tokens"]

_WORD = re.compile(r"\w+")
_IS_WORD = [c > 127 or chr(c).isalnum() or c == ord("_") for c in range(256)]
_NOT_WORD_TO_SPACE = bytes(c if is_word else ord(" ") for c, is_word in enumerate(_IS_WORD))
_WORD_TO_ONE = bytes(_IS_WORD)


def count_words(text: str) -> int:
    r"""Number of `\w+` matches: `don't` is two, `a_b` is one, a run of Chinese is one."""
    if text.isascii():
        is_word = np.frombuffer((" " + text).encode().translate(_WORD_TO_ONE), dtype=np.bool_)
        return int(np.count_nonzero(is_word[1:] > is_word[:-1]))
    pieces = text.encode(errors="surrogatepass").translate(_NOT_WORD_TO_SPACE).split()
    other = (piece.decode(errors="surrogatepass") for piece in filterfalse(bytes.isascii, pieces))
    return len(pieces) + sum(len(_WORD.findall(piece)) - 1 for piece in other)


# -- tokens of one chunk --------------------------------------------------------------------------

_CONTRACTION = re.compile(r"(?i)cannot|d'ye|gimme|gonna|gotta|lemme|more'n|wanna|'tis|'twas")
_CLITIC = re.compile(r"([^\W_]+)('[smdSMD]|'ll|'LL|'re|'RE|'ve|'VE|n't|N'T)([,;:?!]?)")
_COLON_COMMA = re.compile(r"([:,])([^\d])")
_PADDED = re.compile(r"[;@#$%&?!*\[\](){}<>«“‘„»”’`\u2012-\u2015]|\.{2,}|--")
_QUOTE = re.compile(r"\"|'(?:(?!\w)|(?<!\w'))")
_CLOSERS = frozenset("])}>\"'»”’")
_FINAL_PERIOD = re.compile(r"(.*[^.])?\.([\])}>»”’]*)", re.DOTALL)
_CHUNK = re.compile(r"\S+")


@cache
def _nltk_tokenize() -> Any:
    try:
        from nltk.tokenize.destructive import NLTKWordTokenizer
    except ImportError as error:
        raise MissingData("nltk is not installed; install rubricate[checkers]") from error
    return NLTKWordTokenizer().tokenize


def _inner_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of a chunk without edge quotes that does not end its sentence."""
    if not _CONTRACTION.search(chunk):
        if chunk.isalnum():
            return (chunk,)
        if chunk[-1] in ",;:?!" and chunk[:-1].isalnum():
            return chunk[:-1], chunk[-1]
        if "'" in chunk:
            clitic = _CLITIC.fullmatch(chunk)
            if clitic:
                return tuple(filter(None, clitic.groups()))
        elif '"' not in chunk and "``" not in chunk:
            return _pads(chunk)
    return _tokens_between(" ", chunk, " ")


def _pads(chunk: str) -> tuple[str, ...]:
    """Tokens of a chunk without quotes and contractions: each mark stands alone."""
    # a colon or comma takes the next character with it, so these are two passes
    return tuple(_PADDED.sub(r" \g<0> ", _COLON_COMMA.sub(r" \1 \2", chunk + " ")).split())


def _tokens_between(before: str, chunk: str, after: str) -> tuple[str, ...]:
    """Tokens of a chunk between two whitespace characters; an empty one is an end of the sentence."""
    left = "x" + before if before else ""
    right = after + "x" if after else ""
    found = _nltk_tokenize()(left + chunk + right)
    return tuple(found[bool(left) : len(found) - bool(right)])


def _last_tokens(tail: str) -> tuple[str, ...]:
    """Tokens of a chunk without edge quotes that ends its sentence, so that a final period stands alone."""
    final = _FINAL_PERIOD.fullmatch(tail)
    if final is None:
        return _inner[tail]
    word, closers = final.groups()
    return (*(_inner[word] if word else ()), ".", *closers)


def _tokens_of_key(key: str) -> tuple[str, ...]:
    # the characters around a chunk are two digits before it: quotes ask whether they are spaces
    return _tokens_between(_SIDES[key[0]], key[2:], _SIDES[key[1]])


_SIDES = {"0": "", "1": " ", "2": "\n"}
_inner = Memo(_inner_tokens)
_last = Memo(_last_tokens, limit=10_000)
_quoted = Memo(_tokens_of_key, limit=10_000)


# -- tokens of a text -----------------------------------------------------------------------------


def tokens(text: str, spans: list[tuple[int, int]]) -> tuple[str, ...]:
    """Tokens of the text as `nltk.word_tokenize` cuts them.

    Args:
        text: Any text.
        spans: Its sentences, from `punkt.sentence_spans`.

    Returns:
        The tokens; double quotes are "``" and "''" there.

    Raises:
        MissingData: nltk is not installed.
    """
    found: list[str] = []
    inner = _inner.__getitem__
    has_quote = _QUOTE.search(text) is not None
    for start, end in spans:
        sentence = text[start:end]
        chunks = sentence.split()
        if _CLOSERS.issuperset(chunks[-1]) or (has_quote and _QUOTE.search(sentence)):
            found += _tokens_with_context(sentence)
            continue
        last = chunks.pop()
        for chunk_tokens in map(inner, chunks):
            found += chunk_tokens
        found += _last[last]
    return tuple(found)


def _tokens_with_context(sentence: str) -> list[str]:
    """Tokens of a sentence with edge quotes, or whose last chunk only closes what the final period ends."""
    chunks = list(_CHUNK.finditer(sentence))
    last = len(chunks) - 1
    while last and _CLOSERS.issuperset(chunks[last].group()):
        last -= 1
    found: list[str] = []
    for match in chunks[:last]:
        chunk = match.group()
        if _QUOTE.search(chunk):
            found += _quoted[_side(sentence, match.start() - 1) + _side(sentence, match.end()) + chunk]
        else:
            found += _inner[chunk]
    start = chunks[last].start()
    return [*found, *_quoted[_side(sentence, start - 1) + "0" + sentence[start:]]]


def _side(sentence: str, place: int) -> str:
    if not 0 <= place < len(sentence):
        return "0"
    return "1" if sentence[place] == " " else "2"


# -- upper case tokens, without cutting them -------------------------------------------------------

_INNER_BREAK = re.compile(r"""[.?!][)";}\]*:@'({\[!?]""")


def _has_one_capital_in_front(word: str) -> bool:
    # at most, and with a small letter behind: only `Dn't` parts the two
    tail = word[1:]
    return tail.islower() and tail[0].islower() and tail[1:2] != "'"


def _uppercase_of_chunk(chunk: str) -> int:
    """Number of upper case tokens in a chunk, or `_DEPENDS` where its surroundings change it."""
    if _has_one_capital_in_front(chunk):
        return 0
    word = chunk.strip(_MARKS)  # marks have no case, whichever token they go to
    if word.isalnum() and not (
        word.lower() in _CONTRACTED if word.isascii() else _CONTRACTION.fullmatch(word)
    ):
        return int(word.isupper())
    if _has_one_capital_in_front(word) or not any(map(str.isupper, word)):
        return 0
    if "'" not in chunk and not _CONTRACTION.search(chunk):
        # The final period and closers that may part from it have no case; only a digit glues a colon.
        return _DEPENDS if _BREAK_AT_COLON.search(chunk) else _count_upper(_pads(chunk.replace('"', " ")))
    if _CLITIC.fullmatch(chunk):
        return _count_upper(_inner[chunk])
    if _INNER_BREAK.search(chunk):
        return _DEPENDS
    sides = _ALL_SIDES if _QUOTE.search(chunk) else _INSIDE_AND_LAST
    counts = {_count_upper(_quoted[side + chunk]) for side in sides}
    return counts.pop() if len(counts) == 1 else _DEPENDS


def _count_upper(found: tuple[str, ...]) -> int:
    return sum(map(str.isupper, found))


_CONTRACTED = frozenset({"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"})
_ALL_SIDES = tuple(before + after for before, after in product(_SIDES, repeat=2))
_INSIDE_AND_LAST = ("11", "10")
_DEPENDS = 1 << 40  # more than any text has, so that a sum tells whether one was in it
_MARKS = string.punctuation.replace("'", "") + "“”‘’–—…"  # 'Tis is two tokens
_BREAK_AT_COLON = re.compile(r"[.?!]:")
_uppercase = Memo(_uppercase_of_chunk)


# Each ASCII character by its kind, for `_uppercase_of_ascii`.
_KINDS = bytes(
    ord("A" if chr(c).isupper() else "a" if chr(c).islower() else " " if chr(c).isspace() else ".")
    for c in range(128)
) + bytes(128)
_PARTED = re.compile(r"n't(?<=[A-Z]n't)|'T")


def uppercase_tokens(text: str) -> int | None:
    """Number of `nltk.word_tokenize` tokens that are upper case, mostly without cutting sentences.

    Args:
        text: Any text.

    Returns:
        The number, or None where a sentence end might change it and the tokens must be counted.

    Raises:
        MissingData: nltk is not installed.
    """
    if text.isascii() and not (("n't" in text or "'T" in text) and _PARTED.search(text)):
        count = _uppercase_of_ascii(text)
    else:
        cased = filterfalse(str.islower, text.split())  # a chunk in lower case has no token in upper case
        count = sum(map(_uppercase.__getitem__, cased))
    return count if count < _DEPENDS else None


def _uppercase_of_ascii(text: str) -> int:
    """The sum of `_uppercase` over those chunks that have a capital without a small letter behind it.

    No token parts the two but `n't` and the `'T` of `'Tis`, so other chunks have none in upper case.
    """
    kinds = f"{text} ".encode().translate(_KINDS).replace(b"Aa", b"aa")
    count = end = 0
    capital = kinds.find(b"A")
    while capital >= 0:
        start = kinds.rfind(b" ", end, capital) + 1  # the chunk before ended at a space
        end = kinds.find(b" ", capital)
        count += _uppercase[text[start:end]]
        capital = kinds.find(b"A", end)
    return count
