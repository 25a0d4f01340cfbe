"""What the response contains: placeholders, bullet points, a title, highlights, a postscript."""

# The methods are those of Function and are documented there.
from __future__ import annotations

import re
from collections.abc import Iterable

from ...check import Example, Span
from ...spans import every, phrases
from ...text import Text
from ...wording import amount
from ..ifeval.content import bracketed
from .function import Function
from .kwargs import Number, Str


class VerifyPostscript(Function, id="rlvr:verify_postscript", suite="rlvr"):
    """A postscript marker occurs, in this very case and anywhere, with something after it."""

    postscript_marker: Str
    example = Example(
        kwargs={"postscript_marker": "P.S."},
        passes="See you at the quay.\n\nP.S. Bring a coat.",
        fails="See you at the quay.\n\nP.S.",
    )

    def accepts(self, answer: Text) -> bool:
        at = answer.raw.find(self.postscript_marker)
        return at >= 0 and len(answer.raw[at:].strip()) > len(self.postscript_marker)

    def found(self, answer: Text) -> str:
        if self.accepts(answer):
            return "a postscript"
        return "a marker with nothing after it" if self.postscript_marker in answer.raw else "no postscript"

    @property
    def required(self) -> str:
        return f'a postscript that starts with "{self.postscript_marker}"'

    def spans(self, answer: Text) -> Iterable[Span]:
        return phrases(answer.raw, [self.postscript_marker], "match", cased=True)


def _placeholders(text: str) -> int:
    return sum(1 for _ in bracketed(text))


class ValidatePlaceholders(Function, id="rlvr:validate_placeholders", suite="rlvr"):
    """The response has at least so many placeholders in square brackets.

    Anything in brackets on one line counts, also `[]`, a check box and the text of a link.
    """

    N: Number
    example = Example(
        kwargs={"N": 2},
        passes="Meet [name] at pier [number].",
        fails="Meet [name] at the pier.",
    )

    def accepts(self, answer: Text) -> bool:
        return answer.view(_placeholders) >= self.N

    def found(self, answer: Text) -> str:
        return amount(answer.view(_placeholders), "placeholder")

    @property
    def required(self) -> str:
        return f"at least {amount(self.N, 'placeholder')}"

    def spans(self, answer: Text) -> Iterable[Span]:
        return (Span(start, end, "counted") for start, end in bracketed(answer.raw))


_BULLET = re.compile(r"(?m)^[^\S\n]*[*-]")
_HIGHLIGHT = re.compile(r"\*[^*\n]*\*")


def _bullets(text: str) -> int:
    return sum(line.lstrip().startswith(("*", "-")) for line in text.split("\n"))


class VerifyBulletPoints(Function, id="rlvr:verify_bullet_points", suite="rlvr"):
    """The response has exactly so many bullet points, each a line that starts with `*` or `-`.

    Nested ones count, and so do bold lines and horizontal rules.
    """

    N: Number
    example = Example(
        kwargs={"N": 2},
        passes="On board:\n* a flare\n- a whistle",
        fails="On board:\n1. a flare\n2. a whistle",
    )

    def accepts(self, answer: Text) -> bool:
        return answer.view(_bullets) == self.N

    def found(self, answer: Text) -> str:
        return amount(answer.view(_bullets), "bullet point")

    @property
    def required(self) -> str:
        return f"exactly {amount(self.N, 'bullet point')}"

    def spans(self, answer: Text) -> Iterable[Span]:
        return every(answer.raw, _BULLET)


def _has_title(text: str) -> bool:
    """Whether a line has `>>` anywhere behind `<<`."""
    lines = text.split("\n") if "<<" in text else ()
    return any(">>" in line.partition("<<")[2] for line in lines)


class ValidateTitle(Function, id="rlvr:validate_title", suite="rlvr"):
    """The response has a title in double angular brackets, which may be empty: `<<>>`."""

    example = Example(
        kwargs={},
        passes="<<The Outer Islands>>\nThere are nine.",
        fails="# The Outer Islands\nThere are nine.",
    )

    def accepts(self, answer: Text) -> bool:
        return answer.view(_has_title)

    def found(self, answer: Text) -> str:
        return "a title" if self.accepts(answer) else "no title"

    @property
    def required(self) -> str:
        return "a title in double angular brackets"


def _highlights(text: str) -> int:
    """Number of pairs of asterisks on one line, taken from left to right."""
    return sum(line.count("*") // 2 for line in text.split("\n")) if "*" in text else 0


class ValidateHighlightedSections(Function, id="rlvr:validate_highlighted_sections", suite="rlvr"):
    """The response has at least so many parts between two asterisks on one line.

    The part may be empty: `**so**` counts twice, and so does `****`.
    """

    N: Number
    example = Example(
        kwargs={"N": 2}, passes="Keep *clear* of the *weir*.", fails="Keep *clear* of the weir."
    )

    def accepts(self, answer: Text) -> bool:
        return answer.view(_highlights) >= self.N

    def found(self, answer: Text) -> str:
        return amount(answer.view(_highlights), "highlighted part")

    @property
    def required(self) -> str:
        return f"at least {amount(self.N, 'highlighted part')}"

    def spans(self, answer: Text) -> Iterable[Span]:
        return every(answer.raw, _HIGHLIGHT)
