"""`rubricate lint`: what is wrong with a file of rubrics."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from rubricate_service.commands.common import (
    CheckWorkers,
    Config,
    JudgeFlag,
    JudgeModel,
    author_command,
    errors,
    settings_of,
    stop,
)
from rubricate_service.lint.files import Source, read_source
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.linter import Linter, Report, Witness
from rubricate_service.settings import Settings

_AT_A_TIME = 50
_DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class _Result:
    """What linting a file found, in the order of its rows."""

    findings: list[Finding] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)


def lint(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="groups or rows of a data set: JSON lines, a list, or YAML")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="print JSON, with the witnesses")] = False,
    witness: Annotated[
        bool, typer.Option("--witness", help="search a response that passes all checks of each group")
    ] = False,
    repeat: Annotated[
        int, typer.Option(help="ask the judge so often about each sample, and tell what changes", min=0)
    ] = 0,
    check_workers: CheckWorkers = None,
    judge: JudgeFlag = None,
    judge_model: JudgeModel = None,
    config: Config = None,
) -> None:
    """Say what is wrong with rubrics before anything is scored by them. Errors end it with exit code 1."""
    settings = settings_of(config, check_workers=check_workers, judge=judge, judge_model=judge_model)
    if repeat == 1:
        stop("--repeat: asking once cannot show a change; ask at least twice")
    if repeat and settings.judge is None:
        stop("--repeat asks the judge, and none is configured; name one with --judge URL")
    with author_command():
        groups = read_source(source)
    if not groups.groups and not groups.faults:
        stop(f"{source} has no group to lint")
    result = asyncio.run(_lint(groups, settings, witness, repeat))
    if as_json:
        Console().print_json(data=_json(result, witness))
    else:
        _print(groups, result, witness, Console(soft_wrap=True, highlight=False))
    if result.failures:
        kinds = ", ".join(f"{count} {kind}" for kind, count in result.failures.items())
        errors.print(f"the judge left questions open: {kinds}", markup=False, highlight=False)
    if any(finding.severity == "error" for finding in result.findings):
        raise typer.Exit(1)


async def _lint(source: Source, settings: Settings, witness: bool, repeat: int) -> _Result:
    from rubricate_service.pool import CheckPool

    result = _Result(list(source.faults))
    pool = CheckPool(settings.check_processes, settings.check_timeout_s)
    try:
        await pool.start()
        reports = []
        for start in range(0, len(source.groups), _AT_A_TIME):
            batch = source.groups[start : start + _AT_A_TIME]
            reports.append(await Linter(pool).lint(batch, _DEADLINE_S, witness))
    finally:
        await pool.close()
    for report in reports:
        result.findings.extend(report.findings)
        result.witnesses.extend(report.witnesses)
    if repeat:
        await _ask_again(reports, settings, repeat, result)
    result.findings.sort(key=lambda finding: _row(finding.path))
    return result


async def _ask_again(reports: Sequence[Report], settings: Settings, repeat: int, result: _Result) -> None:
    from rubricate_service.judge.build import build_judge
    from rubricate_service.lint.repeat import judge_flips

    judge = build_judge(settings)
    if judge is None:
        return
    try:
        await judge.start()
        groups = [group for report in reports for group in report.groups]
        flips, failures = await judge_flips(judge, groups, repeat)
    finally:
        await judge.close()
    result.findings.extend(flips)
    result.failures.update(failures)


def _row(path: str) -> int:
    return int(path.removeprefix("rows[").partition("]")[0])


def _json(result: _Result, witness: bool) -> dict[str, Any]:
    answer: dict[str, Any] = {"findings": [finding.model_dump() for finding in result.findings]}
    if witness:
        answer["witnesses"] = [found.model_dump() for found in result.witnesses]
    return answer


def _print(source: Source, result: _Result, witness: bool, console: Console) -> None:
    for row, findings in groupby(result.findings, key=lambda finding: _row(finding.path)):
        place = f"rows[{row}]"
        id = source.ids.get(place)
        title = f"row {row}" + ("" if id is None else f" ({id})")
        console.print(f"{title}, {source.lines[place]}", style="bold", markup=False)
        for line in _lines(place, findings):
            console.print(line, markup=False)
    _print_summary(len(source.lines), result, console)
    if witness:
        found = sum(one.response is not None for one in result.witnesses)
        console.print(f"witnesses: a response passes all checks in {found} of {len(result.witnesses)} groups")


def _lines(place: str, findings: Iterator[Finding]) -> Iterator[str]:
    for finding in findings:
        path = finding.path.removeprefix(place).removeprefix(".") or "group"
        message = finding.message.replace(f"{place}.", "")
        yield f"  {finding.rule} {finding.severity}  {path}: {message}"
        yield f"      {finding.hint}"


def _print_summary(rows: int, result: _Result, console: Console) -> None:
    counts = Counter((finding.rule, finding.severity) for finding in result.findings)
    if counts:
        console.print()
        table = Table("rule", "severity", "findings", "what it reports", box=None, pad_edge=False)
        for (rule, severity), count in sorted(counts.items()):
            table.add_row(rule, severity, f"{count:,}", RULES[rule].summary)
        console.print(table)
        console.print()
    tally = Counter(finding.severity for finding in result.findings)
    parts = [(rows, "row"), (tally["error"], "error"), (tally["warning"], "warning")]
    console.print(", ".join(f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in parts))
