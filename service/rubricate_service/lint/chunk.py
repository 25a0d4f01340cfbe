"""Work for the check workers: some checks of a group on some texts."""

from __future__ import annotations

from collections.abc import Sequence

from rubricate_service.lint.group import BuiltGroup, BuiltRubric
from rubricate_service.worker import CheckItem, CheckSpec, Chunk


def chunk_of(group: BuiltGroup, rubrics: Sequence[BuiltRubric], texts: Sequence[str]) -> Chunk:
    """Work for the pool; its findings have a row per text with an outcome per rubric, in their order."""
    specs: dict[CheckSpec, int] = {}
    numbers = tuple(specs.setdefault(r.spec, len(specs)) for r in rubrics if r.spec is not None)
    items = tuple(CheckItem(text, group.prompt, numbers) for text in texts)
    return Chunk(tuple(specs), items, "strict", False)
