"""From a label or a dataset row to a task: what the members of a group have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rubricate_clients.faults import details_of
from rubricate_clients.wire import AdvantageSpec, Group, Options, Prompt, Rubric, ScoreRequest
from rubricate_service.compat.errors import invalid_at, invalid_row
from rubricate_service.compat.settings import GroupSize
from rubricate_service.errors import InvalidRequest
from rubricate_service.http.limits import check_values
from rubricate_service.http.settings import Limits
from rubricate_service.importers.formats import FORMATS, Format, detect
from rubricate_service.importers.group import Conversation, ImportedGroup, conversation, make_group
from rubricate_service.importers.native import is_native
from rubricate_service.importers.node import Node, RowFault

_METHODS = ("rdan", "rdan_ngrpo")
_NATIVE = ("prompt", "reference", "rubrics")
_OWN = (*_NATIVE, "group", "size", "options", "id")


class Terms(BaseModel):
    """What a row says beside its rubrics: its group's name and size, and options of `POST /v1/score`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    group: str | int | None = None
    size: GroupSize | None = None
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Context:
    """What a request brings beside its rows.

    Attributes:
        size: Responses to a prompt, where a row does not say; None when it must.
        options: Options that hold where a row does not say.
        tenant: Whose work it is.
        run: Which of the tenant's runs; groups of two never mix.
        limits: The most that a request may hold; they hold for JSON within its texts as well.
    """

    size: int | None
    options: Options
    tenant: str = ""
    run: str = ""
    limits: Limits = field(default_factory=Limits)


class Task(BaseModel):
    """All that a group's members are scored by, and how many they are; with a size of 1 there is no group."""

    model_config = ConfigDict(frozen=True)

    prompt: Prompt
    reference: str | None
    rubrics: list[Rubric]
    options: Options
    tenant: str
    run: str
    group: str
    size: int

    def request(self, texts: Sequence[str]) -> ScoreRequest:
        """The request that scores these responses as one group."""
        group = Group(
            prompt=self.prompt, reference=self.reference, rubrics=self.rubrics, responses=list(texts)
        )
        return ScoreRequest(groups=[group], options=self.options)

    @property
    def key(self) -> str:
        """Name of the groups of this task, 64 hex digits."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


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
        if isinstance(label, str):
            check_values(label.encode(), context.limits)
        row = Node(label).kwargs()
    except RowFault as fault:
        raise invalid_row(at, fault) from None
    except InvalidRequest as error:
        raise invalid_at(at, ("", error.message)) from None
    if "rubrics" in row and FORMATS["native"].name == _format(row)[0].name:
        unknown = [(name, f"unknown field; a label has {', '.join(_OWN)}") for name in row.keys() - {*_OWN}]
        if unknown:
            raise invalid_at(at, *unknown)
    return read_task(row, at, prompt, context)


def read_task(row: Mapping[str, Any], at: str, prompt: Node, context: Context) -> Task:
    """The task of a row, which may have fields that are not ours.

    Rubrics are taken as they are in `POST /v1/score`; rows of other data sets go through their importer.
    Arguments and errors are those of `read_label`.
    """
    terms = _terms(row, at)
    size = terms.size or context.size
    if size is None:
        message = "says no `size` (responses to a prompt), and the service has no `compat.group_size`"
        raise invalid_at(at, ("", message))
    try:
        format, node = _format(row)
        group = _group(format, node, prompt)
        options = _options(format, node, terms.options, context.options)
    except RowFault as fault:
        raise invalid_row(at, fault) from None
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


def _format(row: Mapping[str, Any]) -> tuple[Format, Node]:
    """How to read the row, and what of it; one without a format, but with rubrics, is told what they lack."""
    node = Node({name: value for name, value in row.items() if name not in ("response", "responses")})
    own = {name: row[name] for name in _NATIVE if row.get(name) is not None}
    if "rubrics" not in own:
        return detect(node), node
    own["rubrics"] = node.need("rubrics").structured().value  # a table may hold them as text
    try:
        if is_native(Node(own)):
            return FORMATS["native"], Node(own)
        return detect(node), node
    except RowFault:
        return FORMATS["native"], Node(own)


def _group(format: Format, node: Node, prompt: Node) -> ImportedGroup:
    rubrics = format.rubrics(node)
    try:
        asked = format.prompt(node)
    except RowFault as fault:
        if fault.path:  # there is one, and it cannot be read
            raise
        asked = Conversation(prompt=conversation(prompt).prompt)
    return make_group("0", node, asked, rubrics)


def _options(format: Format, node: Node, own: Options, defaults: Options) -> Options:
    """The row's options over the service's. A `grading_mode` of the row says how outcomes are counted."""
    given = {name: getattr(own, name) for name in own.model_fields_set}
    if format.name == "nemotron":
        given = {"outcome": format.options(node)["outcome"], **given}
    return defaults.model_copy(update=given)
