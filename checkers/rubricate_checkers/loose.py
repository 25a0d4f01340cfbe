"""IFEval's loose reading: a verdict also holds when it holds for a response stripped of decoration.

Eight variants of a response are tried (Zhou et al., 2023, section 2.2): as it is, and without its
first line, its last line, or both (a preamble, a sign-off); each also without asterisks.
"""

from __future__ import annotations

import re
from enum import Enum, auto

__all__ = ["STARRED", "TRIED", "VARIANTS", "Rescue", "revise", "start_of"]

VARIANTS = (
    "raw",
    "raw_without_asterisks",
    "first_line_removed",
    "last_line_removed",
    "first_and_last_line_removed",
    "first_line_removed_without_asterisks",
    "last_line_removed_without_asterisks",
    "first_and_last_line_removed_without_asterisks",
)
"""Names of the variants, in the order in which they are tried."""

STARRED = VARIANTS[2:5]
"""Those that have lost lines and no asterisk."""

_WORD = re.compile(r"\S")


def revise(raw: str) -> tuple[str, ...]:
    """The texts of `VARIANTS`. Lines end at a line feed; what lost a line is stripped at both ends."""
    first, last = raw.find("\n"), raw.rfind("\n")
    if first < 0:  # one line, and without it nothing is left
        return (raw, raw.replace("*", ""), *[""] * 6)
    cut = (raw[first + 1 :].strip(), raw[:last].strip(), raw[first + 1 : last].strip())
    return (raw, raw.replace("*", ""), *cut, *(text.replace("*", "") for text in cut))


def start_of(name: str, raw: str) -> int:
    """Where a variant that has lost lines and is not blank begins.

    Args:
        name: The variant.
        raw: The response.

    Returns:
        A place in the response, or in the response without asterisks where the variant has none.
    """
    cut = raw.find("\n") + 1 if name.startswith("first") else 0
    word = _WORD.search(raw, cut)
    start = 0 if word is None else word.start()
    return start if name in STARRED else start - raw.count("*", 0, start)


class Rescue(Enum):
    """Which variants can turn a check that fails on the raw response into one that holds.

    A check says so where it is certain, and is spared the other variants; the verdict is the same.
    """

    ANY = auto()
    """Any of them."""
    NONE = auto()
    """None: each variant has less of what is asked for than the raw response."""
    SMALLEST = auto()
    """Any, but only if the last one does: it has the least of what must not be there."""
    STARLESS = auto()
    """Only the whole response without asterisks: a part of a text has no match that the text lacks."""
    STARRED = auto()
    """Only those with asterisks, which are what the check reads."""


TRIED: dict[Rescue, tuple[str, ...]] = {
    Rescue.ANY: VARIANTS,
    Rescue.NONE: (),
    Rescue.SMALLEST: VARIANTS,
    Rescue.STARLESS: VARIANTS[1:2],
    Rescue.STARRED: STARRED,
}
"""The variants that are tried."""
