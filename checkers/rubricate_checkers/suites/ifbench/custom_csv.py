"""`custom:` tasks that are answered with a table.

Each is one fixed task. Their kwargs are ignored, as upstream ignores them. Tables are read by
Python's csv module; what it refuses does not hold.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

from pydantic import ConfigDict

from ...check import Check, Example
from ...text import Text
from ...wording import amount

_ANY_KWARGS = ConfigDict(frozen=True, extra="ignore")


def _rows(raw: str, count: int, delimiter: str = ",") -> list[list[str]] | str:
    """The rows of a table, or what is wrong where it cannot be read or has not so many rows."""
    try:
        rows = list(islice(csv.reader(io.StringIO(raw), delimiter=delimiter), count + 1))
    except csv.Error as error:
        return f"no table ({error})"
    if len(rows) != count:
        return f"more than {amount(count, 'row')}" if len(rows) > count else amount(len(rows), "row")
    return rows


def _not_five(rows: list[list[str]]) -> str | None:
    return next((f"a row of {amount(len(row), 'field')}" for row in rows if len(row) != 5), None)


_CITY_HEADER = ["ID", "Country", "City", "Year", "Count"]


def _city_fault(raw: str) -> str | None:
    rows = _rows(raw, 8)
    if isinstance(rows, str):
        return rows
    return _not_five(rows[1:]) if rows[0] == _CITY_HEADER else "another header"


class CityCsv(Check, id="custom:csv_city", suite="ifbench", aliases=("ifbench@2025:custom:csv_city",)):
    """A table of eight rows with five fields and the header ID,Country,City,Year,Count.

    A blank line is a row, and a space behind a comma belongs to the field.
    """

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes="ID,Country,City,Year,Count\n" + "\n".join(f"{i},Norway,Bergen,199{i},5" for i in range(7)),
        fails="ID,Country,City,Year,Count\n1,Norway,Bergen,1991,5",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_city_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_city_fault) or "such a table"

    @property
    def required(self) -> str:
        return f"the header {','.join(_CITY_HEADER)} and 7 rows of 5 fields"


def _header(names: tuple[str, ...], separator: str) -> re.Pattern[str]:
    """Matches a header in which each name may be quoted."""
    return re.compile(separator.join(rf'(?:{name}|"{name}")' for name in names))


def _first_line(raw: str) -> str:
    return raw.partition("\n")[0].strip()


_PRODUCT_NAMES = ("ProductID", "Category", "Brand", "Price", "Stock")
_PRODUCT_HEADER = _header(_PRODUCT_NAMES, r",[ \t]*")


def _has_special(field: str) -> bool:
    """Whether a quoted field has a character other than letters, digits, `_` and whitespace."""
    # the pattern's two greedy stretches are quadratic in a field that does not match
    quoted = field.partition("\n")[0]
    last = quoted.rfind('"')
    inner = quoted[1:last] if quoted[:1] == '"' else ""
    return any(not (char.isalnum() or char == "_" or char.isspace()) for char in inner)


def _special_character_fault(raw: str) -> str | None:
    if not _PRODUCT_HEADER.fullmatch(_first_line(raw)):
        return "another header"
    rows = _rows(raw.replace('"', '"""'), 15)  # so that quotes become part of the fields
    if isinstance(rows, str):
        return rows
    for row in rows[1:]:
        if len(row) != 5:
            return f"a row of {amount(len(row), 'field')}"
        if any(map(_has_special, row)):
            return None
    return "no quoted field with a special character"


class SpecialCharacterCsv(
    Check,
    id="custom:csv_special_character",
    suite="ifbench",
    aliases=("ifbench@2025:custom:csv_special_character",),
):
    """A table of 15 rows with a quoted field that has a special character.

    The header is ProductID,Category,Brand,Price,Stock. Each row up to that field has five fields; the
    rows behind it are not looked at.
    """

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes='ProductID,Category,Brand,Price,Stock\n1,"Tea & Co",Ode,3,9\n'
        + "\n".join(f"{i},Tea,Ode,3,9" for i in range(2, 15)),
        fails="ProductID,Category,Brand,Price,Stock\n" + "\n".join(f"{i},Tea,Ode,3,9" for i in range(1, 15)),
    )

    def holds(self, text: Text) -> bool:
        return text.view(_special_character_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_special_character_fault) or "such a table"

    @property
    def required(self) -> str:
        return f"the header {','.join(_PRODUCT_NAMES)}, 14 rows and a quoted field with a special character"


_GRADE_NAMES = ("StudentID", "Subject", "Grade", "Semester", "Score")
_GRADE_HEADER = _header(_GRADE_NAMES, r"\t *")


def _quotes_fault(raw: str) -> str | None:
    if not _GRADE_HEADER.fullmatch(_first_line(raw)):
        return "another header"
    rows = _rows(raw.replace('"', '"""'), 4, delimiter="\t")
    if isinstance(rows, str):
        return rows
    bare = (field for row in rows for field in map(str.strip, row) if not field[:1] == field[-1:] == '"')
    return _not_five(rows) or next((f'a field without quotes, "{field}"' for field in bare), None)


class QuotesCsv(Check, id="custom:csv_quotes", suite="ifbench", aliases=("ifbench@2025:custom:csv_quotes",)):
    """A table of four rows with five quoted fields, separated by tabs.

    The header is StudentID, Subject, Grade, Semester, Score; it is quoted too.
    """

    model_config = _ANY_KWARGS
    example = Example(
        kwargs={},
        passes="\n".join(
            "\t".join(f'"{field}"' for field in row)
            for row in (_GRADE_NAMES, *((str(i), "Art", "B", "2", "80") for i in range(1, 4)))
        ),
        fails="\n".join(
            "\t".join(row) for row in (_GRADE_NAMES, *((str(i), "Art", "B", "2", "80") for i in range(1, 4)))
        ),
    )

    def holds(self, text: Text) -> bool:
        return text.view(_quotes_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_quotes_fault) or "such a table"

    @property
    def required(self) -> str:
        return "the header StudentID to Score and 3 rows, all fields quoted and separated by tabs"
