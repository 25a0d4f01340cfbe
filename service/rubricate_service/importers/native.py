"""Groups as `POST /v1/score` takes them, with or without responses."""

from __future__ import annotations

from rubricate_clients.wire import Group, Rubric
from rubricate_service.importers.group import (
    Conversation,
    Item,
    make_rubric,
    read_messages,
    weightless,
)
from rubricate_service.importers.node import Node


def native(row: Node) -> list[Item]:
    """The row's rubrics as they are, without soft ones of 0 points."""
    return [_rubric(item) for item in row.need("rubrics").items()]


def _rubric(item: Node) -> Item:
    fields = item.kwargs()
    points = item.get("points")
    if points is not None and points.value == 0 and points.value is not False:
        if fields.get("hard", "check" in fields):
            raise points.fault("must not be 0 in a hard rubric, which decides the outcome: take `points` out")
        return weightless(item, "points")
    return make_rubric(item, **fields)


def native_prompt(row: Node) -> Conversation:
    """The row's prompt as it is: an assistant's last message belongs to it."""
    prompt = row.need("prompt")
    return Conversation(prompt=prompt.text() if isinstance(prompt.value, str) else read_messages(prompt))


def is_native(row: Node) -> bool:
    """Whether a row has no fields but those of a group, and its rubrics none but those of a rubric."""
    if not isinstance(row.value, dict) or not row.value.keys() <= Group.model_fields.keys():
        return False
    return all(item.kwargs().keys() <= Rubric.model_fields.keys() for item in row.need("rubrics").items())
