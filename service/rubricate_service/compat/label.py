"""From a label or a dataset row to a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, Tag, ValidationError

from rubricate_clients.faults import PLAIN, STRUCTURED, JsonObject, details_of, ids_of, plain_or
from rubricate_clients.wire import AdvantageSpec, Options
from rubricate_service.compat.errors import invalid_at, invalid_row
from rubricate_service.compat.settings import GroupSize
from rubricate_service.compat.task import Context, Task
from rubricate_service.errors import InvalidRequest
from rubricate_service.http.limits import check_values
from rubricate_service.http.settings import Limits
from rubricate_service.importers.formats import FORMATS, Format, detect
from rubricate_service.importers.group import (
    Conversation,
    ImportedGroup,
    Item,
    LeftOut,
    conversation,
    make_group,
)
from rubricate_service.importers.native import is_native
from rubricate_service.importers.node import Node, RowFault

_METHODS = ("rdan", "rdan_ngrpo")
_NATIVE = ("prompt", "reference", "rubrics")
_OWN = (*_NATIVE, "group", "size", "options", "id")
_LONGEST_S = 3600.0  # of a deadline: nobody waits longer for scores

Label = Annotated[
    Annotated[str, Tag(PLAIN)] | Annotated[JsonObject, Tag(STRUCTURED)],
    plain_or(dict, "a label is an object with `rubrics`, or such an object written out as JSON"),
]
"""What a trainer keeps with a prompt and sends along with each of its responses."""

_GroupName = Annotated[
    Annotated[str, Tag(PLAIN)] | Annotated[int, Tag(STRUCTURED)],
    plain_or(int, "a group's name is a string or a whole number"),
]


class Terms(BaseModel):
    """What a row says beside its rubrics: its group's name and size, and options of `POST /v1/score`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    group: _GroupName | None = None
    size: GroupSize | None = None
    options: Options = Field(default_factory=Options)


def read_label(label: object, at: str, prompt: Node, context: Context) -> Task:
    """The task of a label: an object, or one written out as JSON.

    Args:
        label: What the trainer sends along with each response.
        at: Its path in the body, for messages.
        prompt: The prompt as the trainer sends it; one in the label goes before it.
        context: What holds where the label does not say.

    Raises:
        InvalidRequest: It is none, or its rubrics cannot be read.
    """
    if not label:
        raise invalid_at(at, ("", 'is empty; it carries the rubrics, as JSON: {"rubrics": […], "size": 8}'))
    try:
        _check_text(Node(label), context.limits)
        row = Node(label).kwargs()
    except RowFault as fault:
        raise invalid_row(at, fault) from None
    return _read(row, at, prompt, context, foreign=False)


def read_task(row: Mapping[str, Any], at: str, prompt: Node, context: Context) -> Task:
    """The task of a row, which may have fields that are not ours.

    Rubrics are taken as they are in `POST /v1/score`; rows of other data sets go through their importer.
    Arguments and errors are those of `read_label`.
    """
    return _read(row, at, prompt, context, foreign=True)


def _read(row: Mapping[str, Any], at: str, prompt: Node, context: Context, *, foreign: bool) -> Task:
    try:
        format, node = _format(row, context.limits)
        if not foreign and format is FORMATS["native"] and (unknown := sorted(row.keys() - {*_OWN})):
            message = f"unknown field; a label has {', '.join(_OWN)}"
            raise invalid_at(at, *((name, message) for name in unknown))
        terms = _terms(row, at)
        group = _group(format, node, prompt)
        options = _options(format, node, terms.options, context.options)
    except RowFault as fault:
        raise invalid_row(at, fault) from None
    size = terms.size or context.size
    if size is None:
        message = "says no `size` (responses to a prompt), and the service has no `compat.group_size`"
        raise invalid_at(at, ("", message))
    if size == 1:
        options = options.model_copy(update={"advantages": None})
    elif options.advantages is None:
        options = options.model_copy(update={"advantages": AdvantageSpec(method="rdan")})
    elif options.advantages.method not in _METHODS:
        message = f"must be {' or '.join(_METHODS)}: other methods have no outcome and quality channels"
        raise invalid_at(at, ("options.advantages.method", message))
    return Task(
        prompt=group.prompt,
        reference=group.reference,
        rubrics=group.rubrics,
        options=options,
        tenant=context.tenant,
        run=context.run,
        group="" if terms.group is None else str(terms.group),
        size=size,
    )


def _terms(row: Mapping[str, Any], at: str) -> Terms:
    given = {name: row[name] for name in Terms.model_fields if row.get(name) is not None}
    if isinstance(options := given.get("options"), dict):
        given["options"] = {name: value for name, value in options.items() if value is not None}
    try:
        return Terms.model_validate(given)
    except ValidationError as error:
        raise invalid_at(at, *((fault.path, fault.message) for fault in details_of(error))) from None


def _check_text(node: Node, limits: Limits) -> None:
    """Refuse JSON in a text when it has more values than a body may; raises `RowFault`."""
    if isinstance(node.value, str) and node.value.lstrip().startswith(("{", "[")):
        try:
            check_values(node.value.encode(), limits)
        except InvalidRequest as error:
            raise node.fault(error.message) from None


def _format(row: Mapping[str, Any], limits: Limits) -> tuple[Format, Node]:
    """How to read the row, and what of it; one without a format, but with rubrics, is told what they lack."""
    node = Node({name: value for name, value in row.items() if name not in ("response", "responses")})
    for name, value in row.items():
        _check_text(Node(value, name), limits)
    own = {name: row[name] for name in _NATIVE if row.get(name) is not None}
    if "rubrics" not in own:
        return detect(node), node
    rubrics = node.need("rubrics").structured()  # a table may hold them as text
    for item in rubrics.items():
        _check_text(item, limits)
    own["rubrics"] = rubrics.value
    try:
        if is_native(Node(own)):
            return FORMATS["native"], Node(own)
        return detect(node), node
    except RowFault:
        return FORMATS["native"], Node(own)


def _group(format: Format, node: Node, prompt: Node) -> ImportedGroup:
    rubrics = format.rubrics(node)
    if format is FORMATS["native"]:
        rubrics = _named(rubrics, node.need("rubrics"))
    try:
        asked = format.prompt(node)
    except RowFault as fault:
        if fault.path:  # there is one, and it cannot be read
            raise
        asked = Conversation(prompt=conversation(prompt).prompt)
    return make_group("0", node, asked, rubrics)


def _named(rubrics: Sequence[Item], at: Node) -> list[Item]:
    """The rubrics with ids as in `POST /v1/score`: those without one have their position for it.

    Raises:
        RowFault: Two have the same id.
    """
    first: dict[str, int] = {}
    named: list[Item] = []
    for index, (id, rubric) in enumerate(zip(ids_of(rubrics), rubrics, strict=True)):
        if isinstance(rubric, LeftOut):
            continue
        if first.setdefault(id, index) != index:
            message = f"the id {id!r} is taken by item {first[id]}; ids must be unique"
            raise RowFault(f"{at.path}[{index}].id", message)
        named.append(rubric.model_copy(update={"id": id}))
    return named


def _options(format: Format, node: Node, own: Options, defaults: Options) -> Options:
    """The row's options over the service's. A `grading_mode` of the row says how outcomes are counted."""
    given = {name: getattr(own, name) for name in own.model_fields_set}
    if format.name == "nemotron":
        given = {"outcome": format.options(node)["outcome"], **given}
    options = defaults.model_copy(update=given)
    if options.deadline_s is None:
        return options
    return options.model_copy(update={"deadline_s": min(options.deadline_s, _LONGEST_S)})
