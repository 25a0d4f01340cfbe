"""`custom:` tasks that are answered with a list: countries, capitals, dates.

Each is one fixed task. Their kwargs are ignored, as upstream ignores them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from pydantic import ConfigDict

from ... import data
from ...check import Check, Example
from ...text import Text
from ...wording import amount
from .common import EDGES

_ANY_KWARGS = ConfigDict(frozen=True, extra="ignore")


def _ascii(text: str) -> str:
    """The text without accents and without what is no ASCII then."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


_FIRST, _AT_LEAST = "Zimbabwe", 52


def _countries_fault(raw: str) -> str | None:
    if _FIRST not in raw:
        return f"no {_FIRST}"
    lines = [line for line in (line.strip(EDGES) for line in raw.split("\n")) if line]
    start = next(i for i, line in enumerate(lines) if _FIRST in line)
    names = list(map(_ascii, lines[start:]))
    if len(names) < _AT_LEAST:
        return f"{amount(len(names), 'line')} from {_FIRST} on"
    return next((f'"{name}" before "{after}"' for name, after in pairwise(names) if name < after), None)


class ReverseNewline(
    Check, id="custom:reverse_newline", suite="ifbench", aliases=("ifbench@2025:custom:reverse_newline",)
):
    """From the first line with `Zimbabwe` on there are at least 52 lines in reverse alphabetical order.

    Accents and punctuation around a line are ignored, as are empty lines; capitals sort before small
    letters.
    """

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes="Zimbabwe\n" + "\n".join(f"Country {100 - i}" for i in range(1, 60)),
        fails="Zimbabwe\nZambia\nUganda",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_countries_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_countries_fault) or "reverse order"

    @property
    def required(self) -> str:
        return f"at least {_AT_LEAST} lines in reverse order from {_FIRST} on"


_CAPITALS = list(data.words("european_capitals"))


def _capitals_fault(raw: str) -> str | None:
    named = [name for name in map(str.strip, _ascii(raw).split(",")) if name]
    if len(named) != len(_CAPITALS):
        return amount(len(named), "name")
    pairs = zip(named, _CAPITALS, strict=True)
    return next((f'"{name}" instead of {capital}' for name, capital in pairs if name != capital), None)


class EuropeanCapitals(
    Check,
    id="custom:european_capitals_sort",
    suite="ifbench",
    aliases=("ifbench@2025:custom:european_capitals_sort",),
):
    """The response is a fixed list of 27 European capitals from north to south, separated by commas.

    Accents are ignored; a final period is not.
    """

    model_config = _ANY_KWARGS
    example = Example(kwargs={}, passes=", ".join(_CAPITALS), fails="Helsinki, Oslo, Reykjavik")

    def holds(self, text: Text) -> bool:
        return text.view(_capitals_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_capitals_fault) or "all in order"

    @property
    def required(self) -> str:
        return f"{len(_CAPITALS)} capitals from {_CAPITALS[0]} to {_CAPITALS[-1]}"


_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_LAST_DAYS = dict.fromkeys((1, 3, 5, 7, 8, 10, 12), 31) | dict.fromkeys((4, 6, 9, 11), 30) | {2: 29, 0: 99}


def _date_fault(raw: str) -> str | None:
    """The first thing between commas that is no date of Napoleon's life."""
    for piece in raw.strip().split(","):
        match = _DATE.fullmatch(piece.strip())
        if not match:
            return f'"{piece.strip()[:40]}"'
        year, month, day = map(int, match.groups())
        if not (1769 <= year <= 1821 and month <= 12 and day <= _LAST_DAYS[month]):
            return f'"{match[0]}"'
    return None


class DateList(
    Check, id="custom:date_format_list", suite="ifbench", aliases=("ifbench@2025:custom:date_format_list",)
):
    """The response is a list of dates from 1769 to 1821 as YYYY-MM-DD, separated by commas.

    Day 0 and month 0 pass, and every February has 29 days.
    """

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes="1796-05-10, 1800-06-14",
        fails="10 May 1796, 14 June 1800",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_date_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_date_fault) or "nothing but dates"

    @property
    def required(self) -> str:
        return "dates from 1769 to 1821 as YYYY-MM-DD"
