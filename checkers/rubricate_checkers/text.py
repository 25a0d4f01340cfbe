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


class _Known:
    """What a response and its loose variants have in common, by the text that it is known of.

    Attributes:
        uppercase: Number of upper case tokens of the response with and without asterisks.
        breaks: Sentence breaks of them.
    """

    __slots__ = ("breaks", "uppercase")

    def __init__(self) -> None:
        self.uppercase: dict[str, int | None] = {}
        self.breaks: dict[str, list[tuple[int, int]]] = {}


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
        return punkt.sentence_spans(self.raw, self._breaks())

    def _breaks(self) -> list[tuple[int, int]]:
        whole, known = self._whole, self._known.breaks
        if whole not in known:
            known[whole] = punkt.breaks(whole)
        if whole is self.raw:
            return known[whole]
        part = punkt.breaks_within(self.raw, whole, known[whole])
        return punkt.breaks(self.raw) if part is None else part

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
        count = self._uppercase()
        return sum(map(str.isupper, self.tokens)) if count is None else count

    def _uppercase(self) -> int | None:
        whole, known = self._whole, self._known.uppercase
        if whole not in known:
            known[whole] = segment.uppercase_tokens(whole)
        count = known[whole]
        if whole is self.raw:
            return count
        rest = loose.rest_of(self.raw, whole)
        lost = None if rest is None else segment.uppercase_tokens(rest)
        return segment.uppercase_tokens(self.raw) if count is None or lost is None else count - lost

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
    def revisions(self) -> dict[str, str]:
        """Loose variants by name, without those that are blank, this text, or equal to an earlier one."""
        found: dict[str, str] = {}
        seen = ["", self.raw]  # seven comparisons, most of them of lengths, take less than seven hashes
        for name, raw in zip(loose.VARIANTS, loose.revise(self.raw), strict=True):
            if raw not in seen and not raw.isspace():
                seen.append(raw)
                found[name] = raw
        return found

    def revised(self, name: str) -> Text:
        """The loose variant with a name that `revisions` has, shared like this text itself."""
        text = self._revised.get(name)
        if text is None:
            text = self._revised[name] = Text(self.revisions[name], self.prompt)
            whole = self.raw if name in loose.STARRED else self.revisions.get(loose.VARIANTS[1], self.raw)
            vars(text).update(_known=self._known, _whole=whole)  # before the text makes its own
        return text

    @lazy
    def _revised(self) -> dict[str, Text]:
        return {}

    @property
    def smallest(self) -> Text | None:
        """The loose variant that has lost most, which may be this text itself; None where it is blank."""
        smallest = loose.revise(self.raw)[-1]
        if smallest == self.raw:
            return self
        return next((self.revised(name) for name, raw in self.revisions.items() if raw == smallest), None)

    @lazy
    def _known(self) -> _Known:
        return _Known()

    @lazy
    def _whole(self) -> str:
        """This text, or what it has lost lines of as a loose variant."""
        return self.raw
