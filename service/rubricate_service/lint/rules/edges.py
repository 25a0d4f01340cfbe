"""E06 and E07: how the response begins and ends, and documents that leave no room for that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rubricate_service.lint.demand import Bounds, Document, Ends, ParagraphStart, Starts
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup
from rubricate_service.lint.rules.common import pairs, quoted

_MARK = re.compile(r"[.,?!'\"]")


def clashing_edges(group: BuiltGroup) -> Iterator[Finding]:
    """E06: two beginnings, or two endings, neither of which is a part of the other."""
    rule = RULES["E06"]
    for (first, one), (second, other) in pairs(group, Starts):
        if not _start_together(one, other):
            message = f"{_start(other)} first, while {first.path} asks for {_start(one)}"
            yield rule.at(second.path, message)
    for starting, start in group.demands(Starts):
        for rubric, paragraph in group.demands(ParagraphStart):
            if paragraph.number == 1 and not _start_paragraph(start, paragraph):
                message = (
                    f"the word {quoted(paragraph.word)} first, while {starting.path} asks for {_start(start)}"
                )
                yield rule.at(rubric.path, message)
    for rubric, end in group.demands(Ends):
        if end.beside and end.phrase[-1] in end.beside:
            yield rule.at(
                rubric.path,
                f"the end {quoted(end.phrase)}, while {end.phrase[-1]} is taken off the response's end",
                hint="Leave the quotation mark at the end out of the phrase.",
            )
    for (first, this), (second, that) in pairs(group, Ends):
        if not _end_together(this, that):
            message = f"{quoted(that.phrase)} last, while {first.path} asks for {quoted(this.phrase)}"
            yield rule.at(second.path, message)


def _start(demand: Starts) -> str:
    return f"the word {quoted(demand.phrase)}" if demand.word else quoted(demand.phrase)


def _start_together(one: Starts, other: Starts) -> bool:
    both_cased = one.cased and other.cased
    a, b = (d.phrase if both_cased else d.phrase.casefold() for d in (one, other))
    short, long, word = (a, b, one.word) if len(a) <= len(b) else (b, a, other.word)
    if not long.startswith(short):
        return False
    rest = long[len(short) :]
    if not rest:
        return True
    return not word or rest[0].isspace()


def _start_paragraph(start: Starts, paragraph: ParagraphStart) -> bool:
    """Whether the first paragraph, which starts as the response does, may have this first word.

    Quotes before a word are no part of it, nor is what comes from the first mark behind it on.
    """
    if paragraph.cased:  # what comes before it in tags is not looked at
        return True
    first = paragraph.word.casefold()
    token, *more = start.phrase.casefold().split(None, 1)
    word, *behind = _MARK.split(token.lstrip("'").lstrip('"'), maxsplit=1)
    if more or behind or start.word:
        return word == first
    return first.startswith(word)


def _end_together(one: Ends, other: Ends) -> bool:
    both_cased = one.cased and other.cased
    a, b = (d.phrase if both_cased else d.phrase.casefold() for d in (one, other))
    beside = one.beside + other.beside  # what one of the two does not see, the other may have
    a, b = a.rstrip(beside) if beside else a, b.rstrip(beside) if beside else b
    return a.endswith(b) or b.endswith(a)


_IN_JSON = {
    "title": ("a title in <<>>", "a title within a string of it"),
    "postscript": ("a postscript", "a postscript within a string of it"),
    "bullets": ("bullet points", "JSON with negative numbers on lines of their own"),
}


def text_around_documents(group: BuiltGroup) -> Iterator[Finding]:
    """E07: nothing but a document, and text that cannot be in it, or only in a place nobody means."""
    rule = RULES["E07"]
    for rubric, document in group.demands(Document):
        nothing_but = f"{rubric.path} wants nothing but {document.format}"
        for other, start in group.demands(Starts):
            if not _can_start(document, start):
                yield rule.at(other.path, f"the start {quoted(start.phrase)}, while {nothing_but}")
        for other, end in group.demands(Ends):
            if not _can_end(document, end):
                yield rule.at(other.path, f"the end {quoted(end.phrase)}, while {nothing_but}")
        if document.format == "JSON":
            for other, bounds in group.demands(Bounds):
                if bounds.low > 0 and (known := _IN_JSON.get(bounds.measure.kind)):
                    what, way_out = known
                    yield rule.at(other.path, f"{what}, while {nothing_but}", way_out=way_out)
    for (first, one), (second, another) in pairs(group, Document):
        fences = set("`~")
        if not (set(one.first) - fences) & (set(another.first) - fences):
            yield rule.at(
                second.path,
                f"nothing but {another.format}, while {first.path} wants nothing but {one.format}",
            )


def _can_start(document: Document, start: Starts) -> bool:
    """Whether a document may start with a phrase."""
    words = document.words if start.cased else [word.lower() for word in document.words]
    phrase = start.phrase if start.cased else start.phrase.lower()
    return phrase[0] in document.first or any(_meet(word, phrase, str.startswith) for word in words)


def _can_end(document: Document, end: Ends) -> bool:
    """Whether a document may end with a phrase; in a string it may, if the quotation mark does not count."""
    if any(mark in document.last for mark in end.beside):
        return True
    words = document.words if end.cased else [word.lower() for word in document.words]
    phrase = end.phrase if end.cased else end.phrase.lower()
    return phrase[-1] in document.last or any(_meet(word, phrase, str.endswith) for word in words)


def _meet(one: str, other: str, has: Callable[[str, str], bool]) -> bool:
    return has(one, other) or has(other, one)
