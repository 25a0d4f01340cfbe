"""Agreement of judge and people, as tables for people."""

from __future__ import annotations

from itertools import islice

from rich.console import Console
from rich.table import Table

from rubricate_service.authoring.agreeing import NAMES, AgreementReport, Comparison, Judged
from rubricate_service.authoring.agreement import Interval
from rubricate_service.authoring.shown import excerpt

_SHOWN = 20


def print_report(report: AgreementReport, console: Console) -> None:
    """Print each scale's figures and confusion matrix, then the rows on which judge and person differ."""
    for comparison in report.comparisons:
        _print_figures(comparison, console)
        _print_confusion(comparison, console)
    for comparison in report.comparisons:
        _print_disagreements(comparison, console)
    for kind, count in report.failures.most_common():
        console.print(f"{count:,} without a verdict: {kind}: {report.messages[kind]}")
    if report.unread:
        console.print(f"columns that are not read: {', '.join(map(excerpt, report.unread))}")


def _print_figures(comparison: Comparison, console: Console) -> None:
    decided = len(comparison.decided)
    left = len(comparison.judged) - decided
    console.print(
        f"{comparison.scale}: {decided:,} judged, {left:,} without a verdict, "
        f"of {comparison.clusters:,} independent prompts or groups",
        style="bold",
    )
    constant = comparison.constant
    three = comparison.scale == "three points"
    rows = [
        ("agreement", _share(comparison.accuracy), "of the verdicts are the person's"),
        (
            "constant",
            _share(constant and constant[1]),
            f"would be, of a judge that always says {constant and constant[0]}",
        ),
        ("κ", _kappa(comparison.kappa), f"Cohen's, 95 % interval {_interval(comparison.intervals[0])}"),
    ]
    if three:
        told = f"quadratic weights, 95 % interval {_interval(comparison.intervals[1])}"
        rows.append(("weighted κ", _kappa(comparison.weighted_kappa), told))
    if comparison.repeatability is not None:
        runs = len(comparison.judged[0].labels)
        rows.append(
            ("repeatability", _share(comparison.repeatability), f"got one label in all of {runs} runs")
        )
    for name, value, meaning in rows:
        console.print(f"  {name:14} {value:>8}  {meaning}")
    if decided and comparison.kappa is None:
        console.print("  κ needs two labels: person and judge gave one and the same throughout")


def _print_confusion(comparison: Comparison, console: Console) -> None:
    names = NAMES[comparison.scale]
    table = Table("  person \\ judge", *names, "all", box=None, pad_edge=False)
    for name, row in zip(names, comparison.counts.tolist(), strict=True):
        table.add_row(f"  {name}", *(f"{count:,}" for count in row), f"{sum(row):,}")
    said = comparison.counts.sum(axis=0).tolist()
    table.add_row("  all", *(f"{count:,}" for count in said), f"{sum(said):,}")
    console.print(table, "")


def _print_disagreements(comparison: Comparison, console: Console) -> None:
    found = comparison.disagreements
    if found:
        console.print(f"{len(found):,} disagreements ({comparison.scale}), farthest first:", style="bold")
    for one in islice(found, _SHOWN):
        for line in _lines(one, NAMES[comparison.scale]):
            console.print(line)
    if len(found) > _SHOWN:
        console.print(f"  and {len(found) - _SHOWN:,} more; --json has them all")
    if found:
        console.print()


def _lines(one: Judged, names: tuple[str, ...]) -> list[str]:
    row = one.row
    id = f" ({excerpt(row.id)})" if row.id else ""
    said = ", ".join("none" if label is None else names[label] for label in one.labels)
    return [
        f"  line {row.line}{id}: person {names[row.label]}, judge {said}",
        f"      criterion: {excerpt(row.group.rubrics[0].criterion or '', 90)}",
        f"      response:  {excerpt(row.group.texts()[0], 90)}",
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _kappa(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _interval(found: Interval | None) -> str:
    return "unknown: too few rows" if found is None else f"{found.low:.2f} to {found.high:.2f}"
