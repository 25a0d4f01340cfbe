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
_HAIR = 1e-6  # more than division rounds off


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

    def _counts(self, raw: str) -> tuple[int, int]:
        """Number of a text's trigrams that are in the reference, and of all."""
        found, reference = _trigrams(raw), self._reference
        if not len(found) or not len(reference):
            return 0, len(found)
        places: npt.NDArray[Any] = np.minimum(reference.searchsorted(found), len(reference) - 1)
        return int(np.count_nonzero(reference[places] == found)), len(found)

    def _share(self, text: Text) -> float | None:
        """Per cent of a response's trigrams that are in the reference; None where it has none."""
        shared, total = text.view(self._counts)
        return shared / total * 100 if total else None

    def holds(self, text: Text) -> bool:
        share = self._share(text)
        low, high = self.percentage - _TOLERANCE, self.percentage + _TOLERANCE
        return share is not None and low <= share <= high

    def may_hold(self, variant: Text, response: Text) -> bool:
        """Bounds on the share: each character that is lost costs three trigrams at most and makes two."""
        shared, total = response.view(self._counts)
        lost = len(response.raw) - len(variant.raw)
        stars = 0 if "*" in variant.raw else response.raw.count("*")  # the others were cut off at the ends
        fewest, most = lost + 2 * stars, 2 * stars
        if total <= fewest:
            return True
        low, high = self.percentage - _TOLERANCE, self.percentage + _TOLERANCE
        return (
            (shared - fewest) / (total + most) * 100 - _HAIR <= high
            and (shared + most) / (total - fewest) * 100 + _HAIR >= low
        )  # fmt: skip

    def observed(self, text: Text) -> str:
        share = self._share(text)
        return "fewer than three characters" if share is None else f"{share:.4g} % overlap"

    @property
    def required(self) -> str:
        return f"{self.percentage:g} % overlap, give or take {_TOLERANCE}"
