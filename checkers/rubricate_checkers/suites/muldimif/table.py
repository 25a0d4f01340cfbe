"""Tables: their rows and columns, and what their head must name.

The table is what stands between the first and the last `|` of a response, so that prose and further
tables between them count as rows.
"""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from ...text import Text
from ...wording import amount
from . import table_columns
from .numbers import TO_HUNDRED, single
from .requirement import Bounds, Requirement
from .table_columns import Named

__all__ = ["parse"]

_PHRASES = (
    ("exact", r"exactly\s+N\s+U"),
    ("max", r"no\s+more\s+than\s+N\s+U"),
    ("max", r"not\s+have\s+more\s+than\s+N\s+U"),
    ("max", r"must\s+not\s+exceed\s+N\s+U"),
    ("max", r"not\s+exceed\s+N\s+U"),
    ("max", r"not\s+exceeding\s+N\s+U"),
    ("max", r"U\s+limit\s+of\s+N"),
)
_LATER_PHRASES = (
    ("max", r"limited to\s+N\s+Us"),
    ("max", r"a maximum of\s+.+and N\s+U"),
    ("max", r"limit the number of Us to\s+N"),
    ("max", r"limit it to\s+N\s+Us"),
    ("max", r"limit the table to\s+N\s+Us"),
    ("max", r"the number of Us in each table does not exceed\s+N"),
)
_ROW_PHRASES = (
    *_PHRASES,
    ("exact", r"N\s+Us?\s+must\s+be\s+included"),
    ("exact", r"exactly\s+.+and N\s+U"),
    ("max", r"not exceed\s+.+and N\s+U"),
    ("max", r"a maximum of\s+N\s+Us"),
    *_LATER_PHRASES,
)
_COLUMN_PHRASES = (
    *_PHRASES,
    ("exact", r"exactly\s+.+and N\s+U"),
    ("exact", r"in\s+N\s+Us"),
    ("max", r"not exceed\s+.+and N\s+U"),
    ("max", r"maximum of\s+N\s+Us"),
    ("max", r"maximum\s+N\s+Us"),
    ("max", r"at most\s+N\s+Us"),
    *_LATER_PHRASES,
)
"""(kind, pattern) in the order in which they are tried; N is a number and U the unit."""

_NUMBER = rf"(\d+|\b(?:{'|'.join(TO_HUNDRED)})\b)"


def _compile(phrases: tuple[tuple[str, str], ...], unit: str) -> list[tuple[str, re.Pattern[str]]]:
    return [(kind, re.compile(phrase.replace("U", unit).replace("N", _NUMBER))) for kind, phrase in phrases]


_ROWS = _compile(_ROW_PHRASES, "row")
_COLUMNS = _compile(_COLUMN_PHRASES, "column")
_TITLE = re.compile(rf"title\s+must\s+not\s+exceed\s+{_NUMBER}\s+words")

_KIND = "(?:a |any )?(?:tables?|tabular data)"
_DONE = "(?:used|included|utilized|incorporated|presented|chosen)"
_OPTIONAL = [
    re.compile(pattern)
    for pattern in (
        f"if you (?:include|use|utilize|incorporate|present) {_KIND}",
        f"if you (?:decide|choose|opt) to (?:use|include|incorporate|present|utilize) {_KIND}",
        f"if (?:a |any )?(?:tables?|tabular data|table format) (?:is|are) {_DONE}",
        f"if there (?:is|are) (?:a |any )?(?:tables?|tabular data|table format) {_DONE}",
    )
]


def parse(sentence: str) -> Requirement:
    """What a sentence asks of a table, and whether it asks for one at all.

    One that does not speak of tables is satisfied by a response without any `|`, and so is one that
    makes the table optional.
    """
    sentence = sentence.lower()
    return _Table(
        rows=_bounds(_ROWS, sentence),
        columns=Bounds(1, 1) if "single column" in sentence else _bounds(_COLUMNS, sentence),
        title_words=single(match[1], TO_HUNDRED) if (match := _TITLE.search(sentence)) else None,
        markdown="markdown" in sentence,
        names=table_columns.parse(sentence),
        optional="table" not in sentence or any(pattern.search(sentence) for pattern in _OPTIONAL),
    )


def _bounds(patterns: list[tuple[str, re.Pattern[str]]], sentence: str) -> Bounds:
    for kind, pattern in patterns:
        if match := pattern.search(sentence):
            number = single(match[1], TO_HUNDRED)
            return Bounds(number if kind == "exact" else None, number)
    return Bounds()


@dataclass(frozen=True)
class _Content:
    """The lines of a table, stripped and non-blank."""

    lines: list[str]

    @property
    def rows(self) -> int:
        """Lines below the head, and below the rule where the second line has `---`."""
        ruled = len(self.lines) > 1 and "---" in self.lines[1]
        return len(self.lines) - (2 if ruled else 1)

    @property
    def columns(self) -> int | None:
        """Cells that the first line encloses; None where there is no line."""
        return self.lines[0].count("|") - 1 if self.lines else None

    @cached_property
    def heads(self) -> list[str]:
        """Cells of the first line, in lower case."""
        return [cell.strip().lower() for cell in self.lines[0].split("|")[1:-1]] if self.lines else []

    @cached_property
    def words(self) -> str:
        """All the table says, in lower case."""
        return " ".join(self.lines).replace("|", " ").lower()


def _content(raw: str) -> _Content:
    """The table of a text with a `|`; without lines where there is only one."""
    first, last = raw.find("|"), raw.rfind("|")
    lines = raw[first : last + 1].split("\n") if first < last else []
    return _Content([line.strip() for line in lines if line.strip()])


@dataclass(frozen=True)
class _Table(Requirement):
    """What a table must be like. Fields that the sentence does not speak of ask for nothing."""

    rows: Bounds
    columns: Bounds
    title_words: int | None
    markdown: bool
    names: tuple[Named, ...]
    optional: bool

    @property
    def parsed(self) -> bool:
        return bool(self._asked)

    def holds(self, text: Text) -> bool:
        if "|" not in text.raw:
            return self.optional
        table = text.view(_content)
        return (
            (not self.markdown or any(line.startswith("|") for line in table.lines))
            and self.rows.admit(table.rows)
            and (
                self.columns == Bounds() or (table.columns is not None and self.columns.admit(table.columns))
            )
            and (self.title_words is None or self._title_fits(table))
            and all(name.met(table.heads, table.words) for name in self.names)
        )

    def _title_fits(self, table: _Content) -> bool:
        return bool(table.lines) and len(table.lines[0].strip("|").split()) <= (self.title_words or 0)

    def observed(self, text: Text) -> str:
        if "|" not in text.raw:
            return "no table"
        table = text.view(_content)
        columns = amount(table.columns or 0, "column")
        return f"a table of {amount(max(table.rows, 0), 'row')} and {columns}: {', '.join(table.heads)[:80]}"

    @property
    def _asked(self) -> list[str]:
        bounds = [(self.rows, "row"), (self.columns, "column")]
        asked = [bound.of(noun) for bound, noun in bounds if bound != Bounds()]
        if self.title_words is not None:
            asked.append(f"a first line of at most {amount(self.title_words, 'word')}")
        if self.markdown:
            asked.append("a line that starts with |")
        return asked + [name.words for name in self.names]

    @property
    def required(self) -> str:
        if not self._asked:
            which = "response" if self.optional else "table"
            return f"unclear: the sentence says nothing checkable of a table, so any {which} passes"
        asked = f"a table: {', '.join(self._asked)}"
        return f"{asked} (or no table)" if self.optional else asked
