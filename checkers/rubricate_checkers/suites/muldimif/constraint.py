"""`muldimif:constraint`: which family reads a constraint, by its category and subcategory."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated

from pydantic import Field, JsonValue, Strict, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from ...check import Check, Example, Span
from ...kwargs import refuse
from ...text import Text
from . import (
    chinese,
    english,
    formats,
    identifiers,
    json_nesting,
    keywords,
    markdown,
    paragraphs,
    punctuation,
    sentences,
    table,
    words,
)
from .requirement import Parser, Requirement

_FAMILIES: tuple[tuple[Parser, str, tuple[str, ...]], ...] = (
    (keywords.parse, "Content", ("Keywords", "Keywords: Must include")),
    (punctuation.parse, "Content", ("Punctuation", "Punctuation: Ending punctuation")),
    (identifiers.parse, "Content", ("Identifiers", "Length", "Quotes", "Sources", "Mention")),
    (punctuation.parse, "Punctuation", ("Ending punctuation",)),
    (identifiers.parse, "Citations", ("In-text",)),
    (words.parse, "Length", ("Words", "Words: At most", "Words: At least", "Words: Range")),
    (
        sentences.parse,
        "Length",
        ("Sentences", "Sentences: At most", "Sentences: At least", "Sentences: Range"),
    ),
    (
        paragraphs.parse,
        "Length",
        ("Paragraphs", "Paragraphs: At most", "Paragraphs: At least", "Paragraphs: Range"),
    ),
    (words.parse, "Words", ("At most",)),
    (sentences.parse, "Sentences", ("At most", "At least")),
    (paragraphs.parse, "Paragraphs", ("At most",)),
    (table.parse, "Format", ("Table", "Table: Row limit", "Table: Column limit")),
    (markdown.parse, "Format", ("Markdown", "Markdown: Heading levels")),
    (json_nesting.parse, "Format", ("Json",)),
    (words.parse, "Format", ("Word Count",)),
    (
        formats.parse,
        "Format",
        ("Markdown: Block quotes", "Text", "Bullet Points", "XML", "Blurb", "Length"),
    ),
    (table.parse, "Table", ("Row limit", "Column limit")),
    (formats.parse, "Table", ("Table",)),
    (markdown.parse, "Markdown", ("Heading levels", "Block quotes")),
    (json_nesting.parse, "Json", ("Object nesting levels", "Number of attributes")),
    (formats.parse, "XML", ("Number of attributes",)),
    (formats.parse, "References", ("Format",)),
    (english.parse, "Language", ("English", "English: Capitalized", "English: All Uppercase")),
    (chinese.parse, "Language", ("Chinese", "Chinese: Simplified", "Chinese: Traditional")),
)
"""(what reads the sentence, category, subcategories)"""

_PARSERS: dict[str, dict[str, Parser]] = {}
for _parser, _category, _subcategories in _FAMILIES:
    _PARSERS.setdefault(_category, {}).update(dict.fromkeys(_subcategories, _parser))


def _one_of(names: Iterable[str]) -> FieldInfo:
    """Shows the names in the catalogue; what is none of them is refused with a hint, by the validators."""
    enum: list[JsonValue] = [*sorted(names)]
    info: FieldInfo = Field(json_schema_extra={"enum": enum})
    return info


_CATEGORIES = _one_of(_PARSERS)
_SUBCATEGORIES = _one_of({name for parsers in _PARSERS.values() for name in parsers})


@lru_cache(maxsize=4096)
def _requirement(category: str, subcategory: str, constraint: str) -> Requirement:
    return _PARSERS[category][subcategory](constraint)


def _known(value: str, names: Iterable[str]) -> str:
    names = list(names)
    if value not in names:
        near = difflib.get_close_matches(value, names, n=1) or names
        refuse(f"is unknown: {value!r}; did you mean {' or '.join(map(repr, near))}?")
    return value


class Constraint(Check, id="muldimif:constraint", suite="muldimif"):
    """The response satisfies a constraint of MulDimIF, whose sentence is read by fixed rules.

    Category and subcategory say by which rules; the sentence holds the numbers and words. The verdict is
    that of MulDimIF's own code, quirks included: where it finds nothing in the sentence, it lets every
    response pass or fail, and `parsed` is false. A response on which that code breaks (JSON nested too
    deeply) fails. Blank responses are looked at, and many a limit holds for them.
    """

    category: Annotated[str, Strict(), _CATEGORIES]
    subcategory: Annotated[str, Strict(), _SUBCATEGORIES]
    constraint: Annotated[str, Strict(), Field(max_length=2000)]
    example = Example(
        kwargs={
            "category": "Length",
            "subcategory": "Sentences",
            "constraint": "The answer must contain at least two sentences.",
        },
        passes="It rains. We stay.",
        fails="It rains and we stay.",
    )

    @field_validator("category")
    @classmethod
    def _category_is_known(cls, category: str) -> str:
        return _known(category, _PARSERS)

    @field_validator("subcategory")
    @classmethod
    def _subcategory_is_known(cls, subcategory: str, info: ValidationInfo) -> str:
        category = info.data.get("category")
        return subcategory if category is None else _known(subcategory, _PARSERS[category])

    @field_validator("constraint")
    @classmethod
    def _constraint_is_readable(cls, constraint: str, info: ValidationInfo) -> str:
        if "category" in info.data and "subcategory" in info.data:
            _requirement(info.data["category"], info.data["subcategory"], constraint)
        return constraint

    @property
    def _asked(self) -> Requirement:
        return _requirement(self.category, self.subcategory, self.constraint)

    @property
    def parsed(self) -> bool:
        return self._asked.parsed

    def holds(self, text: Text) -> bool:
        return self._asked.holds(text)

    def observed(self, text: Text) -> str:
        return self._asked.observed(text)

    @property
    def required(self) -> str:
        return self._asked.required

    def evidence(self, text: Text) -> Iterable[Span]:
        return self._asked.evidence(text)
