"""Number of attributes of XML tags."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
from dataclasses import dataclass

from ...text import Text
from ...wording import amount
from .measures import fenced
from .requirement import Bounds, Requirement

__all__ = ["Attributes"]

# what a quantifier has taken it keeps: no other way to read a tag exists, and looking for one takes long
_TAG = re.compile(r"""<\s*+[a-zA-Z_:][\w:.-]*+(?:\s++[a-zA-Z_:][\w:.-]*+=['"][^'"]*+['"])*+\s*+/?>""")
_ATTRIBUTE = re.compile(r"""\w=["'][^"']*+["']""")


def _counts(raw: str) -> tuple[int, ...] | None:
    """Numbers of attributes of each tag in the first XML block, or else in the text.

    None where the block does not end. Tags that close another one are not looked at.
    """
    if "```xml" in raw:
        block = fenced(raw, "xml")
        if block is None:
            return None
        raw = block
    return tuple(sum(1 for _ in _ATTRIBUTE.finditer(tag[0])) for tag in _TAG.finditer(raw))


@dataclass(frozen=True)
class Attributes(Requirement):
    """Every tag has so many attributes; there may be no tag."""

    bounds: Bounds

    def holds(self, text: Text) -> bool:
        counts = text.view(_counts)
        return counts is not None and all(map(self.bounds.admit, counts))

    def observed(self, text: Text) -> str:
        counts = text.view(_counts)
        if counts is None:
            return "an XML block that does not end"
        wrong = next((count for count in counts if not self.bounds.admit(count)), None)
        tags = amount(len(counts), "tag")
        return (
            f"{tags}, all of them so" if wrong is None else f"{tags}, one with {amount(wrong, 'attribute')}"
        )

    @property
    def required(self) -> str:
        return f"each XML tag with {self.bounds.of('attribute')}"
