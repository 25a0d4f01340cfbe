"""Documents within responses: a code fence taken off, and JSON read with care."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

__all__ = ["LONGEST", "NotADocument", "body", "read_json"]

LONGEST = 1_000_000
"""Characters of the largest response that is read as a document."""

_FENCE = re.compile(r"(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[^\S\n]*\1\s*\Z", re.DOTALL)


class NotADocument(Exception):
    """A response is not what was asked for; the message says why."""


def body(raw: str, fenced: bool) -> str:
    """The document: the response without blanks at its ends and, if `fenced`, without a fence around it.

    Raises:
        NotADocument: The response is empty or too large.
    """
    text = raw.strip()
    if not text:
        raise NotADocument("it is empty")
    if len(text) > LONGEST:
        raise NotADocument(f"it has more than {LONGEST} characters")
    if fenced and text[:3] in ("```", "~~~"):
        match = _FENCE.match(text)
        if match is not None:
            return match.group(2)
    return text


def _no_constant(name: str) -> NoReturn:
    raise NotADocument(f"{name} is not JSON")


def read_json(text: str) -> Any:
    """The value of a JSON text (RFC 8259: no NaN, no comments).

    Raises:
        NotADocument: It is not JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise NotADocument("it is nested too deeply") from None
    except ValueError as error:
        raise NotADocument(str(error)) from None
