"""Relations and counts, decided and put in words."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["amount", "compare", "listed"]


def compare(count: float, relation: str, threshold: float) -> bool:
    """Whether a count is `less than` (<) or `at least` (>=) a threshold."""
    return count < threshold if relation == "less than" else count >= threshold


def amount(count: float, noun: str) -> str:
    """A count in words: `1 word`, `0 words`, `8 paragraphs`."""
    number = int(count) if count == int(count) else count
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(words: Iterable[str]) -> str:
    """Quoted words in a row: `"fox", "park"`."""
    return ", ".join(f'"{word}"' for word in words)
