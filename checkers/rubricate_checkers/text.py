"""One response, and what checks read in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from . import language, loose, punkt, segment
from .memo import lazy

__all__ = ["Text"]

T = TypeVar("T")
N = TypeVar("N", int, int | None)

_ASCII_LOOKALIKES = "\u0130\u0131\u017f\u212a"


class _Part:
    """What a loose variant is a part of. It lies between two whitespace characters, or ends, of the whole.

    Attributes:
        whole: The response, with or without asterisks.
    """

    def __init__(self, name: str, response: Text, whole: Text) -> None:
        # nothing here refers to the two, which refer to the variant
        self._name, self._raw, self._views = name, response.raw, whole._views
        self.whole = whole.raw

    @lazy
    def start(self) -> int:
        """Where the part begins in the whole."""
        return loose.start_of(self._name, self._raw)

    def view(self, compute: Callable[[str], T]) -> T:
        """`Text.view` of the whole."""
        if compute not in self._views:
            self._views[compute] = compute(self.whole)
        found: T = self._views[compute]
        return found

    def rest(self, length: int) -> str:
        """What the whole has beside the part, which has a length."""
        return self.whole[: self.start] + self.whole[self.start + length :]


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
        return self.tally(segment.count_words)

    @lazy
    def sentence_spans(self) -> list[tuple[int, int]]:
        """(start, end) of each Punkt sentence, in code points."""
        return punkt.sentence_spans(self.raw, self._breaks())

    def _breaks(self) -> list[tuple[int, int]]:
        part, found = self._part, None
        if part is not None:
            found = punkt.breaks_within(self.raw, part.start, part.whole, part.view(punkt.breaks))
        return self.view(punkt.breaks) if found is None else found

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
        count = self.tally(segment.uppercase_tokens)
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

    def tally(self, count: Callable[[str], N]) -> N:
        """What `count` counts in the response; for a loose variant, in the whole less in what was cut off.

        Args:
            count: A module-level function of a text. Of a text and a line feed and another text it must
                count what it counts in both, whitespace at their ends aside, or say None for one of them.

        Returns:
            Its answer.
        """
        part = self._part
        if part is not None and (total := part.view(count)) is not None:
            lost = count(part.rest(len(self.raw)))
            if lost is not None:
                return total - lost
        return self.view(count)

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
    def _variants(self) -> tuple[str, ...]:
        return loose.revise(self.raw)

    @lazy
    def revisions(self) -> dict[str, str]:
        """Loose variants by name, without those that are blank, this text, or equal to an earlier one."""
        found: dict[str, str] = {}
        seen = ["", self.raw]  # seven comparisons, most of them of lengths, take less than seven hashes
        for name, raw in zip(loose.VARIANTS, self._variants, strict=True):
            if raw not in seen and not raw.isspace():
                seen.append(raw)
                found[name] = raw
        return found

    def revised(self, name: str) -> Text:
        """The loose variant with a name that `revisions` has, shared like this text itself."""
        text = self._revised.get(name)
        if text is None:
            text = self._revised[name] = Text(self.revisions[name], self.prompt)
            starless = loose.VARIANTS[1]
            if name != starless:
                whole = self if name in loose.STARRED else self.revised(starless)
                vars(text)["_part"] = _Part(name, self, whole)  # before the text says that it has none
        return text

    @lazy
    def _revised(self) -> dict[str, Text]:
        return {}

    @property
    def smallest(self) -> Text | None:
        """The loose variant that has lost most, which may be this text itself; None where it is blank."""
        smallest = self._variants[-1]
        if smallest == self.raw:
            return self
        return next((self.revised(name) for name, raw in self.revisions.items() if raw == smallest), None)

    @lazy
    def _part(self) -> _Part | None:
        """What this text has lost lines of as a loose variant; it is no reference to the other `Text`."""
        return None
