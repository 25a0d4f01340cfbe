"""The language of a text, as langdetect with seed 0 sees it.

langdetect draws at random; the reference codes leave it unseeded, so their verdicts on short or
mixed texts change from run to run. With the seed fixed they are one of those, always the same.
`langdetect_rs` answers bit for bit alike and some fifty times faster, and is used where installed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

from .errors import MissingData

__all__ = ["detect", "detector", "rules_out"]

OUTDONE = frozenset(
    {"ar", "bn", "fa", "gu", "hi", "ja", "kn", "ko", "mr", "ne", "ta", "th", "ur", "zh-cn", "zh-tw"}
)
"""Languages whose profiles hold ASCII n-grams all less often than one other language's, or none at all."""

_LONGEST = 10_000
"""Characters that langdetect reads."""

_LOWER_CASE = re.compile("[a-z]")
_ASCII = bytes(range(128))
_PUNCTUATION = re.compile(rb"(?:\xe2(?:\x80[\x80-\xbf]|\x81[\x80-\xaf]))*")  # U+2000-206F, in UTF-8
_BETWEEN_LETTERS = re.compile(r"\*(?<=[A-Za-z]\*)\**[A-Za-z]")  # an asterisk first is found fastest


@cache
def detector() -> Callable[[str], str | None]:
    """Load a detector, once per process.

    Returns:
        A function from a text to its language code, or None where it has no features.

    Raises:
        MissingData: Neither langdetect nor langdetect_rs is installed.
    """
    try:
        import langdetect_rs as backend
    except ImportError:
        try:
            import langdetect as backend
        except ImportError as error:
            raise MissingData("langdetect is not installed; install rubricate[checkers]") from error
    backend.DetectorFactory.seed = 0

    def detect_with_backend(text: str) -> str | None:
        try:
            code: str = backend.detect(text)
        except backend.LangDetectException:  # each backend raises its own, and for this reason only
            return None
        return code

    return detect_with_backend


def detect(text: str) -> str | None:
    """Language of a text.

    Args:
        text: Any text.

    Returns:
        A code of langdetect's (`en`, `zh-cn`), or None where the text has no features: no letters
        that any language profile knows.

    Raises:
        MissingData: Neither langdetect nor langdetect_rs is installed.
    """
    return _remembered(_without_idle_asterisks(text) if "*" in text else text)


def _without_idle_asterisks(text: str) -> str:
    """The text without asterisks, where they cannot change the language.

    Any character that is no letter is a space to langdetect, and spaces in a row are one. So the
    loose variants with and without asterisks are mostly one text to it.
    """
    matters = (
        len(text) > _LONGEST  # a removed one would move another letter into view
        or not text.isascii()
        or text.endswith("*")
        or _has_addresses(text)
        or _BETWEEN_LETTERS.search(text)
    )
    return text if matters else text.replace("*", "")


def rules_out(text: str, code: str) -> bool:
    """Whether a text is certainly not in a language, seen without detecting it.

    langdetect multiplies the frequencies of n-grams that it draws from the text. Where it sees ASCII
    letters only, each factor of a language in `OUTDONE` is below that of the language that outdoes it,
    or it is the least possible while another language knows the n-gram: it falls behind whatever is drawn.
    """
    return (
        code in OUTDONE
        and _LOWER_CASE.search(text, 0, _LONGEST) is not None
        and not _has_addresses(text)
        and (text.isascii() or _is_ascii_but_for_punctuation(text))
    )


def _is_ascii_but_for_punctuation(text: str) -> bool:
    """Whether what is not ASCII is a dash, quote or the like, which langdetect reads as a space.

    Where such characters are more than twice as many as letters, it would not read the letters.
    """
    others = text.encode(errors="surrogatepass").translate(None, _ASCII)
    return (
        len(text) <= _LONGEST
        and sum(map(text.count, "aeiou")) * 2 >= len(others) // 3
        and _PUNCTUATION.fullmatch(others) is not None
    )


def _has_addresses(text: str) -> bool:
    """Whether there may be web or mail addresses, which langdetect takes out first."""
    return "http" in text or "@" in text


@lru_cache(maxsize=64)
def _remembered(text: str) -> str | None:
    return detector()(text)
