"""A report as tables for people, or as JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from rubricate_service.evaluation.evaluate import Report
from rubricate_service.evaluation.rate import Rate

_SHOWN = 10


def report_json(report: Report) -> dict[str, Any]:
    """The report with nothing left out; `accuracy` is in [0, 1], or null where nothing is decided."""
    answer: dict[str, Any] = {
        "benchmark": report.benchmark.value,
        "responses": report.responses,
        "missing": report.missing,
        "strays": report.strays,
        "undecided": [
            {"prompt": prompt, "rubric": rubric, "why": why} for prompt, rubric, why in report.undecided
        ],
        "figures": _json(report.figures),
    }
    if report.constrained is not None:
        answer["valid"] = Rate.of(report.valid).json()
        answer["constrained"] = _json(report.constrained)
    return answer


def _json(value: Any) -> Any:
    if isinstance(value, Rate):
        return value.json()
    return {name: _json(item) for name, item in value.items()} if isinstance(value, dict) else value


def print_report(report: Report, console: Console) -> None:
    """Print the figures, then what they leave out."""
    _print_figures(report.figures, console, f"{report.benchmark.value}: {report.responses} responses")
    if report.constrained is not None:
        valid = _cell(Rate.of(report.valid))
        _print_figures(report.constrained, console, f"only valid answers count ({valid} are)")
    _print_list(console, "prompts without a response", report.missing)
    _print_list(console, "rows of responses without a prompt", report.strays)
    _print_list(
        console,
        "undecided, counted neither way",
        [f"{prompt}, {rubric}: {why}" for prompt, rubric, why in report.undecided],
    )


def _print_figures(figures: dict[str, Any], console: Console, title: str) -> None:
    columns = figures if "strict" in figures else {"": figures}
    paths = _paths(next(iter(columns.values())))
    names = ["  " * (len(path) - 1) + path[-1] for path in paths]
    table = Table(box=None, pad_edge=False)
    table.add_column(title, min_width=max(map(len, names)))  # ids are to be read whole, however narrow
    for column in columns:
        table.add_column(column)
    for name, path in zip(names, paths, strict=True):
        table.add_row(name, *(_cell(_at(column, path)) for column in columns.values()))
    console.print(table, "", highlight=False)


def _paths(figures: dict[str, Any]) -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for name, value in figures.items():
        paths.append((name,))
        if isinstance(value, dict):
            paths += [(name, inner) for inner in value]
    return paths


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ""
    if isinstance(value, Rate):
        return f"{_cell(value.share)} ({value.held}/{value.decided})"
    return "-" if value is None else f"{value:.4f}"


def _print_list(console: Console, title: str, items: list[Any]) -> None:
    if not items:
        return
    more = f"\n  and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    shown = "".join(f"\n  {item}" for item in items[:_SHOWN])
    console.print(f"{len(items)} {title}:{shown}{more}", markup=False, highlight=False, soft_wrap=True)
