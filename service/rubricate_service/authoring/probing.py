"""`rubricate probe`: what answers that deserve nothing would earn, and which rubrics pay for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field
from rich.console import Console

from rubricate_clients.faults import ids_of
from rubricate_clients.wire import Group, Options, Response, Rubric
from rubricate_service.app import running_engine
from rubricate_service.authoring.expectations import CaseGroup, Samples
from rubricate_service.authoring.files import FileError, parsed, read_rows
from rubricate_service.authoring.probes import probes_of
from rubricate_service.authoring.scoring import score_groups
from rubricate_service.authoring.shown import name_of
from rubricate_service.settings import Settings


class ProbeGroup(CaseGroup):
    """A group whose responses, if it has any, are not looked at."""

    responses: Samples = Field(default_factory=list)

    def with_responses(self, texts: dict[str, str]) -> Group:
        """The group with other responses, texts by their ids."""
        responses = [Response(id=name, text=text) for name, text in texts.items()]
        return Group.model_construct(**{**dict(self), "responses": responses})


@dataclass(frozen=True, slots=True)
class Probed:
    """A group and the scored responses to its probes.

    Attributes:
        place: Where it is in the file.
        id: The group's id.
        rubrics: Its rubrics by their ids.
        responses: A scored response for each probe, on the wire; its id is the probe's name.
    """

    place: str
    id: str
    rubrics: dict[str, Rubric]
    responses: list[dict[str, Any]]

    @property
    def pays(self) -> bool | None:
        """Whether a probe earns something; None where none does and what one earns could not be decided."""
        if self.worst > 0:
            return True
        return None if any(response["reward"] is None for response in self.responses) else False

    @property
    def worst(self) -> float:
        """The most that a probe earns; below 0 when none earns anything that is decided."""
        return max((r["reward"] for r in self.responses if r["reward"] is not None), default=-1.0)


@dataclass
class Payments:
    """How often something pays for probes, of how many decided."""

    paid: int = 0
    decided: int = 0
    undecided: int = 0
    earned: float = 0.0
    by: dict[str, None] = field(default_factory=dict)

    def add(self, value: float | None, name: str) -> None:
        """Count one score or reward, None where it is undecided; `name` says what it was paid for."""
        if value is None:
            self.undecided += 1
            return
        self.decided += 1
        self.earned += value
        if value > 0:
            self.paid += 1
            self.by[name] = None

    @property
    def share(self) -> float | None:
        """The share that was paid for, in [0, 1]; None when nothing was decided."""
        return self.paid / self.decided if self.decided else None

    def json(self) -> dict[str, Any]:
        """As JSON; `mean` is the mean score or reward of what was decided."""
        return {
            "paid": self.paid,
            "decided": self.decided,
            "undecided": self.undecided,
            "mean": self.earned / self.decided if self.decided else None,
        }


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The probed groups of a file, and a line for each fault of its rows."""

    groups: list[Probed]
    faults: list[str]

    def by_probe(self) -> dict[str, Payments]:
        """Rewards by probe."""
        found: dict[str, Payments] = {}
        for group in self.groups:
            for response in group.responses:
                found.setdefault(response["id"], Payments()).add(response["reward"], group.id)
        return found

    def by_rubric(self) -> dict[tuple[str, bool], Payments]:
        """Scores by what a rubric is about and whether it is a pitfall, the largest share paid for first.

        Pitfalls come last.
        A pitfall pays for whatever lacks it, so that it is no news that it does.
        """
        found: dict[tuple[str, bool], Payments] = {}
        for group in self.groups:
            for response in group.responses:
                for verdict in response["rubrics"]:
                    rubric = group.rubrics[verdict["id"]]
                    payments = found.setdefault((name_of(rubric), rubric.is_negative), Payments())
                    payments.add(verdict["score"], response["id"])
        worst = sorted(found.items(), key=lambda item: (item[0][1], -(item[1].share or 0), -item[1].paid))
        return dict(worst)

    def failures(self) -> Counter[str]:
        """Verdicts that could not be decided, by the kind of error."""
        responses = [response for group in self.groups for response in group.responses]
        verdicts = [verdict for response in responses for verdict in response["rubrics"]]
        return Counter(verdict["error"]["kind"] for verdict in verdicts if "error" in verdict)

    def worst_first(self) -> Iterator[Probed]:
        """The groups in which a probe earns something, the best paid first."""
        paying = [group for group in self.groups if group.pays]
        return iter(sorted(paying, key=lambda group: -group.worst))

    @property
    def undecided(self) -> int:
        """Groups of which it is not known whether they pay."""
        return sum(group.pays is None for group in self.groups)

    @property
    def exit_code(self) -> int:
        """0 when no group pays, 1 when one does or a row is bad, 3 when none does and of some it is open."""
        if self.faults or any(group.pays for group in self.groups):
            return 1
        return 3 if self.undecided else 0

    def json(self) -> dict[str, Any]:
        """The report with nothing left out."""
        return {
            "probes": [{"probe": name, **paid.json()} for name, paid in self.by_probe().items()],
            "rubrics": [
                {"rubric": name, "negative": negative, **paid.json(), "probes": list(paid.by)}
                for (name, negative), paid in self.by_rubric().items()
            ],
            "groups": [
                {"place": g.place, "id": g.id, "pays": g.pays, "responses": g.responses} for g in self.groups
            ],
            "faults": self.faults,
        }


async def probe_file(source: Path, options: Options, settings: Settings, console: Console) -> ProbeReport:
    """Score the probes of every group of a file.

    Unless the options say otherwise every criterion is judged, also where a hard rubric does not hold.

    Raises:
        FileError: The file cannot be read, or has no group that can be.
    """
    rows, faults = parsed(read_rows(source), ProbeGroup)
    if not rows:
        raise FileError("; ".join([f"{source} has no group to probe", *faults[:3]]))
    if options.judging is None:
        options = options.model_copy(update={"judging": "all"})
    groups = [group.with_responses(probes_of(group)) for _, group in rows]
    async with running_engine(settings) as engine:
        answers = await score_groups(engine.scorer, groups, options, console)
    return ProbeReport(
        [
            Probed(row.place, answer["id"], _by_id(group.rubrics), answer["responses"])
            for (row, group), answer in zip(rows, answers, strict=True)
        ],
        faults,
    )


def _by_id(rubrics: Sequence[Rubric]) -> dict[str, Rubric]:
    return dict(zip(ids_of(rubrics), rubrics, strict=True))
