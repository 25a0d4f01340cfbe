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

WITHOUT_LATIN = frozenset({"ar", "fa", "hi", "ja", "ko", "mr", "ne", "ur", "zh-cn", "zh-tw"})
"""Languages whose profiles hold no n-gram with a Latin letter."""

_LONGEST = 10_000
"""Characters that langdetect reads."""

_LOWER_CASE = re.compile("[a-z]")
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

    The profiles of `WITHOUT_LATIN` hold no n-gram with a Latin letter. Each draw from an ASCII text is
    one, and one that another profile knows, so they fall behind whatever is drawn.
    """
    return (
        code in WITHOUT_LATIN
        and text.isascii()
        and _LOWER_CASE.search(text, 0, _LONGEST) is not None
        and not _has_addresses(text)
    )


def _has_addresses(text: str) -> bool:
    """Whether there may be web or mail addresses, which langdetect takes out first."""
    return "http" in text or "@" in text


@lru_cache(maxsize=64)
def _remembered(text: str) -> str | None:
    return detector()(text)
