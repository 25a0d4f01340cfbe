"""Which of many phrases occur in a text, without trying each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rubricate_service.lint.work import Work


class PhraseIndex:
    """Phrases by their first character and length: for words, a handful of look-ups a character of text."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = {phrase for phrase in phrases if phrase}
        lengths: dict[str, set[int]] = {}
        for phrase in self._phrases:
            lengths.setdefault(phrase[0], set()).add(len(phrase))
        self._lengths = {first: sorted(of_first) for first, of_first in lengths.items()}

    def found_in(self, text: str, work: Work) -> Iterator[str]:
        """Each phrase that occurs in a text, once; raises `Exhausted`."""
        seen: set[str] = set()
        work.read(text)
        for start, first in enumerate(text):
            for length in self._lengths.get(first, ()):
                if start + length > len(text):
                    break
                work.step()
                phrase = text[start : start + length]
                if phrase in self._phrases and phrase not in seen:
                    seen.add(phrase)
                    yield phrase
