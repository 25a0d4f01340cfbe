"""Expected verdicts beside the rubrics that they are about: the file of `rubricate test`.

A group as in `POST /v1/score`, whose responses may say what is expected of them:

    {"text": "…", "expect": {"words": "pass", "tone": 0.5, "outcome": 1, "reward": 0.5}}

Keys are ids of rubrics and the numbers of a response; values are those of `Expected`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, Tag, model_validator

from rubricate_clients.faults import PLAIN, STRUCTURED, Members, ids_of, plain_or
from rubricate_clients.wire import Group, Response, Rubric

Result = Literal["holds", "mismatch", "undecided", "not_run"]
Number = Literal["outcome", "quality", "reward"]
NUMBERS: tuple[str, ...] = get_args(Number)

Word = Literal["pass", "fail"]
_EXACT = (0.0, 0.5, 1.0)
_CLOSE = 1e-9
_NO_GROUP = (
    "this is no group, which is an object with a `prompt` and `rubrics`; "
    "`rubricate import` makes groups of rows of data sets"
)


def _expected(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("write pass or fail; YAML takes yes, no, on and off for true and false")  # noqa: TRY004
    if value not in get_args(Word) and not (isinstance(value, int | float) and math.isfinite(value)):
        raise ValueError("what is expected is pass, fail, or a number")
    return value


Expected = Annotated[Word | float, BeforeValidator(_expected)]
"""What is expected: of a rubric `pass`, `fail`, or its score 0, 0.5 or 1; of a number, that number."""


class CaseResponse(Response):
    """A response and what is expected of it."""

    expect: dict[str, Expected] = Field(default_factory=dict)


CaseItem = Annotated[
    Annotated[str, Tag(PLAIN)] | Annotated[CaseResponse, Tag(STRUCTURED)],
    plain_or((dict, CaseResponse), "a response is a string or an object with a `text`"),
]

Samples = Annotated[list[CaseItem], *Members[1:]]
"""Responses that may be missing; their ids are unique nevertheless."""


class CaseGroup(Group):
    """A group some of whose responses say what is expected of them."""

    responses: Annotated[list[CaseItem], *Members]  # type: ignore[assignment]

    @model_validator(mode="before")
    @classmethod
    def _looks_like_one(cls, value: object) -> object:
        """Tell in one line of a row that is something else, rather than in one for each of its fields."""
        if not isinstance(value, cls) and not (isinstance(value, dict) and "rubrics" in value):
            raise ValueError(_NO_GROUP)
        return value

    @model_validator(mode="after")
    def _known(self) -> Self:
        for _, why in wrong_expectations(ids_of(self.rubrics), self.responses):
            raise ValueError(why)
        return self

    def group(self) -> Group:
        """The group as it is scored."""
        responses = [r if isinstance(r, str) else Response(id=r.id, text=r.text) for r in self.responses]
        return Group.model_construct(**{**dict(self), "responses": responses})

    def cases(self) -> Iterator[Case]:
        """What is expected, in the order of the responses."""
        rubrics = dict(zip(ids_of(self.rubrics), self.rubrics, strict=True))
        ids = ids_of(self.responses)
        for position, response in enumerate(self.responses):
            for name, expected in response.expect.items() if isinstance(response, CaseResponse) else ():
                yield Case(position, ids[position], name, expected, rubrics.get(name))


def wrong_expectations(rubrics: list[str], responses: Sequence[CaseItem]) -> Iterator[tuple[int, str]]:
    """What is expected in vain: the position of the response, and why nothing can be like that.

    Args:
        rubrics: Ids of the group's rubrics.
        responses: Its responses.
    """
    for position, (id, response) in enumerate(zip(ids_of(responses), responses, strict=True)):
        for name, expected in response.expect.items() if isinstance(response, CaseResponse) else ():
            if (why := _wrong(name, expected, rubrics)) is not None:
                yield position, f"response {id!r} expects {why}"


def _wrong(name: str, expected: Word | float, rubrics: list[str]) -> str | None:
    if name in rubrics and name in NUMBERS:
        return f"{name!r}, which is a number's name: give that rubric another id"
    if name not in rubrics and name not in NUMBERS:
        return f"{name!r}, which is no rubric of the group; there are {', '.join([*rubrics, *NUMBERS])}"
    if name in rubrics and not isinstance(expected, str) and expected not in _EXACT:
        return f"{expected:g} of {name!r}; a verdict is pass, fail, 0, 0.5 or 1"
    if name in NUMBERS and name != "outcome" and isinstance(expected, str):
        return f"{expected!r} of its {name}, which is a number"
    return None


@dataclass(frozen=True, slots=True)
class Case:
    """One expectation: of a response (its position and id) in its group, about a rubric or a number."""

    position: int
    response: str
    name: str
    expected: Word | float
    rubric: Rubric | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an expectation, and the observation in words."""

    result: Result
    observed: str


def compare(case: Case, scored: dict[str, Any]) -> Outcome:
    """What comes of an expectation, given the scored response on the wire.

    Args:
        case: The expectation.
        scored: The response in the answer for its group.
    """
    if case.rubric is None:
        return _compare_number(case, scored)
    verdict = next(verdict for verdict in scored["rubrics"] if verdict["id"] == case.name)
    if verdict["status"] != "scored":
        return _open([verdict])
    value = _value(case.rubric, verdict)
    if isinstance(case.expected, str):
        met = (value >= case.rubric.pass_at) is (case.expected == "pass")
    else:
        met = abs(value - case.expected) < _CLOSE
    return Outcome("holds" if met else "mismatch", f"{value:g}{_why(verdict)}")


def _value(rubric: Rubric, verdict: dict[str, Any]) -> float:
    """The score, by the judge's label where there is one: an expected score hovers around it."""
    score: float = verdict["score"]
    if verdict.get("label") is None:
        return score
    label: float = verdict["label"] / 2
    return 1 - label if rubric.is_negative else label


def _compare_number(case: Case, scored: dict[str, Any]) -> Outcome:
    value: float | None = scored[case.name]
    if value is None:
        undecided = [verdict for verdict in scored["rubrics"] if verdict["status"] != "scored"]
        return _open(undecided) if undecided else Outcome("mismatch", "null")
    if isinstance(case.expected, str):
        met = (value == 1) is (case.expected == "pass")
    else:
        met = abs(value - case.expected) < _CLOSE
    return Outcome("holds" if met else "mismatch", f"{value:g}")


def _open(verdicts: list[dict[str, Any]]) -> Outcome:
    """Why nothing was observed. What no judge was there for, or options left out, was not run."""
    failed = [verdict["error"] for verdict in verdicts if verdict["status"] == "failed"]
    for error in failed:
        if error["kind"] != "no_judge":
            return Outcome("undecided", f"{error['kind']}: {error['message']} ({error['path']})")
    return Outcome("not_run", "no judge" if failed else str(verdicts[0]["reason"]))


def _why(verdict: dict[str, Any]) -> str:
    said = [verdict[name] for name in ("reason", "observed") if verdict.get(name)]
    if verdict.get("required"):
        said.append(f"required: {verdict['required']}")
    if (variant := verdict.get("variant")) is not None:
        said.append(f"read as {variant}")
    return f" ({', '.join(said)})" if said else ""
