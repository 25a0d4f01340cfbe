"""Word lists that define checks, as text files: words between whitespace, `#` starts a comment line."""

from __future__ import annotations

from importlib import resources

__all__ = ["words"]


def words(name: str) -> tuple[str, ...]:
    """The words of a list, in its order.

    Args:
        name: Of the file, without `.txt`.

    Returns:
        Its words.
    """
    text = resources.files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return tuple(word for line in text.splitlines() if not line.startswith("#") for word in line.split())
