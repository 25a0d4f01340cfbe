"""What a report says of rubrics: how often they pass, whether they tell responses apart, which are alike."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rubricate_clients.wire import Rubric, Verdict
from rubricate_service.authoring.scored import ReportGroup
from rubricate_service.authoring.shown import name_of
from rubricate_service.lint.rules.responses import phi

FEWEST = 3
"""Decided verdicts below which nothing is said about all of them."""
FEWEST_PAIRS = 8
SAME = 0.95
LOW_MASS = 0.8
FAR = 0.25
"""How far an expected score may lie from the label's before the judge is in two minds."""
_CLOSE = 1e-9


class Key(NamedTuple):
    """What a rubric is about: rubrics of many groups with the same are told of together."""

    name: str
    kind: str
    negative: bool
    kwargs: str = ""
    """A check's, as JSON: with others it asks for something else."""

    @property
    def told(self) -> str:
        """It in words."""
        return f"{self.name} {self.kwargs}" if self.kwargs else self.name


def key_of(rubric: Rubric | None, id: str) -> Key:
    """The key of a rubric; of one that nobody knows more of than its id, that."""
    if rubric is None:
        return Key(id, "rubric", False)
    given = {name: value for name, value in (rubric.kwargs or {}).items() if value is not None}
    kwargs = json.dumps(given, ensure_ascii=False, sort_keys=True) if given else ""
    return Key(name_of(rubric), "check" if rubric.check else "criterion", rubric.is_negative, kwargs)


@dataclass(slots=True)
class Figures:
    """A rubric's verdicts, in one group or over all that have it.

    `pairs` are its scores beside the means of the other rubrics' scores on the same responses, both less
    their group's mean.
    """

    scores: list[float] = field(default_factory=list)
    failed: int = 0
    skipped: int = 0
    masses: list[float] = field(default_factory=list)
    pairs: list[tuple[float, float]] = field(default_factory=list)
    groups: int = 0
    separating: int = 0

    def add(self, other: Figures) -> None:
        """Take in the verdicts of one group."""
        self.scores += other.scores
        self.failed += other.failed
        self.skipped += other.skipped
        self.masses += other.masses
        self.pairs += other.pairs
        self.groups += 1
        self.separating += len(set(other.scores)) > 1

    @property
    def pass_rate(self) -> float | None:
        """Share of the decided verdicts that score 1, in [0, 1]."""
        return self.scores.count(1.0) / len(self.scores) if self.scores else None

    @property
    def half_rate(self) -> float | None:
        """Share of the decided verdicts that score neither 0 nor 1."""
        between = sum(0 < score < 1 for score in self.scores)
        return between / len(self.scores) if self.scores else None

    @property
    def discrimination(self) -> float | None:
        """Correlation with the rest: Pearson's r, which for pass or fail is the point-biserial one.

        It lies in [-1, 1]; None with too few verdicts or where either side does not vary. Group means are
        taken off, since what moves training is the difference between responses to one prompt.
        """
        if len(self.pairs) < FEWEST:
            return None
        one, rest = np.array(self.pairs).T
        spread = float(np.sqrt((one @ one) * (rest @ rest)))
        return float(one @ rest) / spread if spread > _CLOSE else None

    @property
    def mass(self) -> float | None:
        """Mean probability that the judge put on its labels."""
        return sum(self.masses) / len(self.masses) if self.masses else None

    @property
    def flags(self) -> list[str]:
        """What is wrong with it."""
        found = []
        if len(self.scores) >= max(FEWEST, self.failed):
            if set(self.scores) == {1.0}:
                found.append("passes everything")
            if set(self.scores) == {0.0}:
                found.append("passes nothing")
        # beyond two standard errors of a correlation that is 0
        if (r := self.discrimination) is not None and r < -2 / math.sqrt(len(self.pairs)):
            found.append("against the rest")
        if self.mass is not None and self.mass < LOW_MASS:
            found.append("low label mass")
        if self.failed:
            found.append("undecided verdicts")
        return found


@dataclass(frozen=True, slots=True)
class Twins:
    """Two rubrics that say the same: φ of their verdicts on `count` responses."""

    one: Key
    other: Key
    phi: float
    count: int


@dataclass(frozen=True, slots=True)
class Doubt:
    """A judgement that the judge itself was not sure of."""

    group: str
    response: str
    key: Key
    verdict: Verdict
    why: str


def group_figures(group: ReportGroup) -> list[Figures]:
    """Figures of each rubric of one group."""
    scores = np.array(
        [[math.nan if v.score is None else v.score for v in r.rubrics] for r in group.responses], dtype=float
    )
    found = []
    for column in range(scores.shape[1]):
        own, others = scores[:, column], np.delete(scores, column, axis=1)
        figures = Figures(scores=own[~np.isnan(own)].tolist())
        decided = ~np.isnan(others)
        known = ~np.isnan(own) & decided.any(axis=1)
        if known.any():
            rest = np.nansum(others[known], axis=1) / decided[known].sum(axis=1)
            mine = own[known]
            figures.pairs = list(
                zip((mine - mine.mean()).tolist(), (rest - rest.mean()).tolist(), strict=True)
            )
        for response in group.responses:
            verdict = response.rubrics[column]
            figures.failed += verdict.status == "failed"
            figures.skipped += verdict.status == "skipped"
            if verdict.label_mass is not None:
                figures.masses.append(verdict.label_mass)
        found.append(figures)
    return found


def twins(groups: Sequence[ReportGroup]) -> list[Twins]:
    """Pairs of rubrics whose verdicts correlate above 0.95 (φ) on at least 8 responses of all groups."""
    verdicts: dict[tuple[Key, Key], tuple[list[bool | None], list[bool | None]]] = defaultdict(
        lambda: ([], [])
    )
    for group in groups:
        keys = [key_of(rubric, id) for rubric, id in zip(group.rubrics, group.rubric_ids, strict=True)]
        pairs = [(i, j, *sorted((i, j), key=lambda n: keys[n])) for i, j in combinations(range(len(keys)), 2)]
        for response in group.responses:
            scores = [verdict.score for verdict in response.rubrics]
            for i, j, first, second in pairs:
                if scores[i] is not None and scores[j] is not None:
                    one, other = verdicts[keys[first], keys[second]]
                    one.append(scores[first] == 1)
                    other.append(scores[second] == 1)
    found = [
        Twins(keys[0], keys[1], share, len(one))
        for keys, (one, other) in verdicts.items()
        if len(one) >= FEWEST_PAIRS and (share := phi(one, other)) is not None and share > SAME
    ]
    return sorted(found, key=lambda pair: -pair.count)


def doubts(groups: Sequence[ReportGroup]) -> Iterator[Doubt]:
    """Judgements with little probability on the labels, or an expected score far from the label's."""
    for group in groups:
        keys = [key_of(rubric, id) for rubric, id in zip(group.rubrics, group.rubric_ids, strict=True)]
        for response in group.responses:
            for key, verdict in zip(keys, response.rubrics, strict=True):
                if (why := _doubt(verdict)) is not None:
                    yield Doubt(group.id, response.id, key, verdict, why)


def _doubt(verdict: Verdict) -> str | None:
    if verdict.label is None:
        return None
    if verdict.label_mass is not None and verdict.label_mass < LOW_MASS:
        return f"only {verdict.label_mass:.2f} of the probability is on labels"
    if verdict.expected is not None and abs(verdict.expected - verdict.label / 2) > FAR:
        return f"said {verdict.label / 2:g}, expected score {verdict.expected:.2f}"
    return None
