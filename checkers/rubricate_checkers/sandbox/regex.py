r"""Python's regular expressions in the dialect of Monty's engine, which never backtracks for ever.

That engine reads some things otherwise: `$` before a final line feed, what `\w`, `\s` and `\b` are,
the case of `i`, `[a&&b]` and `[[:alpha:]]`. So a pattern is parsed as Python parses it, and written
anew with every construct spelled out.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

__all__ = ["translate"]

# no stubs describe them
c: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")

_LONGEST = 20_000
_WORD, _DIGIT = r"\p{L}\p{N}_", r"\p{Nd}"
_SPACE = r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_ASCII_WORD, _ASCII_DIGIT, _ASCII_SPACE = "A-Za-z0-9_", "0-9", r"\t-\r\x20"
_I_FORMS = "iI\u0130\u0131"  # all one letter where case is ignored
_UNICODE = {c.CATEGORY_WORD: _WORD, c.CATEGORY_DIGIT: _DIGIT, c.CATEGORY_SPACE: _SPACE}
_ASCII = {c.CATEGORY_WORD: _ASCII_WORD, c.CATEGORY_DIGIT: _ASCII_DIGIT, c.CATEGORY_SPACE: _ASCII_SPACE}
_NEGATED = {
    c.CATEGORY_NOT_WORD: c.CATEGORY_WORD,
    c.CATEGORY_NOT_DIGIT: c.CATEGORY_DIGIT,
    c.CATEGORY_NOT_SPACE: c.CATEGORY_SPACE,
}
_SUFFIX = {c.MAX_REPEAT: "", c.MIN_REPEAT: "?", c.POSSESSIVE_REPEAT: "+"}


class _Unsupported(Exception):
    """The engine has nothing that does the same."""


@lru_cache(maxsize=4096)
def translate(pattern: str, flags: int) -> tuple[str, str, bool]:
    """Translate a pattern.

    Args:
        pattern: Any string.
        flags: Flags of `re`.

    Returns:
        What became of it, `ok`, `error` (Python refuses it) or `gap` (the engine cannot do the same); the
        pattern for the engine, or the message; and whether successive matches are Python's too, which
        they are not where a match of nothing may follow right after a match of something.
    """
    if len(pattern) > _LONGEST:
        return "gap", f"a pattern of more than {_LONGEST} characters", False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = parser.parse(pattern, flags)
        flags = parsed.state.flags
        names = {number: name for name, number in parsed.state.groupdict.items()}
        written = _Writer(names).sequence(parsed, flags)
    except _Unsupported as gap:
        return "gap", str(gap), False
    except (re.error, OverflowError, ValueError) as error:
        return "error", str(error), False
    except RecursionError:
        return "gap", "a pattern that is nested too deeply", False
    return "ok", written, _is_successive(parsed, flags)


def _is_successive(parsed: Any, flags: int) -> bool:
    """Whether no match of nothing can follow right after a match of something, where the engine has none."""
    shortest, longest = parsed.getwidth()
    if shortest > 0 or longest == 0:
        return True
    if not parsed[:1] or parsed[0] != (c.AT, c.AT_BEGINNING):
        return False
    # the next match is on a later line
    return not flags & re.MULTILINE or not _may_take_line_feed(parsed, flags)


def _may_take_line_feed(items: Any, flags: int) -> bool:
    for op, value in items:
        if op in _SUFFIX:
            may = _may_take_line_feed(value[2], flags)
        elif op is c.ANY:
            may = bool(flags & re.DOTALL)
        elif op is c.LITERAL:
            may = value == ord("\n")
        elif op is c.IN:
            may = any(kind not in (c.LITERAL, c.RANGE) for kind, _ in value) or any(
                (low if kind is c.LITERAL else low[0]) <= ord("\n") for kind, low in value
            )
        else:
            may = op is not c.AT
        if may:
            return True
    return False


def _char(code: int) -> str:
    char = chr(code)
    return char if char.isalnum() and char.isascii() else f"\\x{{{code:x}}}"


class _Writer:
    """Writes parsed patterns; `names` are the names of groups by their number."""

    def __init__(self, names: dict[int, str]) -> None:
        self._names = names

    def sequence(self, items: Iterable[tuple[Any, Any]], flags: int) -> str:
        """Items in a row, as `re`'s parser has them."""
        return "".join(self._item(op, value, flags) for op, value in items)

    def _item(self, op: Any, value: Any, flags: int) -> str:
        if op in (c.LITERAL, c.NOT_LITERAL):
            return self._set([(c.LITERAL, value)], flags, negated=op is c.NOT_LITERAL)
        if op is c.IN:
            negated = value[0][0] is c.NEGATE
            return self._set(value[1:] if negated else value, flags, negated)
        if op is c.ANY:
            return "(?s:.)" if flags & re.DOTALL else r"[^\n]"
        if op is c.AT:
            return self._at(value, flags)
        if op is c.BRANCH:
            return f"(?:{'|'.join(self.sequence(branch, flags) for branch in value[1])})"
        if op is c.SUBPATTERN:
            number, added, removed, body = value
            return self._group(number, (flags | added) & ~removed, body)
        if op is c.ATOMIC_GROUP:
            return f"(?>{self.sequence(value, flags)})"
        if op in _SUFFIX:
            low, high, body = value
            bound = "" if high is c.MAXREPEAT else high
            return f"(?:{self.sequence(body, flags)}){{{low},{bound}}}{_SUFFIX[op]}"
        if op in (c.ASSERT, c.ASSERT_NOT):
            direction, body = value
            sign = "=" if op is c.ASSERT else "!"
            return f"(?{'<' if direction < 0 else ''}{sign}{self.sequence(body, flags)})"
        if op is c.GROUPREF and not flags & re.IGNORECASE:
            name = self._names.get(value)
            return f"(?P={name})" if name else f"(?:\\{value})"
        raise _Unsupported(f"{str(op).lower().replace('_', ' ')} in a pattern")

    def _group(self, number: int | None, flags: int, body: Any) -> str:
        inner = self.sequence(body, flags)
        if number is None:
            return f"(?:{inner})"
        name = self._names.get(number)
        return f"(?P<{name}>{inner})" if name else f"({inner})"

    def _set(self, items: list[tuple[Any, Any]], flags: int, negated: bool) -> str:
        folds = bool(flags & re.IGNORECASE)
        if folds and flags & re.ASCII:
            raise _Unsupported("IGNORECASE with ASCII in a pattern")
        categories = _ASCII if flags & re.ASCII else _UNICODE
        parts = []
        for op, value in items:
            if op is c.CATEGORY:
                inside = categories.get(value)
                parts.append(inside if inside else f"[^{categories[_NEGATED[value]]}]")
                continue
            low, high = (value, value) if op is c.LITERAL else value
            parts.append(_char(low) if low == high else f"{_char(low)}-{_char(high)}")
            if folds and any(low <= ord(form) <= high for form in _I_FORMS):
                parts.append(_I_FORMS)
        if len(items) == 1 and items[0][0] is c.LITERAL and not negated and len(parts) == 1:
            written = parts[0]
        else:
            written = f"[{'^' if negated else ''}{''.join(parts)}]"
        return f"(?i:{written})" if folds else written

    def _at(self, where: Any, flags: int) -> str:
        multiline = flags & re.MULTILINE
        if where is c.AT_BEGINNING:
            return "(?m:^)" if multiline else r"\A"
        if where is c.AT_END:
            return "(?m:$)" if multiline else r"(?=\n?\z)"
        if where is c.AT_BEGINNING_STRING:
            return r"\A"
        if where is c.AT_END_STRING:
            return r"\z"
        word = f"[{_ASCII_WORD if flags & re.ASCII else _WORD}]"
        if where is c.AT_BOUNDARY:
            return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        return (
            rf"(?!\A\z)(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"  # \B finds nothing in an empty text
        )
