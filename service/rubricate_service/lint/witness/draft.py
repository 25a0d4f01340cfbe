"""A response in the making: what is in it, and how that is written down."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, cycle, islice
from typing import Any, Literal

from rubricate_service.lint.witness.filler import Filler
from rubricate_service.lint.witness.instance import instance

Wrap = Literal["none", "object", "string", "xml"]


@dataclass(frozen=True)
class Draft:
    """The parts of a response. Moves change one of them; `write` puts them together.

    Attributes:
        filler: Where sentences and words are taken from.
        opening: What it starts with.
        closing: What it ends with.
        core: A text that is taken as it is.
        lines: Lines of their own: a title, sections, an answer to choose.
        phrases: Words that must occur, each as often as it is in the list.
        placeholders, highlights, bullets: How many there are.
        capitals: Words in capitals.
        sentences, short, words: Sentences of the filler, short ones, and words without a full stop.
        breaks: Lines of one word.
        paragraphs: Parts between blank lines; `starts` are first words of them, by number from 1.
        divisions: (separator, parts) of the last paragraph.
        postscript: A line that comes late.
        case: `upper`, `lower`, `title` or as it is.
        stops: Whether parts that are no sentences end with a full stop.
        wrap: What is around it all: nothing, JSON, or XML.
        schema: Of the JSON.
        quoted: Whether it is in double quotation marks.
    """

    filler: Filler
    opening: str = ""
    closing: str = ""
    core: str = ""
    lines: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    placeholders: int = 0
    highlights: int = 0
    bullets: int = 0
    capitals: int = 0
    sentences: int = 0
    short: int = 0
    words: int = 0
    breaks: int = 0
    paragraphs: int = 1
    starts: dict[int, str] = field(default_factory=dict)
    divisions: tuple[tuple[str, int], ...] = ()
    postscript: str = ""
    case: str = ""
    stops: bool = True
    wrap: Wrap = "none"
    schema: dict[str, Any] = field(default_factory=dict)
    quoted: bool = False

    def write(self) -> str:
        """The response."""
        text = self._wrapped(self._body())
        if self.case == "upper":
            text = text.upper()
        elif self.case == "lower":
            text = text.lower()
        elif self.case == "title":
            text = text.title()
        return f'"{text}"' if self.quoted and self.wrap != "string" else text

    def _wrapped(self, body: str) -> str:
        if self.wrap == "xml":
            return f"<text><![CDATA[{body}]]></text>"
        if self.wrap == "string":
            return json.dumps(body, ensure_ascii=False)
        if self.wrap == "object":
            value = instance(self.schema, body)
            if self.bullets and isinstance(value, dict):
                # the only lines of JSON that can start with a dash
                numbers = ",\n".join("-1" for _ in range(self.bullets))
                whole = json.dumps(value, ensure_ascii=False)[:-1]
                return f'{whole}{", " if value else ""}"n": [\n{numbers}]}}'
            return json.dumps(value, ensure_ascii=False)
        return body

    def _body(self) -> str:
        words = cycle(self.filler.words)
        numbers = count()
        paragraphs = [
            " ".join(filter(None, (self.starts.get(number), self._piece(words, numbers))))
            for number in range(1, self.paragraphs)
        ]
        last = "\n".join(filter(None, (self.starts.get(self.paragraphs, ""), *self._main(words))))
        for separator, parts in self.divisions:
            for _ in range(parts - 1):
                last += f"\n{separator}\n{self._piece(words, numbers)}"
        paragraphs.append(last)
        if self.opening:
            paragraphs[0] = f"{self.opening} {paragraphs[0]}".rstrip()
        if self.closing:
            paragraphs[-1] = f"{paragraphs[-1]} {self.closing}".lstrip()
        return "\n\n".join(paragraphs)

    def _piece(self, words: Iterator[str], numbers: Iterator[int]) -> str:
        """A part that must not be blank, each another one."""
        word = next(words)
        return word if next(numbers) < len(self.filler.words) else f"{word} {next(words)}"

    def _main(self, words: Iterator[str]) -> Iterator[str]:
        stop = "." if self.stops and self.filler.may_use(".") else ""
        yield self.core
        yield from self.lines
        if self.phrases:
            yield " ".join(self.phrases) + stop
        marked = [f"[{next(words)}]" for _ in range(self.placeholders)]
        marked += [f"*{next(words)}*" for _ in range(self.highlights)]
        marked += [next(words).upper() for _ in range(self.capitals)]
        if marked:
            yield " ".join([next(words), *marked]) + stop  # a line that starts with a star is a bullet
        filled = [*_some(self.filler.sentences, self.sentences), *_some(self.filler.short, self.short)]
        if self.words:
            filled.append(" ".join(islice(words, self.words)) + stop)
        yield " ".join(filled)
        yield from islice(words, self.breaks)
        if self.wrap == "none":
            for _ in range(self.bullets):
                yield f"- {next(words)}"
        yield self.postscript


def _some(sentences: Sequence[str], number: int) -> list[str]:
    return list(islice(cycle(sentences), number)) if sentences else []
