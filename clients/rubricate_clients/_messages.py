"""Requests as bytes and answers as models: what both clients say and how they read what comes back."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, RootModel, ValidationError

from rubricate_clients.errors import AnswerMismatch, InvalidRequest
from rubricate_clients.faults import ErrorDetail, details_of, ids_of, path_of
from rubricate_clients.wire import (
    AdvantageAnswer,
    AdvantageGroup,
    AdvantageRequest,
    Group,
    Options,
    ScoreAnswer,
    ScoredGroup,
    ScoreRequest,
)

SERVICE_SHARE = 0.9
"""Share of `timeout_s` that the service may use; the rest is for the way there and back."""

GroupLike = Group | Mapping[str, Any]
OptionsLike = Options | Mapping[str, Any]
AdvantageGroupLike = AdvantageGroup | ScoredGroup | Mapping[str, Any]
Model = TypeVar("Model", bound=BaseModel)


def call_headers(
    request_id: str | None = None,
    run: str | None = None,
    step: int | str | None = None,
    idempotency_key: str | None = None,
) -> dict[str, str]:
    """Headers of a POST; a key is drawn where none is given, so that a retry is known as one.

    Raises:
        InvalidRequest: A value that no header can carry.
    """
    key = uuid.uuid4().hex if idempotency_key is None else idempotency_key
    given = {"Idempotency-Key": key, "X-Request-Id": request_id, "X-Run": run, "X-Step": step}
    headers = {name: str(value) for name, value in given.items() if value is not None}
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise InvalidRequest(f"{name}: a header carries printable ASCII, and {value!r} is not")
    return headers


def score_request(
    groups: Iterable[GroupLike], options: OptionsLike | None, timeout_s: float
) -> tuple[ScoreRequest, bytes]:
    """The request and its bytes; without a `deadline_s` the service is given its share of `timeout_s`.

    Raises:
        InvalidRequest: With the path of every fault.
    """
    request = _validated(
        ScoreRequest, {"groups": list(groups), "options": {} if options is None else options}
    )
    if request.options.deadline_s is None:
        deadline = {"deadline_s": SERVICE_SHARE * timeout_s}
        request = request.model_copy(update={"options": request.options.model_copy(update=deadline)})
    return request, _encoded(request)


def advantage_request(
    groups: Iterable[AdvantageGroupLike], method: str, parameters: Mapping[str, Any]
) -> tuple[AdvantageRequest, bytes]:
    """The request and its bytes, from the groups of a score answer or from numbers of one's own.

    Raises:
        InvalidRequest: With the path of every fault.
    """
    numbers = [_numbers(group) if isinstance(group, ScoredGroup) else group for group in groups]
    request = _validated(AdvantageRequest, {"groups": numbers, "method": method, **parameters})
    return request, _encoded(request)


def _numbers(group: ScoredGroup) -> dict[str, Any]:
    fields = {"id", "outcome", "quality", "eligible", "valid", "reward"}
    return {"id": group.id, "responses": [r.model_dump(include=fields) for r in group.responses]}


def _validated(model: type[Model], value: dict[str, Any]) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = details_of(error)
        raise InvalidRequest(
            f"the request was not sent: {len(details)} fault(s) in it",
            type="invalid_request",
            details=details,
        ) from error
    except RecursionError as error:
        raise InvalidRequest("the request was not sent: a value in it is nested too deeply") from error


def _encoded(request: BaseModel) -> bytes:
    try:
        return request.model_dump_json(exclude_unset=True).encode()
    except ValueError as error:  # pydantic's serialization error is one
        details = [
            ErrorDetail(path=path_of(loc), message=why)
            for loc, why in _not_json(request.model_dump(exclude_unset=True))
        ]
        message = f"the request was not sent, since it cannot be written as JSON: {error}"
        raise InvalidRequest(message, type="invalid_request", details=details) from error


def _not_json(value: object, loc: tuple[int | str, ...] = ()) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Places of values that JSON does not have, and why."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _not_json(item, (*loc, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _not_json(item, (*loc, index))
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            yield loc, f"a lone surrogate at character {error.start} is no text"
    elif not isinstance(value, int | float | None):
        yield loc, f"a {type(value).__name__} is not a JSON value"


def read(model: type[Model], body: bytes) -> Model:
    """The body as a model.

    Raises:
        AnswerMismatch: It is not one.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        details = details_of(error)[:5]
        message = f"the answer cannot be read as {model.__name__}; are client and service of one version?"
        raise AnswerMismatch(message, 200, details=details) from error


def read_scores(body: bytes, request: ScoreRequest) -> ScoreAnswer:
    """The answer, in the order of the request.

    Raises:
        AnswerMismatch: Ids are missing, doubled, or were not asked for, at any of the three levels.
    """
    answer = read(ScoreAnswer, body)
    answer.groups = _in_order(answer.groups, request.groups, "groups")
    for g, (group, asked) in enumerate(zip(answer.groups, request.groups, strict=True)):
        group.responses = _in_order(group.responses, asked.responses, f"groups[{g}].responses")
        for r, response in enumerate(group.responses):
            path = f"groups[{g}].responses[{r}].rubrics"
            response.rubrics = _in_order(response.rubrics, asked.rubrics, path)
    return answer


def read_advantages(body: bytes, request: AdvantageRequest) -> AdvantageAnswer:
    """The answer, in the order of the request.

    Raises:
        AnswerMismatch: Ids of groups differ, or a group has another number of advantages than responses.
    """
    answer = read(AdvantageAnswer, body)
    answer.groups = _in_order(answer.groups, request.groups, "groups")
    for g, (group, asked) in enumerate(zip(answer.groups, request.groups, strict=True)):
        for name in ("advantages", "a_out", "a_proc"):
            values = getattr(group, name)
            if values is not None and len(values) != len(asked.responses):
                raise AnswerMismatch(
                    f"groups[{g}].{name} has {len(values)} values for {len(asked.responses)} responses", 200
                )
    return answer


def check_path(id: str) -> str:
    """Path of one check of the catalogue; the id may hold any character."""
    return "/v1/checks/" + quote(id, safe=":@")


class Checks(BaseModel):
    """Answer of `GET /v1/checks`."""

    checks: list[dict[str, Any]]


class Check(RootModel[dict[str, Any]]):
    """Answer of `GET /v1/checks/{id}`."""


class _HasId(Protocol):
    id: str


Item = TypeVar("Item", bound=_HasId)


def _in_order(items: Sequence[Item], asked: Sequence[Any], path: str) -> list[Item]:
    """The items in the order in which their ids were asked for."""
    ids, by_id = ids_of(asked), {item.id: item for item in items}
    if len(items) == len(ids) and by_id.keys() == set(ids):
        return [by_id[id] for id in ids]
    times = Counter(item.id for item in items)
    faults = {
        "missing": [id for id in ids if id not in times],
        "not asked for": sorted(times.keys() - set(ids)),
        "more than once": [id for id, n in times.items() if n > 1],
    }
    told = "; ".join(f"{what}: {', '.join(map(repr, which[:5]))}" for what, which in faults.items() if which)
    raise AnswerMismatch(f"the ids of the answer's {path} are not those of the request ({told})", 200)
