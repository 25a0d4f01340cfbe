"""One response, and what checks read in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from . import language, loose, punkt, segment
from .memo import lazy

__all__ = ["Text"]

T = TypeVar("T")

_ASCII_LOOKALIKES = "\u0130\u0131\u017f\u212a"


@dataclass(frozen=True, eq=False)
class Text:
    """One response. Every view is lazy and cached: no check pays for a view it does not read.

    All checks of a response share one `Text`. Views are read-only.

    Attributes:
        raw: The response as the checks see it.
        prompt: What was asked, for the checks that say `needs_prompt`.
    """

    raw: str
    prompt: str = ""

    @lazy
    def blank(self) -> bool:
        """Whether there is nothing but whitespace."""
        return not self.raw.strip()

    @lazy
    def lower(self) -> str:
        """The response in lower case."""
        return self.raw.lower()

    @lazy
    def ascii_lower(self) -> str | None:
        """`lower` where an ASCII string occurs in it exactly where `re.IGNORECASE` finds it, else None.

        To `re` four characters beside A-Z equal an ASCII letter: İ, ı, ſ and the Kelvin sign.
        """
        if not self.raw.isascii() and any(char in self.raw for char in _ASCII_LOOKALIKES):
            return None
        return self.lower

    @lazy
    def word_count(self) -> int:
        r"""Number of `\w+` matches."""
        return segment.count_words(self.raw)

    @lazy
    def sentence_spans(self) -> list[tuple[int, int]]:
        """(start, end) of each Punkt sentence, in code points."""
        return punkt.sentence_spans(self.raw)

    @lazy
    def sentences(self) -> tuple[str, ...]:
        """Sentences as `nltk.sent_tokenize` cuts them."""
        return tuple(self.raw[start:end] for start, end in self.sentence_spans)

    @lazy
    def tokens(self) -> tuple[str, ...]:
        """Tokens as `nltk.word_tokenize` cuts them."""
        return segment.tokens(self.raw, self.sentence_spans)

    @lazy
    def uppercase_tokens(self) -> int:
        """Number of tokens that are upper case, found without cutting them where possible."""
        count = segment.uppercase_tokens(self.raw)
        return sum(map(str.isupper, self.tokens)) if count is None else count

    @lazy
    def language(self) -> str | None:
        """Code that langdetect gives; None where it finds no features (no letters of any language)."""
        return language.detect(self.raw)

    def view(self, compute: Callable[[str], T]) -> T:
        """What `compute` finds in the response, computed once per response.

        Args:
            compute: A module-level function of the raw text; it is the key under which its answer is kept.

        Returns:
            Its answer.
        """
        views = self._views
        if compute not in views:
            views[compute] = compute(self.raw)
        found: T = views[compute]
        return found

    def once(self, compute: Callable[[Text], T]) -> T:
        """What a check finds in the response, computed once for all that it says of it.

        Args:
            compute: A method of the check or of what it holds; it is the key, as in `view`.

        Returns:
            Its answer.
        """
        views = self._views
        if compute not in views:
            views[compute] = compute(self)
        found: T = views[compute]
        return found

    @lazy
    def _views(self) -> dict[Callable[..., Any], Any]:
        return {}

    @lazy
    def _others(self) -> tuple[Text | None, ...]:
        # None stands for this very object: a reference to it would keep it alive in a cycle
        texts: dict[str, Text | None] = {self.raw: None}
        revised = loose.revise(self.raw)[1:]
        for raw in revised:
            if raw not in texts:
                texts[raw] = Text(raw, self.prompt)
        return tuple(texts[raw] for raw in revised)

    @property
    def variants(self) -> tuple[tuple[str, Text], ...]:
        """(name, text) of the eight loose variants, in order; equal ones are one `Text`."""
        others = (text or self for text in self._others)
        return tuple(zip(loose.VARIANTS, (self, *others), strict=True))

    @lazy
    def revisions(self) -> tuple[tuple[str, Text], ...]:
        """The variants that are neither blank, nor this text, nor equal to an earlier one."""
        first_names: dict[Text, str] = {self: ""}
        for name, text in self.variants:
            if not text.blank:
                first_names.setdefault(text, name)
        del first_names[self]
        return tuple((name, text) for text, name in first_names.items())
