"""`detectable_content:`: placeholders and postscripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator

from ...check import Check, Example, Span
from ...keyword import is_literal
from ...kwargs import Count, Str, python_regex
from ...loose import Rescue
from ...text import Text
from ...wording import amount


def bracketed(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each `[` and the next `]` on its line, in linear time."""
    line_end = -1
    start = text.find("[")
    while start >= 0:
        if line_end < start:
            line_end = text.find("\n", start)
            if line_end < 0:
                line_end = len(text)
        close = text.find("]", start, line_end)
        if close < 0:
            start = text.find("[", line_end)
        else:
            yield start, close + 1
            start = text.find("[", close)


def _count_bracketed(text: str) -> int:
    return sum(1 for _ in bracketed(text))


class NumberOfPlaceholders(
    Check, id="detectable_content:number_placeholders", aliases=("rubrichub:PlaceholderChecker",)
):
    """The response has at least so many placeholders in square brackets.

    Anything in brackets on one line counts, also `[]`, a check box and the text of a link.
    """

    num_placeholders: Count
    example = Example(
        kwargs={"num_placeholders": 2},
        passes="Dear [name], come to [place].",
        fails="Dear [name], come to us.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_count_bracketed) >= self.num_placeholders

    def observed(self, text: Text) -> str:
        return amount(text.view(_count_bracketed), "placeholder")

    @property
    def required(self) -> str:
        return f"at least {amount(self.num_placeholders, 'placeholder')}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.NONE

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(start, end, "counted") for start, end in bracketed(text.raw))


_SPACED_MARKERS = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
"""The two usual markers, which may be written with spaces."""


def _marker_pattern(marker: str) -> re.Pattern[str]:
    r"""What to look for in the response in lower case.

    Upstream looks for `\s*`, the marker, `.*$`. That finds the same responses as the marker alone, but
    takes quadratic time over whitespace; only a marker that is no regex by itself needs the rest.
    """
    stripped = marker.strip()
    if stripped in _SPACED_MARKERS:
        return re.compile(_SPACED_MARKERS[stripped])
    upstream = python_regex(rf"\s*{stripped.lower()}.*$", re.MULTILINE)
    try:
        return re.compile(stripped.lower(), re.MULTILINE)
    except re.error:
        return upstream


def _marker(value: str) -> str:
    _marker_pattern(value)
    return value


class Postscript(
    Check, id="detectable_content:postscript", aliases=("rubrichub:PostscriptChecker",), raw_regex=True
):
    """The response has a postscript marker, such as `P.S.`, in any case and anywhere.

    A response with `P.P.S.` has `P.S.` too.
    """

    postscript_marker: Annotated[Str, AfterValidator(_marker)]
    example = Example(
        kwargs={"postscript_marker": "P.S."},
        passes="See you there.\n\nP.S. Bring a torch.",
        fails="See you there. Bring a torch.",
    )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return _marker_pattern(self.postscript_marker)

    def holds(self, text: Text) -> bool:
        return self._pattern.search(text.lower) is not None

    def observed(self, text: Text) -> str:
        return "a postscript" if self.holds(text) else "no postscript"

    @property
    def required(self) -> str:
        return f'a postscript that starts with "{self.postscript_marker}"'

    @property
    def rescue(self) -> Rescue:
        marker = self.postscript_marker.strip()
        return Rescue.STARLESS if marker in _SPACED_MARKERS or is_literal(marker) else Rescue.ANY

    def evidence(self, text: Text) -> Iterable[Span]:
        if len(text.lower) != len(text.raw):  # a letter that becomes two moves what follows
            return []
        return (Span(*match.span(), "match") for match in self._pattern.finditer(text.lower))
