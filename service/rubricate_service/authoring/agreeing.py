"""`rubricate judge agree`: the judge's verdicts beside those of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console

from rubricate_clients.wire import Options
from rubricate_service.app import running_engine
from rubricate_service.authoring.agreement import Counts, Interval, confusion, interval, kappa
from rubricate_service.authoring.labels import Labelled, Scale, read_labels
from rubricate_service.authoring.scoring import score_groups
from rubricate_service.importers.files import FileError
from rubricate_service.settings import Settings

NAMES: dict[Scale, tuple[str, ...]] = {"three points": ("0", "0.5", "1"), "pass or fail": ("fail", "pass")}


@dataclass(frozen=True, slots=True)
class Judged:
    """A row and what the judge said of it in each run; None where it gave no verdict."""

    row: Labelled
    labels: tuple[int | None, ...]

    @property
    def said(self) -> int | None:
        """What counts: the first run."""
        return self.labels[0]


@dataclass(frozen=True)
class Comparison:
    """Person and judge on one scale, over the rows on which the judge gave a verdict.

    Attributes:
        scale: The scale.
        judged: The rows of that scale, those without a verdict too.
    """

    scale: Scale
    judged: Sequence[Judged]

    @cached_property
    def decided(self) -> list[tuple[Judged, int]]:
        """Rows with a verdict in the first run, and that verdict."""
        return [(one, one.said) for one in self.judged if one.said is not None]

    @cached_property
    def counts(self) -> Counts:
        """The confusion matrix: rows for people, columns for the judge."""
        return self._confusion(self.decided)

    def _confusion(self, decided: Sequence[tuple[Judged, int]]) -> Counts:
        people = [one.row.label for one, _ in decided]
        return confusion(people, [said for _, said in decided], len(NAMES[self.scale]))

    @property
    def accuracy(self) -> float | None:
        """Share of verdicts that are the person's label, in [0, 1]."""
        return float(self.counts.trace() / self.counts.sum()) if self.decided else None

    @property
    def constant(self) -> tuple[str, float] | None:
        """The label that people gave most, and its share: the accuracy of whoever always says so."""
        if not self.decided:
            return None
        given = self.counts.sum(axis=1)
        return NAMES[self.scale][int(given.argmax())], float(given.max() / given.sum())

    @property
    def kappa(self) -> float | None:
        """Cohen's κ."""
        return kappa(self.counts) if self.decided else None

    @property
    def weighted_kappa(self) -> float | None:
        """κ with quadratic weights."""
        return kappa(self.counts, "quadratic") if self.decided else None

    @cached_property
    def _clusters(self) -> list[Counts]:
        clusters: dict[str, list[tuple[Judged, int]]] = {}
        for one, said in self.decided:
            clusters.setdefault(one.row.cluster, []).append((one, said))
        return [self._confusion(members) for members in clusters.values()]

    @cached_property
    def intervals(self) -> tuple[Interval | None, Interval | None]:
        """95 % intervals of κ and of weighted κ; rows of one cluster are drawn together."""
        return interval(self._clusters), interval(self._clusters, "quadratic")

    @property
    def clusters(self) -> int:
        """How many sets of rows belong together."""
        return len(self._clusters)

    @property
    def repeatability(self) -> float | None:
        """Share of the rows, judged in every run, that got one label in all; None with one run."""
        whole = [one.labels for one in self.judged if None not in one.labels and len(one.labels) > 1]
        return sum(len(set(labels)) == 1 for labels in whole) / len(whole) if whole else None

    @property
    def disagreements(self) -> list[Judged]:
        """Rows that the judge labels otherwise, the farthest first."""
        other = [(abs(said - one.row.label), one) for one, said in self.decided if said != one.row.label]
        return [one for _, one in sorted(other, key=lambda pair: -pair[0])]

    def json(self) -> dict[str, Any]:
        """The comparison as JSON, with every row on which they disagree."""
        names = NAMES[self.scale]
        constant = self.constant
        return {
            "scale": self.scale,
            "labels": names,
            "n": len(self.decided),
            "without_a_verdict": len(self.judged) - len(self.decided),
            "clusters": self.clusters,
            "confusion": self.counts.tolist(),
            "accuracy": self.accuracy,
            "constant": None if constant is None else {"label": constant[0], "accuracy": constant[1]},
            "kappa": self.kappa,
            "kappa_95": self.intervals[0],
            "weighted_kappa": self.weighted_kappa,
            "weighted_kappa_95": self.intervals[1],
            "repeatability": self.repeatability,
            "disagreements": [
                {
                    "line": one.row.line,
                    "id": one.row.id,
                    "person": names[one.row.label],
                    "judge": [None if label is None else names[label] for label in one.labels],
                    "criterion": one.row.group.rubrics[0].criterion,
                    "response": one.row.group.texts()[0],
                }
                for one in self.disagreements
            ],
        }


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Comparisons by scale, what the judge failed to decide by kind, and what of the file was not read."""

    comparisons: list[Comparison]
    failures: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "comparisons": [comparison.json() for comparison in self.comparisons],
            "failures": dict(self.failures),
            "faults": self.faults,
        }


async def agree_file(source: Path, runs: int, settings: Settings, console: Console) -> AgreementReport:
    """Have the judge label what people have labelled, as the service would: content-free responses get 0.

    Args:
        source: A CSV file, as `read_labels` takes it.
        runs: How often each question is asked; more than once, its cache is left out.
        settings: Name the judge.
        console: Where the progress is shown.

    Raises:
        FileError: The file cannot be read, or has no row that can be.
    """
    labels = read_labels(source)
    if not labels.rows:
        raise FileError("; ".join([f"{source} has no row to judge", *labels.faults[:3]]))
    options = Options(judging="all", cache="use" if runs == 1 else "off")
    groups = [row.group for row in labels.rows]
    failures: Counter[str] = Counter()
    messages: dict[str, str] = {}
    said: list[list[int | None]] = []
    async with running_engine(settings) as engine:
        for _ in range(runs):
            answers = await score_groups(engine.scorer, groups, options, console)
            verdicts = [answer["responses"][0]["rubrics"][0] for answer in answers]
            for verdict in verdicts:
                if error := verdict.get("error"):
                    failures[error["kind"]] += 1
                    messages.setdefault(error["kind"], error["message"])
            said.append([_label(row, v) for row, v in zip(labels.rows, verdicts, strict=True)])
    judged = [Judged(row, given) for row, given in zip(labels.rows, zip(*said, strict=True), strict=True)]
    comparisons = [
        Comparison(scale, rows)
        for scale in NAMES
        if (rows := [one for one in judged if one.row.scale == scale])
    ]
    return AgreementReport(comparisons, failures, messages, labels.faults, labels.unread)


def _label(row: Labelled, verdict: dict[str, Any]) -> int | None:
    """The judge's word on the row's scale."""
    score: float | None = verdict["score"]
    if score is None:
        return None
    if row.scale == "pass or fail":
        return int(score >= row.group.rubrics[0].pass_at)
    return round(2 * score)
