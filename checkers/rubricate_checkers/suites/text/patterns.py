"""`text:` regular expressions, on RE2: whatever the pattern, time is linear in the response."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Strict

from ...check import Check, Example, Span
from ...errors import MissingData
from ...kwargs import refuse
from ...text import Text
from ...wording import amount
from .bounds import Bounded

_LONGEST = 1000
_MEMORY = 8 << 20


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> Any:
    """The compiled pattern; raises RE2's own error, or `MissingData`."""
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingData("google-re2 is not installed; install rubricate[checkers]") from error
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)


def _re2(value: str) -> str:
    if len(value) > _LONGEST:
        refuse(f"must not be longer than {_LONGEST} characters")
    try:
        _compile(value)
    except MissingData:
        raise
    except Exception as error:  # RE2's, whose class is known only where it is installed
        said = error.args[0].decode() if isinstance(error.args[0], bytes) else error
        hint = "RE2 has no lookaround and no back-references"
        refuse(f"{value!r} is not a regular expression of RE2: {said}; {hint}")
    return value


Pattern = Annotated[str, Strict(), AfterValidator(_re2)]


def _matches(pattern: str, text: Text) -> Iterable[Any]:
    if any("\ud800" <= char <= "\udfff" for char in text.raw):
        return ()  # no text at all to RE2
    found: Iterable[Any] = _compile(pattern).finditer(text.raw)
    return found


class _Pattern(Check):
    pattern: Pattern
    full: bool = False

    @cached_property
    def _source(self) -> str:
        return rf"\A(?:{self.pattern})\z" if self.full else self.pattern

    def _first(self, text: Text) -> Any:
        return next(iter(_matches(self._source, text)), None)

    def observed(self, text: Text) -> str:
        found = self._first(text)
        return "no match" if found is None else f'a match, "{found.group()[:80]}"'

    def _spans(self, text: Text, kind: Literal["match", "violation"]) -> list[Span]:
        return [
            Span(match.start(), match.end(), kind) for match in islice(_matches(self._source, text), 1000)
        ]

    @property
    def _what(self) -> str:
        return f"{'the whole response to match' if self.full else 'a match of'} {self.pattern}"


class Regex(_Pattern, id="text:regex", suite="text"):
    r"""A regular expression matches somewhere, or with `full` the whole response.

    It is one of RE2: no lookaround and no back-references, `\w`, `\d` and `\b` know ASCII only, and `.`
    stops at a line feed unless the pattern begins with `(?s)`.
    """

    example = Example(
        kwargs={"pattern": r"\d{2}:\d{2}"}, passes="We sail at 06:30.", fails="We sail at half past six."
    )

    def holds(self, text: Text) -> bool:
        return self._first(text) is not None

    @property
    def required(self) -> str:
        return self._what

    def evidence(self, text: Text) -> Iterable[Span]:
        return self._spans(text, "match")


class NotRegex(_Pattern, id="text:not_regex", suite="text"):
    r"""A regular expression matches nowhere, or with `full` not the whole response.

    It is one of RE2: no lookaround and no back-references, and `\w`, `\d` and `\b` know ASCII only.
    """

    example = Example(
        kwargs={"pattern": r"(?i)\bas an ai\b"}, passes="I would sail.", fails="As an AI I cannot."
    )

    def holds(self, text: Text) -> bool:
        return self._first(text) is None

    @property
    def required(self) -> str:
        return f"not {self._what}"

    def evidence(self, text: Text) -> Iterable[Span]:
        return self._spans(text, "violation")


class RegexCount(Bounded, id="text:regex_count", suite="text"):
    r"""A regular expression matches `min` to `max` times, without overlap.

    It is one of RE2: no lookaround and no back-references, and `\w`, `\d` and `\b` know ASCII only. For
    lines, begin the pattern with `(?m)^`.
    """

    noun = "occurrence"
    pattern: Pattern
    example = Example(
        kwargs={"pattern": "(?m)^- ", "min": 2}, passes="- rope\n- lamp", fails="- rope and lamp"
    )

    def spans(self, text: Text) -> list[tuple[int, int]]:
        return [match.span() for match in _matches(self.pattern, text)]

    def count(self, text: Text) -> int:
        # no further than the bounds can tell, as a pattern may match before every character
        return sum(1 for _ in islice(_matches(self.pattern, text), self._enough))

    def observed(self, text: Text) -> str:
        count = self.count(text)
        return f"{'at least ' if count == self._enough else ''}{amount(count, self.noun)}"

    @property
    def _enough(self) -> int:
        return math.ceil(self.min or 0) if self.max is None else math.floor(self.max) + 1

    @property
    def required(self) -> str:
        return f"{super().required} of {self.pattern}"
