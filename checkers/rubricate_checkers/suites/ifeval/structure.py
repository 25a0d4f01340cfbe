"""`detectable_format:` of the whole response: sections and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator

from ...check import Check, Example, Span
from ...keyword import is_literal
from ...kwargs import Count, Str, python_regex
from ...loose import Rescue
from ...text import Text
from ...wording import amount


def _heading(splitter: str) -> re.Pattern[str]:
    # upstream's optional space before and behind change nothing for plain text, and slow the search down
    stripped = splitter.strip()
    pattern = rf"{stripped}\s?\d+" if is_literal(stripped) else rf"\s?{stripped}\s?\d+\s?"
    return python_regex(pattern)


def _splitter(value: str) -> str:
    _heading(value)
    return value


class MultipleSections(
    Check, id="detectable_format:multiple_sections", aliases=("rubrichub:SectionChecker",), raw_regex=True
):
    """The response has at least so many sections, each marked by a word and a number: `Section 1`.

    The word is read in its own case and as a regular expression; Roman numerals do not count.
    """

    section_spliter: Annotated[Str, AfterValidator(_splitter)]
    num_sections: Count
    example = Example(
        kwargs={"section_spliter": "Part", "num_sections": 2},
        passes="Part 1\nOut.\nPart 2\nBack.",
        fails="Part 1\nOut and back.",
    )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return _heading(self.section_spliter)

    def _count(self, text: Text) -> int:
        # groups in the word add pieces upstream, and so they do here
        return len(self._pattern.split(text.raw)) - 1

    def holds(self, text: Text) -> bool:
        return self._count(text) >= self.num_sections

    def observed(self, text: Text) -> str:
        return amount(self._count(text), "section")

    @property
    def required(self) -> str:
        return f'at least {amount(self.num_sections, "section")} marked "{self.section_spliter} 1" and so on'

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS if self.section_spliter.strip().isalpha() else Rescue.ANY

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(*match.span(), "counted") for match in self._pattern.finditer(text.raw))


_JSON_STARTS = frozenset('{["-0123456789tfnNI')
_FENCES = ("```json", "```Json", "```JSON", "```")


def _json_fault(text: str) -> str | None:
    """Why a text is not JSON, once a code fence around it is taken off; None where it is."""
    body = text.strip()
    for fence in _FENCES:
        body = body.removeprefix(fence)
    body = body.removesuffix("```").strip()
    if body[:1] not in _JSON_STARTS:
        return f"it starts with {body[:1]!r}"
    try:
        json.loads(body)
    except ValueError as error:
        return str(error)
    return None


class JsonFormat(Check, id="detectable_format:json_format", aliases=("rubrichub:JsonFormat",)):
    """The whole response is JSON, in a code fence or without one.

    Any JSON value will do, and what Python's parser also takes: NaN and Infinity.
    """

    example = Example(kwargs={}, passes='```json\n{"tide": "low"}\n```', fails='Here it is: {"tide": "low"}')

    def holds(self, text: Text) -> bool:
        return text.view(_json_fault) is None

    def observed(self, text: Text) -> str:
        fault = text.view(_json_fault)
        return "JSON" if fault is None else f"no JSON ({fault})"

    @property
    def required(self) -> str:
        return "nothing but JSON"
