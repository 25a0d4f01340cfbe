"""Groups as `POST /v1/score` takes them, with or without responses."""

from __future__ import annotations

from rubricate_clients.wire import Group, Rubric
from rubricate_service.importers.group import Conversation, make_rubric, read_messages
from rubricate_service.importers.node import Node


def native(row: Node) -> list[Rubric]:
    """The row's rubrics as they are."""
    return [make_rubric(item, **item.kwargs()) for item in row.need("rubrics").items()]


def native_prompt(row: Node) -> Conversation:
    """The row's prompt as it is: an assistant's last message belongs to it."""
    prompt = row.need("prompt")
    return Conversation(prompt=prompt.text() if isinstance(prompt.value, str) else read_messages(prompt))


def is_native(row: Node) -> bool:
    """Whether a row has no fields but those of a group, and its rubrics none but those of a rubric."""
    if not isinstance(row.value, dict) or not row.value.keys() <= Group.model_fields.keys():
        return False
    return all(item.kwargs().keys() <= Rubric.model_fields.keys() for item in row.need("rubrics").items())
