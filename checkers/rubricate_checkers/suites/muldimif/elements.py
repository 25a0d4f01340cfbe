"""The elements of a response that a sentence with "each" speaks of: which form they have, and lists.

Only the start of a text says whether it is JSON or a list.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["bullet_items", "form", "is_numbered"]

_JSON = re.compile(r"\s*[{\[]")
_NUMBERED = re.compile(r"\s*\d+\.\s+")
_BULLET = re.compile(r"\s*[-*] ")


def form(raw: str) -> Literal["json", "table", "numbered", "bullet", "plain"]:
    """What a text is taken for."""
    if _JSON.match(raw):
        return "json"
    if any(line.startswith("|") and "|" in line[2:] for line in map(str.lstrip, raw.split("\n"))):
        return "table"
    if _NUMBERED.match(raw):
        return "numbered"
    return "bullet" if _BULLET.match(raw) else "plain"


def is_numbered(line: str) -> bool:
    """Whether a line is an item of a numbered list: `2. so`. A number alone is none."""
    return _NUMBERED.match(line) is not None


def bullet_items(raw: str) -> list[str]:
    """What follows the first blank of each bullet's line, which an indented bullet begins with."""
    return [line.split(" ", 1)[1].strip() for line in raw.split("\n") if _BULLET.match(line)]
