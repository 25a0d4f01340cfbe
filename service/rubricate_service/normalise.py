"""From the request to a plan: thinking stripped, checks built, identical responses found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import orjson

from rubricate_checkers import BadKwargs, Check, CheckerError
from rubricate_clients import wire
from rubricate_clients.faults import ids_of
from rubricate_service.verdict import Verdict, failed
from rubricate_service.worker import CheckSpec, built

_OPEN, _CLOSE = "<think>", "</think>"


class Answer(NamedTuple):
    """A response without its thinking; it starts at code point `offset` of what was sent."""

    text: str
    offset: int

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but white space."""
        return not self.text or self.text.isspace()


def strip_thinking(response: str) -> Answer:
    """What follows the last `</think>`, blanks stripped; nothing when a `<think>` stays open.

    A response without a think tag is left as it is.
    """
    end = response.rfind(_CLOSE)
    if end < 0 and _OPEN not in response:
        return Answer(response, 0)
    start = end + len(_CLOSE) if end >= 0 else 0
    if _OPEN in response[start:]:
        return Answer("", len(response))
    text = response[start:]
    return Answer(text.strip(), start + len(text) - len(text.lstrip()))


def prompt_text(prompt: str | list[wire.Message]) -> str:
    """What text checks see of a prompt: the string, or the last user message's text."""
    if isinstance(prompt, str):
        return prompt
    users = [message.content for message in prompt if message.role == "user"]
    return users[-1] if users else prompt[-1].content


@dataclass(frozen=True, slots=True)
class RubricPlan:
    """A rubric, ready: its check is built, or `fault` says why that could not be."""

    id: str
    path: str
    rubric: wire.Rubric
    check: Check | None = None
    spec: CheckSpec | None = None
    fault: Verdict | None = None

    @property
    def is_judged(self) -> bool:
        """Whether the judge decides this rubric."""
        return self.rubric.criterion is not None


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """A group, ready to be scored: `answers` are distinct, `members` says which answer each response is."""

    id: str
    prompt: str
    turns: tuple[tuple[str, str], ...]
    reference: str | None
    rubrics: tuple[RubricPlan, ...]
    response_ids: tuple[str, ...]
    answers: tuple[Answer, ...]
    members: tuple[int, ...]


def _plan_rubric(id: str, path: str, rubric: wire.Rubric) -> RubricPlan:
    if rubric.check is None:
        return RubricPlan(id, path, rubric)
    kwargs = {name: value for name, value in (rubric.kwargs or {}).items() if value is not None}
    try:
        # sorted, so that equal kwargs are one check however the dataset ordered them
        spec = CheckSpec(rubric.check, orjson.dumps(kwargs, option=orjson.OPT_SORT_KEYS))
        check = built(spec)
    except CheckerError as error:
        where = f"{path}.{error.path}" if error.path else path
        return RubricPlan(id, path, rubric, fault=failed(error.kind, error.message, where))
    except orjson.JSONEncodeError:  # integers beyond 64 bits
        message = "a number in the kwargs does not fit in 64 bits"
        return RubricPlan(id, path, rubric, fault=failed(BadKwargs.kind, message, f"{path}.kwargs"))
    return RubricPlan(id, path, rubric, check=check, spec=spec)


def plan_groups(request: wire.ScoreRequest) -> list[GroupPlan]:
    """Everything about a request's groups that is known before any verdict."""
    return [plan_group(i, group, request.options.thinking) for i, group in enumerate(request.groups)]


def plan_group(index: int, group: wire.Group, thinking: Literal["strip", "keep"]) -> GroupPlan:
    """One group of a request, at position `index`."""
    prompt = group.prompt
    turns = (("user", prompt),) if isinstance(prompt, str) else tuple((m.role, m.content) for m in prompt)
    positions: dict[Answer, int] = {}
    members = []
    for text in group.texts():
        answer = strip_thinking(text) if thinking == "strip" else Answer(text, 0)
        members.append(positions.setdefault(answer, len(positions)))
    return GroupPlan(
        id=str(index) if group.id is None else group.id,
        prompt=prompt_text(prompt),
        turns=turns,
        reference=group.reference,
        rubrics=tuple(
            _plan_rubric(id, f"groups[{index}].rubrics[{i}]", rubric)
            for i, (id, rubric) in enumerate(zip(ids_of(group.rubrics), group.rubrics, strict=True))
        ),
        response_ids=tuple(ids_of(group.responses)),
        answers=tuple(positions),
        members=tuple(members),
    )
