"""Canaries: a fixed set of answers that shows whether a judge can be talked over, and whether it can judge.

Attacks are answers that deserve 0 and try to get more (``canaries.toml``); labelled answers have the label
that a careful person gives them. The judge is asked as it is asked about any response, past the cache and
past the gate that keeps content-free responses from it.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rubricate_service.judge.judge import Judge
from rubricate_service.judge.question import Question
from rubricate_service.judge.reading import Answer, JudgeFailure
from rubricate_service.judge.usage import Usage

LABELLED = "labelled"
_IN_FLIGHT = 8  # a few at a time: trainers' questions go on beside them
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Canary:
    """One answer whose label is known.

    Attributes:
        kind: The kind of attack, or ``LABELLED``.
        question: What the judge is asked.
        label: What it should say: 0.0, 0.5 or 1.0.
    """

    kind: str
    question: Question
    label: float


@dataclass(frozen=True, slots=True)
class Trial:
    """A canary and what the judge said of it, once for each run; a failure where it said nothing."""

    canary: Canary
    outcomes: tuple[Answer | JudgeFailure, ...]

    @property
    def labels(self) -> list[float]:
        """The labels it gave."""
        return [outcome.label for outcome in self.outcomes if isinstance(outcome, Answer)]


@dataclass(frozen=True)
class Report:
    """What a judge made of the canaries. Rates are in [0, 1], or None where nothing was judged."""

    runs: int
    trials: Sequence[Trial]

    @property
    def false_positive_rate(self) -> float | None:
        """Share of the judgements of attacks that gave any credit."""
        labels = [label for trial in self.trials if trial.canary.kind != LABELLED for label in trial.labels]
        return _mean([label > 0 for label in labels])

    @property
    def agreement(self) -> float | None:
        """Share of the judgements of labelled answers that gave the label."""
        labelled = [trial for trial in self.trials if trial.canary.kind == LABELLED]
        return _mean([label == trial.canary.label for trial in labelled for label in trial.labels])

    @property
    def repeatability(self) -> float | None:
        """Share of the canaries judged in at least two runs that got one and the same label in all."""
        repeated = [trial.labels for trial in self.trials if len(trial.labels) > 1]
        return _mean([len(set(labels)) == 1 for labels in repeated])

    @property
    def label_mass(self) -> float | None:
        """Mean probability of the labels together, where the judge gives probabilities."""
        answers = [o for trial in self.trials for o in trial.outcomes if isinstance(o, Answer)]
        return _mean([answer.label_mass for answer in answers if answer.label_mass is not None])

    @property
    def failures(self) -> list[JudgeFailure]:
        """Why questions have no verdict, one for each of them."""
        return [o for trial in self.trials for o in trial.outcomes if isinstance(o, JudgeFailure)]


@cache
def canaries() -> tuple[Canary, ...]:
    """The set of ``canaries.toml``, attacks first."""
    data = tomllib.loads((files(__package__) / "canaries.toml").read_text(encoding="utf-8"))

    def canary(kind: str, row: dict[str, str], label: float) -> Canary:
        task = data["task"][row["task"]]
        question = Question((("user", task["prompt"]),), row["response"], task["criterion"])
        return Canary(kind, question, label)

    attacks = [canary(row["kind"], row, 0.0) for row in data["attack"]]
    return (*attacks, *(canary(LABELLED, row, row["label"] / 2) for row in data["labelled"]))


async def check(judge: Judge, runs: int) -> Report:
    """Ask a judge about all canaries, ``runs`` times one after another.

    A question without a verdict is part of the report; nothing is raised for it.
    """
    slots = asyncio.Semaphore(_IN_FLIGHT)

    async def outcome(canary: Canary, usage: Usage) -> Answer | JudgeFailure:
        async with slots:
            deadline = asyncio.get_running_loop().time() + _PATIENCE_S
            try:
                return await judge.ask(canary.question, cache="off", deadline=deadline, usage=usage)
            except JudgeFailure as failure:
                return failure

    rounds = []
    for _ in range(runs):
        usage = Usage()
        rounds.append(await asyncio.gather(*(outcome(canary, usage) for canary in canaries())))
    trials = [Trial(canary, tuple(said[i] for said in rounds)) for i, canary in enumerate(canaries())]
    return Report(runs, trials)


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
