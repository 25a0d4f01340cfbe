"""`ratio:overlap`: how much of the response is in a reference text."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Strict

from ...check import Check, Example
from ...kwargs import Count
from ...text import Text

Codes = npt.NDArray[np.uint64]

_TOLERANCE = 2


def _trigrams(raw: str) -> Codes:
    """The distinct runs of three characters, each as one number, in ascending order."""
    chars = np.frombuffer(raw.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    bits = np.uint64(21)  # of a code point
    codes: Codes = (chars[:-2] << bits | chars[1:-1]) << bits | chars[2:]
    codes.sort()
    is_last = np.ones(len(codes), dtype=bool)
    np.not_equal(codes[1:], codes[:-1], out=is_last[:-1])
    return codes[is_last]


class Overlap(Check, id="ratio:overlap", suite="ifbench", aliases=("ifbench@2025:ratio:overlap",)):
    """So many per cent of the response's trigrams, give or take 2, are in a reference text.

    Trigrams are runs of three characters, not words, and each counts once. A response shorter than
    that fails.
    """

    reference_text: Annotated[str, Strict()]
    percentage: Count
    example = Example(
        kwargs={"reference_text": "The tide turns at noon.", "percentage": 100},
        passes="The tide turns",
        fails="High water is at twelve.",
    )

    @cached_property
    def _reference(self) -> Codes:
        return _trigrams(self.reference_text)

    def _share(self, text: Text) -> float | None:
        return text.view(self._share_of)

    def _share_of(self, raw: str) -> float | None:
        """Per cent of a text's trigrams that are in the reference; None where it has none."""
        found, reference = _trigrams(raw), self._reference
        if not len(found):
            return None
        if not len(reference):
            return 0.0
        places: npt.NDArray[Any] = np.minimum(reference.searchsorted(found), len(reference) - 1)
        return int(np.count_nonzero(reference[places] == found)) / len(found) * 100

    def holds(self, text: Text) -> bool:
        share = self._share(text)
        low, high = self.percentage - _TOLERANCE, self.percentage + _TOLERANCE
        return share is not None and low <= share <= high

    def observed(self, text: Text) -> str:
        share = self._share(text)
        return "fewer than three characters" if share is None else f"{share:.4g} % overlap"

    @property
    def required(self) -> str:
        return f"{self.percentage:g} % overlap, give or take {_TOLERANCE}"
