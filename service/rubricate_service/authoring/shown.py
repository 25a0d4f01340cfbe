"""Texts as people are shown them: short, on one line, with nothing invisible in them."""

from __future__ import annotations

import re

from rubricate_clients.wire import Rubric

INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xa0\xad\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that are not seen or that change how others are: controls, joiners, marks of direction, blanks
that are not the blank. Tab and line feed are not among them."""

_SHORT = {"\x7f": "␡", "\xa0": "[NBSP]", "\xad": "[SHY]", "\ufeff": "[BOM]"}


def symbol(character: str) -> str:
    """What stands for an invisible character."""
    if ord(character) < 0x20:  # Unicode has a picture of each
        return chr(0x2400 + ord(character))
    return _SHORT.get(character) or f"[U+{ord(character):04X}]"


def excerpt(text: str, width: int = 60) -> str:
    """The beginning of a text on one line, at most `width` characters before `…`."""
    line = " ".join(text[: 4 * width].split(" ")).replace("\n", "⏎").replace("\t", " ")
    line = INVISIBLE.sub(lambda match: symbol(match.group()), line)
    return line if len(line) <= width and len(text) <= 4 * width else f"{line[:width]}…"


def name_of(rubric: Rubric) -> str:
    """What a rubric is about: its check's id, or its criterion."""
    return rubric.check if rubric.check is not None else rubric.criterion or ""
