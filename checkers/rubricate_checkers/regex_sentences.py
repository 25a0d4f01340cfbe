r"""Sentences as a chain of regular expressions cuts them: the older IFBench's and IFTrain's splitter.

The chain writes each dot that ends nothing as `<prd>`, adds `<stop>` after every mark that is left,
and cuts there. Each step is run only where its dots occur, since most texts have few of them.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["first_sentences", "regex_sentences"]

# Patterns begin with a literal dot wherever they can: `re` skips to the next one at the speed of `find`.
_TITLE = re.compile(r"\.(?:(?<=Mr\.)|(?<=St\.)|(?<=Mrs\.)|(?<=Ms\.)|(?<=Dr\.))")
_INNER = re.compile(r"\.[A-Za-z0-9.]")
_SITE = re.compile(r"\.(?=com|net|org|io|gov|edu|me)")
_DECIMAL = re.compile(r"\.(?<=[0-9]\.)([0-9]\.?)")  # in 1.2.3 only the first dot is a decimal one
_DOTS = re.compile(r"\.\.+")
_TABBED_INITIAL = re.compile(r"\.(?<=[^\S ][A-Za-z]\.) ")
_SPACED_INITIAL = re.compile(r"\s([A-Za-z])\. ")
_INITIAL = re.compile(r"\.(?<= [A-Za-z]\.)")
_STARTER = (
    r"(?:Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|He\s|She\s|It\s|They\s|Their\s|Our\s|We\s|But\s|However\s|That\s"
    r"|This\s|Wherever)"
)
_ACRONYM_AT_END = re.compile(rf"(\.(?<=[A-Z]\.)[A-Z]\.(?:[A-Z]\.)?) ({_STARTER})")
_THREE_LETTERS = re.compile(r"\.(?<=[A-Za-z]\.)([A-Za-z])\.([A-Za-z])\.")
_TWO_LETTERS = re.compile(r"\.(?<=[A-Za-z]\.)([A-Za-z])\.")
_SUFFIX = re.compile(r"\.(?:(?<= Inc\.)|(?<= Ltd\.)|(?<= Jr\.)|(?<= Sr\.)|(?<= Co\.))")
_SUFFIX_AT_END = re.compile(rf" (Inc|Ltd|Jr|Sr|Co)\. ({_STARTER})")


def regex_sentences(raw: str) -> list[str]:
    """Sentences of a text, stripped.

    Args:
        raw: Any text; line feeds are read as spaces.

    Returns:
        The sentences in order. One between two marks may be empty (`Go! !` has `!` as its second), an
        empty last one is left out, and a text without any mark is one sentence.
    """
    text = f" {raw}  ".replace("\n", " ")
    if "." in text:
        text = _hide_inner_dots(text)
    text = text.replace(".”", "”.").replace('."', '".').replace('!"', '"!').replace('?"', '"?')
    text = text.replace(".", ".<stop>").replace("?", "?<stop>").replace("!", "!<stop>")
    sentences = [piece.strip() for piece in text.replace("<prd>", ".").split("<stop>")]
    if not sentences[-1]:
        sentences.pop()
    return sentences


_BEGINNING = 600
_REACH = 16
_GAP = re.compile(rf"[^.]{{{_REACH}}}\s[^.]{{{_REACH}}}")


def first_sentences(raw: str) -> tuple[str, ...]:
    """Some of the first sentences of a text, found without cutting all of it.

    Args:
        raw: Any text.

    Returns:
        The first sentences that `regex_sentences` finds, though not all: none in a short text.
    """
    # no pattern above reaches farther than ten characters from a dot, so none reaches over a gap
    gap = _GAP.search(raw, _BEGINNING, 2 * _BEGINNING)
    return () if gap is None else _complete_sentences(raw[: gap.start() + _REACH])


@lru_cache(maxsize=16)  # loose variants that have lost their last line begin as the others do
def _complete_sentences(beginning: str) -> tuple[str, ...]:
    return tuple(regex_sentences(beginning)[:-1])


def _hide_inner_dots(text: str) -> str:
    """The text with `<prd>` for each dot that ends no sentence, and `<stop>` where one is certain to end."""
    text = _TITLE.sub("<prd>", text)
    if inner := _INNER.search(text):
        text = _SITE.sub("<prd>", text)
        text = _DECIMAL.sub(r"<prd>\1", text)
        text = _DOTS.sub(lambda dots: "<prd>" * len(dots[0]) + "<stop>", text)
        text = text.replace("Ph.D.", "Ph<prd>D<prd>")
    if _TABBED_INITIAL.search(text):  # those behind a space are found at the end as well
        text = _SPACED_INITIAL.sub(r" \1<prd> ", text)
    if inner:
        text = _ACRONYM_AT_END.sub(r"\1<stop> \2", text)
        text = _THREE_LETTERS.sub(r"<prd>\1<prd>\2<prd>", text)
        text = _TWO_LETTERS.sub(r"<prd>\1<prd>", text)
    if _SUFFIX.search(text):
        text = _SUFFIX_AT_END.sub(r" \1<stop> \2", text)
        text = _SUFFIX.sub("<prd>", text)
    return _INITIAL.sub("<prd>", text)
