"""`detectable_format:` of single lines: bullets, highlights, a title, a fixed answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...check import Check, Example, Span
from ...kwargs import Count
from ...loose import Rescue
from ...text import Text
from ...wording import amount


def bullets(text: str) -> Iterator[tuple[int, int]]:
    r"""(start, end) of each bullet: stars first, then dashes.

    What the patterns `^\s*\*[^\*].*$` and `^\s*-.*$` match, read line by line: over many blank lines
    those take quadratic time. `[^\*]` also takes a line feed, so a lone star takes the next line in.
    """
    for mark in "*-":
        if mark not in text:
            continue
        start = 0
        taken = False
        for line in text.split("\n"):
            end = start + len(line)
            item = line.lstrip()
            if taken:
                taken = False
            elif item.startswith(mark) and not item.startswith("**"):
                at = end - len(item)
                lone = item == "*"
                if not lone:
                    yield at, end
                elif end < len(text):
                    taken = True
                    yield at, end
            start = end + 1


def _count_lines(text: str) -> int | None:
    """Number of bullets, or None where a lone star may take in the next line, which may be another."""
    if "*" not in text and "-" not in text:
        return 0
    items = [line.strip() for line in text.split("\n")]
    if "*" in items:
        return None
    return sum(1 for item in items if item.startswith(("*", "-")) and not item.startswith("**"))


def _count_one_by_one(text: str) -> int:
    return sum(1 for _ in bullets(text))


def _count_bullets(text: Text) -> int:
    count = text.tally(_count_lines)
    return text.view(_count_one_by_one) if count is None else count


class NumberOfBullets(
    Check, id="detectable_format:number_bullet_lists", aliases=("rubrichub:BulletListChecker",)
):
    """The response has exactly so many bullet points, each a line that starts with `*` or `-`.

    Nested ones and horizontal rules of dashes count; a line that starts with `**` does not.
    """

    num_bullets: Count
    example = Example(
        kwargs={"num_bullets": 2},
        passes="To pack:\n* a map\n- a torch",
        fails="To pack:\n1. a map\n2. a torch",
    )

    def holds(self, text: Text) -> bool:
        return _count_bullets(text) == self.num_bullets

    def observed(self, text: Text) -> str:
        return amount(_count_bullets(text), "bullet point")

    @property
    def required(self) -> str:
        return f"exactly {amount(self.num_bullets, 'bullet point')}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(start, end, "counted") for start, end in bullets(text.raw))


_EMPHASIS = (re.compile(r"\*([^\n*]*)\*"), re.compile(r"\*\*([^\n*]*)\*\*"))


def highlights(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each highlighted part: pairs of single asterisks, then pairs of double ones."""
    if "*" in text:
        for pattern in _EMPHASIS:
            for match in pattern.finditer(text):
                if match[1].strip():
                    yield match.span()


def _count_highlights(text: str) -> int:
    return sum(1 for _ in highlights(text))


class NumberOfHighlights(
    Check,
    id="detectable_format:number_highlighted_sections",
    aliases=("rubrichub:HighlightSectionChecker",),
):
    """The response has at least so many parts between asterisks, single or double, within a line.

    `***so***` counts twice, as a single pair and as a double one.
    """

    num_highlights: Count
    example = Example(
        kwargs={"num_highlights": 2},
        passes="Keep *left* and look **right**.",
        fails="Keep *left* and look right.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_count_highlights) >= self.num_highlights

    def observed(self, text: Text) -> str:
        return amount(text.view(_count_highlights), "highlighted part")

    @property
    def required(self) -> str:
        return f"at least {amount(self.num_highlights, 'highlighted part')}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(start, end, "counted") for start, end in highlights(text.raw))


def titles(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each title: from the first `<<` of a line to its last `>>`, with text in between."""
    end = 0
    while (start := text.find("<<", end)) >= 0:
        line_end = text.find("\n", start)
        end = len(text) if line_end < 0 else line_end
        close = text.rfind(">>", start + 3, end)
        if close >= 0 and text[start : close + 2].lstrip("<").rstrip(">").strip():
            yield start, close + 2


def _has_title(text: str) -> bool:
    return any(True for _ in titles(text))


class Title(Check, id="detectable_format:title", aliases=("rubrichub:TitleChecker",)):
    """The response has a title in double angular brackets: `<<a title>>`."""

    example = Example(
        kwargs={}, passes="<<The Long Way>>\nIt began at noon.", fails="# The Long Way\nIt began."
    )

    def holds(self, text: Text) -> bool:
        return text.view(_has_title)

    def observed(self, text: Text) -> str:
        return "a title" if self.holds(text) else "no title"

    @property
    def required(self) -> str:
        return "a title in double angular brackets"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(start, end, "match") for start, end in titles(text.raw))


_OPENING = "My answer is "
_ANSWERS = tuple(f"{_OPENING}{answer}." for answer in ("yes", "no", "maybe"))


def _answer(text: str) -> str | None:
    """The first of the answers that is in a text."""
    if _OPENING not in text:
        return None
    return next((answer for answer in _ANSWERS if answer in text), None)


class ConstrainedResponse(
    Check, id="detectable_format:constrained_response", aliases=("rubrichub:ConstrainedResponseChecker",)
):
    """The response says yes, no or maybe in a fixed sentence, such as `My answer is yes.`, in that case."""

    example = Example(kwargs={}, passes="My answer is no.", fails="No.")

    def holds(self, text: Text) -> bool:
        return text.view(_answer) is not None

    def observed(self, text: Text) -> str:
        answer = text.view(_answer)
        return "none of them" if answer is None else f'"{answer}"'

    @property
    def required(self) -> str:
        return " or ".join(f'"{answer}"' for answer in _ANSWERS)

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS

    def evidence(self, text: Text) -> Iterable[Span]:
        starts = [(text.raw.find(answer), answer) for answer in _ANSWERS]
        return (Span(start, start + len(answer), "match") for start, answer in starts if start >= 0)
