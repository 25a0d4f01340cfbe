"""IFEval's and IFBench's figures: prompts and instructions that hold, and instructions by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rubricate_service.evaluation.rate import Rate, Verdict, all_hold

Row = tuple[Sequence[str], Sequence[Verdict]]
"""A prompt's instruction ids and their verdicts."""


def accuracies(rows: Sequence[Row]) -> dict[str, Any]:
    """What IFEval's `print_report` reports.

    Args:
        rows: One for each prompt.

    Returns:
        `prompt`: prompts whose instructions all hold; `instruction`: instructions that hold; `tier0` and
        `tier1`: the same by the part of the id before its colon, and by the id.
    """
    flat = [(id, verdict) for ids, verdicts in rows for id, verdict in zip(ids, verdicts, strict=True)]
    return {
        "prompt": Rate.of(all_hold(verdicts) for _, verdicts in rows),
        "instruction": Rate.of(verdict for _, verdict in flat),
        "tier0": _by_name([(id.split(":")[0], verdict) for id, verdict in flat]),
        "tier1": _by_name(flat),
    }


def _by_name(pairs: Sequence[tuple[str, Verdict]]) -> dict[str, Rate]:
    names = sorted({name for name, _ in pairs})
    return {name: Rate.of(verdict for other, verdict in pairs if other == name) for name in names}
