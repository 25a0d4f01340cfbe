"""A group as it is linted: what of it could be built, and what is wrong with the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from rubricate_checkers import Check
from rubricate_clients.wire import Prompt, ResponseItem, Rubric
from rubricate_service.lint.demand import Contains, Demand, Ends, OneOf, ParagraphStart, Phrased, Starts
from rubricate_service.lint.work import Work
from rubricate_service.normalise import strip_thinking
from rubricate_service.worker import CheckSpec, Outcome

D = TypeVar("D", bound=Demand)


class LintGroup(BaseModel):
    """A group to be linted: as in `POST /v1/score`, but responses are optional.

    Rubrics are read one by one: what is wrong with one is a finding and costs no other.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str | None = None
    prompt: Prompt
    reference: str | None = None
    rubrics: Annotated[list[Any], Field(min_length=1)]
    responses: list[ResponseItem] = []

    def texts(self) -> list[str]:
        """Text of each response, without thinking."""
        return [strip_thinking(r if isinstance(r, str) else r.text).text for r in self.responses]


@dataclass(frozen=True, slots=True)
class Way:
    """A phrase that a response has, and whether it is bounded there: not a part of a longer word."""

    phrase: str
    times: int
    cased: bool
    left: bool
    right: bool

    @property
    def lower(self) -> str:
        """The phrase in lower case."""
        return self.phrase.lower()


@dataclass(frozen=True, eq=False)
class BuiltRubric:
    """A rubric of a group. `check` is None for criteria, `demands` where nobody says what it demands."""

    path: str
    rubric: Rubric
    check: Check | None = None
    spec: CheckSpec | None = None
    demands: tuple[Demand, ...] | None = None


@dataclass(frozen=True, eq=False)
class BuiltGroup:
    """A group, as far as it could be built.

    Attributes:
        path: Where it is: `groups[0]`.
        prompt: What text checks see of the prompt.
        turns: All of it, as the judge sees it.
        rubrics: Those that could be built.
        is_whole: Whether these are all.
        responses: Samples without their thinking.
        outcomes: What the check of each rubric says of texts, filled in once they were asked.
        work: What may still be done for it; going through its demands and phrases is counted.
    """

    path: str
    prompt: str
    turns: tuple[tuple[str, str], ...]
    reference: str | None
    rubrics: tuple[BuiltRubric, ...]
    is_whole: bool
    responses: tuple[str, ...] = ()
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    work: Work = field(default_factory=Work)

    @cached_property
    def checks(self) -> list[BuiltRubric]:
        """Rubrics that a check decides."""
        return [rubric for rubric in self.rubrics if rubric.check is not None]

    @cached_property
    def criteria(self) -> list[tuple[BuiltRubric, str]]:
        """Rubrics that the judge decides, with their words."""
        return [(r, r.rubric.criterion) for r in self.rubrics if r.rubric.criterion is not None]

    @cached_property
    def demanding(self) -> list[BuiltRubric]:
        """Checks that must hold; what a pitfall demands must not."""
        return [rubric for rubric in self.checks if not rubric.rubric.is_negative]

    def demands(self, kind: type[D]) -> Iterator[tuple[BuiltRubric, D]]:
        """Every demand of a kind, beside the rubric that makes it."""
        for rubric in self.demanding:
            for demand in rubric.demands or ():
                self.work.step()
                if isinstance(demand, kind):
                    yield rubric, demand

    @property
    def phrases(self) -> Iterator[tuple[BuiltRubric, list[Way]]]:
        """For each demand for words, the ways to meet it: one of these phrases is in every response."""
        for rubric, ways in self._phrases:
            for way in ways:
                self.work.read(way.phrase)
            yield rubric, ways

    @cached_property
    def _phrases(self) -> list[tuple[BuiltRubric, list[Way]]]:
        return [
            (rubric, ways)
            for rubric in self.demanding
            for demand in rubric.demands or ()
            if isinstance(demand, Phrased) and (ways := _ways(demand))
        ]

    def all_said(self, rubric: BuiltRubric) -> Iterable[Outcome]:
        """What a rubric's check found in all texts that it was asked about."""
        return self.outcomes.get(rubric.path, {}).values()

    def say(self, rubric: BuiltRubric, text: str) -> Outcome | None:
        """What a rubric's check found in a text that was asked about."""
        return self.outcomes.get(rubric.path, {}).get(text)


def _ways(demand: Phrased) -> list[Way]:
    if isinstance(demand, OneOf):
        return [Way(phrase, 1, cased=True, left=False, right=False) for phrase in demand.phrases]
    if isinstance(demand, Contains):
        return [Way(demand.phrase, demand.times, demand.cased, demand.word, demand.word)]
    if isinstance(demand, Starts):
        return [Way(demand.phrase, 1, demand.cased, left=True, right=demand.word)]
    if isinstance(demand, ParagraphStart):
        way = Way(demand.word, 1, demand.cased, left=True, right=not demand.cased)
        return [way] if demand.word.isalnum() else []
    assert isinstance(demand, Ends)  # noqa: S101 - nothing else is phrased
    return [Way(demand.phrase, 1, demand.cased, left=False, right=True)]
