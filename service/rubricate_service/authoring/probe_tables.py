"""What probes earn, as tables for people."""

from __future__ import annotations

from itertools import islice
from typing import Any

from rich.console import Console
from rich.table import Table

from rubricate_service.authoring.probing import Payments, Probed, ProbeReport
from rubricate_service.authoring.shown import excerpt

_GROUPS = 10
_RUBRICS = 20
_MARKS = {0.0: "✗", 0.5: "½", 1.0: "✓"}


def print_report(report: ProbeReport, console: Console) -> None:
    """Print the groups that pay most, then the probes, then the rubrics, the largest share paid for first."""
    paying = list(report.worst_first())
    for group in islice(paying, _GROUPS):
        _print_group(group, console)
    if len(paying) > _GROUPS:
        console.print(f"and {len(paying) - _GROUPS:,} more groups that pay; --json has them all\n")
    table = _table("probe", "groups", "pay", "mean reward", "undecided")
    for name, paid in report.by_probe().items():
        count = paid.decided + paid.undecided
        table.add_row(name, f"{count:,}", f"{paid.paid:,}", _mean(paid), _count(paid.undecided))
    console.print(table, "")
    _print_rubrics(report, console)
    if failures := report.failures():
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in failures.most_common())
        console.print(f"verdicts that could not be decided: {kinds}")
    if "no_judge" in failures:
        console.print("no judge is configured; name one with --judge URL")
    more = f"; for {report.undecided:,} more it could not be decided" if report.undecided else ""
    pay = f"{len(paying):,} of {len(report.groups):,} groups pay for an answer that deserves nothing"
    console.print(f"{pay}{more}", soft_wrap=True)


def _print_group(group: Probed, console: Console) -> None:
    console.print(f"{group.place}: group {excerpt(group.id)!r}", style="bold")
    table = _table("probe", "reward", *(excerpt(id, 24) for id in group.rubrics))
    for response in group.responses:
        reward = response["reward"]
        marks = [_mark(verdict) for verdict in response["rubrics"]]
        table.add_row(response["id"], "–" if reward is None else f"{reward:.2f}", *marks)
    console.print(table, "")


def _print_rubrics(report: ProbeReport, console: Console) -> None:
    rubrics = {about: paid for about, paid in report.by_rubric().items() if paid.paid}
    table = _table("rubrics that pay, by the share that they pay for", "pay", "of", "mean score", "for")
    for (name, negative), paid in islice(rubrics.items(), _RUBRICS):
        about = f"{excerpt(name)}{' (pitfall)' if negative else ''}"
        table.add_row(about, f"{paid.paid:,}", f"{paid.decided:,}", _mean(paid), excerpt(", ".join(paid.by)))
    if rubrics:
        console.print(table)
    if len(rubrics) > _RUBRICS:
        console.print(f"and {len(rubrics) - _RUBRICS:,} more; --json has them all")
    console.print("" if rubrics else "no rubric pays for any of them")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold" if number == 0 else "ellipsis")
    return table


def _mark(verdict: dict[str, Any]) -> str:
    score = verdict["score"]
    return "–" if score is None else _MARKS.get(score, f"{score:.2f}")


def _mean(paid: Payments) -> str:
    return f"{paid.earned / paid.decided:.2f}" if paid.decided else "–"


def _count(number: int) -> str:
    return f"{number:,}" if number else ""
