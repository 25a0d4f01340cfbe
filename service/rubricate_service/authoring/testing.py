"""`rubricate test`: the expectations of a file, held against what the engine says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from rubricate_clients.wire import Options
from rubricate_service.app import running_engine
from rubricate_service.authoring.expectations import Case, CaseGroup, Outcome, Result, compare
from rubricate_service.authoring.files import FileError, parsed, read_rows
from rubricate_service.authoring.scoring import score_groups
from rubricate_service.authoring.shown import excerpt, name_of
from rubricate_service.settings import Settings

RESULTS: dict[Result, str] = {
    "holds": "hold",
    "mismatch": "do not",
    "undecided": "undecided",
    "not_run": "not run",
}


@dataclass(frozen=True, slots=True)
class Tested:
    """One expectation of a file and what came of it in each run.

    Attributes:
        place: Where its group is in the file.
        group: The group's id.
        case: The expectation.
        runs: Its outcomes, one a run.
    """

    place: str
    group: str
    case: Case
    runs: tuple[Outcome, ...]

    @property
    def result(self) -> Result:
        """The worst of the runs: one mismatch is enough, and what is undecided once does not hold."""
        results = {outcome.result for outcome in self.runs}
        order: tuple[Result, ...] = ("mismatch", "undecided", "not_run", "holds")
        return next(result for result in order if result in results)

    @property
    def flips(self) -> bool:
        """Whether decided runs differ in whether it holds."""
        return {"holds", "mismatch"} <= {outcome.result for outcome in self.runs}

    def json(self) -> dict[str, Any]:
        """The expectation and its runs as JSON."""
        case = self.case
        return {
            "place": self.place,
            "group": self.group,
            "response": case.response,
            "rubric" if case.rubric else "number": case.name,
            "expected": case.expected,
            "result": self.result,
            "runs": [{"result": run.result, "observed": run.observed} for run in self.runs],
        }


@dataclass(frozen=True, slots=True)
class CaseReport:
    """The expectations of a file, and a line for each fault of its rows."""

    tested: list[Tested] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def counts(self) -> Counter[Result]:
        """How many expectations had which result."""
        return Counter(tested.result for tested in self.tested)

    @property
    def exit_code(self) -> int:
        """0 when all that ran holds, 1 with a mismatch or a bad row, 3 when nothing ran or some is open."""
        counts = self.counts()
        if counts["mismatch"] or self.faults:
            return 1
        return 3 if counts["undecided"] or not counts["holds"] else 0


async def run_file(
    source: Path, options: Options, repeat: int, settings: Settings, console: Console
) -> CaseReport:
    """Score a file `repeat` times and compare. More than once, the judge is asked anew each time.

    Unless the options say otherwise every criterion is judged, also where a hard rubric does not hold.

    Raises:
        FileError: The file cannot be read, or expects nothing.
    """
    rows, faults = parsed(read_rows(source), CaseGroup)
    if not faults and not any(True for _, group in rows for _ in group.cases()):
        raise FileError(f"{source} expects nothing: no response has an `expect`")
    if options.judging is None:
        options = options.model_copy(update={"judging": "all"})
    if repeat > 1:
        options = options.model_copy(update={"cache": "off"})
    groups = [group.group() for _, group in rows]
    async with running_engine(settings) as engine:
        runs = [await score_groups(engine.scorer, groups, options, console) for _ in range(repeat)]
    tested = [
        Tested(
            row.place,
            runs[0][n]["id"],
            case,
            tuple(compare(case, run[n]["responses"][case.position]) for run in runs),
        )
        for n, (row, group) in enumerate(rows)
        for case in group.cases()
    ]
    return CaseReport(tested, faults)


def print_report(report: CaseReport, console: Console) -> None:
    """Print what does not hold, then how many do."""
    for tested in report.tested:
        if tested.result in ("mismatch", "undecided"):
            _print_case(tested, console)
    counts = report.counts()
    shown = [f"{counts[result]} {words}" for result, words in RESULTS.items() if counts[result]]
    console.print(", ".join(shown) or "nothing was tested", style="bold")
    if flips := sum(tested.flips for tested in report.tested):
        console.print(f"{flips} of them came out otherwise in another run")
    for why, count in _not_run(report.tested).items():
        console.print(f"{count} not run: {why}")


def _print_case(tested: Tested, console: Console) -> None:
    case = tested.case
    what = f"rubric {excerpt(case.name)!r}" if case.rubric else case.name
    about = f" ({excerpt(name_of(case.rubric))})" if case.rubric else ""
    console.print(
        f"{tested.place}: group {excerpt(tested.group)!r}, response {excerpt(case.response)!r}, {what}{about}"
    )
    expected = case.expected if isinstance(case.expected, str) else f"{case.expected:g}"
    for outcome, count in Counter(tested.runs).items():
        times = f" in {count} of {len(tested.runs)} runs" if len(tested.runs) > 1 else ""
        word = "undecided" if outcome.result == "undecided" else "observed"
        console.print(f"    expected {expected}, {word}{times}: {excerpt(outcome.observed, 300)}")


def _not_run(tested: Sequence[Tested]) -> Counter[str]:
    return Counter(t.runs[0].observed for t in tested if t.result == "not_run")
