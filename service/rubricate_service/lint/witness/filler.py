"""What a response is filled with: sentences and words that nothing forbids."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import files

from rubricate_service.lint.admits import admits
from rubricate_service.lint.demand import Excludes

_WORD = re.compile(r"[^\W\d_](?:[^\s.]*\w)?")


_OF_NO_LANGUAGE = ["ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ᎣᏏᏲ ᎠᎹ"]
"""Words in letters that no language of langdetect's has: checks that let the unknown pass let them pass."""


@cache
def sentences_by_language() -> dict[str, list[str]]:
    """The sentences of ``filler.toml`` by language; `short` are English ones of two or three words."""
    return tomllib.loads((files(__package__) / "filler.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Filler:
    """Sentences and words of a language, without what must not occur.

    Attributes:
        language: ISO 639-1 code; of one that is not in `sentences_by_language` there are no sentences. Empty
            for a text whose language cannot be told.
        excluded: What must not occur.
        scarce: Letters to do without, in lower case.
        offset: Where in the list of sentences to begin, so that attempts differ.
    """

    language: str
    excluded: tuple[Excludes, ...] = ()
    scarce: str = ""
    offset: int = 0

    def may_use(self, text: str) -> bool:
        """Whether a text has nothing that is excluded or scarce."""
        lower = text.lower()
        return not any(letter in lower for letter in self.scarce) and all(
            admits(demand, f" {text} ") or not demand.phrase.strip() for demand in self.excluded
        )

    def _usable(self, texts: Sequence[str]) -> list[str]:
        usable = _usable(replace(self, offset=0), tuple(texts))
        turn = self.offset * 5 % len(usable) if usable else 0
        return [*usable[turn:], *usable[:turn]]

    @cached_property
    def sentences(self) -> list[str]:
        """Whole sentences, with their full stops."""
        return self._usable(sentences_by_language().get(self.language, []))

    @cached_property
    def short(self) -> list[str]:
        """The shortest sentences there are."""
        if self.language == "en":
            return self._usable(sentences_by_language()["short"]) or self.sentences
        return self.sentences

    @cached_property
    def words(self) -> list[str]:
        """Single words in lower case; where all are excluded, numbers."""
        texts = sentences_by_language().get(self.language, [] if self.language else _OF_NO_LANGUAGE)
        words = dict.fromkeys(word.lower() for text in texts for word in _WORD.findall(text))
        return self._usable(list(words)) or self._usable([str(number) for number in range(10, 30)]) or ["-"]


@lru_cache(maxsize=16)
def _usable(filler: Filler, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Texts that the filler may use; every attempt for the same demands asks for the same ones."""
    return tuple(text for text in texts if filler.may_use(text))
