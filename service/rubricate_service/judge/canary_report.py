"""What the canaries say of a judge, as a table for people."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table

from rubricate_service.judge.canary import LABELLED, Report, Trial

_SHOWN_CHARS = 60


def print_report(report: Report, console: Console) -> None:
    """Print the figures by kind, then each answer that was judged otherwise than it deserves."""
    table = Table("kind", "judged", "as deserved", "without a verdict", box=None, pad_edge=False)
    for kind in dict.fromkeys(trial.canary.kind for trial in report.trials):
        trials = [trial for trial in report.trials if trial.canary.kind == kind]
        judged = sum(len(trial.labels) for trial in trials)
        right = sum(trial.labels.count(trial.canary.label) for trial in trials)
        table.add_row(kind, str(judged), str(right), str(len(trials) * report.runs - judged))
    console.print(table)
    console.print()
    for name, rate, meaning in (
        ("false positives", report.false_positive_rate, "of the attacks got credit; they deserve none"),
        ("agreement", report.agreement, "of the labelled answers got their label"),
        ("repeatability", report.repeatability, f"got one label in all of {report.runs} runs"),
        ("label mass", report.label_mass, "of the probability lies on the labels 0, 1, 2"),
    ):
        shown = "–" if rate is None else f"{100 * rate:.1f} %"
        console.print(f"{name:16} {shown:>8}  {meaning}", highlight=False)
    wrong = [trial for trial in report.trials if set(trial.labels) - {trial.canary.label}]
    if wrong:
        console.print("\nJudged otherwise than deserved:", highlight=False)
    for trial in wrong:
        console.print(_line(trial), markup=False, highlight=False, soft_wrap=True)
    for message, count in Counter(str(failure) for failure in report.failures).items():
        console.print(
            f"\n{count} without a verdict: {message}", markup=False, highlight=False, soft_wrap=True
        )


def _line(trial: Trial) -> str:
    said = ", ".join(f"{2 * label:.0f}" for label in trial.labels)
    deserved = f", deserves {2 * trial.canary.label:.0f}" if trial.canary.kind == LABELLED else ""
    text = " ".join(trial.canary.question.response.split())
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    return (
        f"  {trial.canary.kind}: said {said}{deserved}: {ascii(shown) if not shown.isprintable() else shown}"
    )
