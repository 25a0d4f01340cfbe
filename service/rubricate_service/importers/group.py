"""From a row's parts to a group: prompts, responses and rubrics as the wire has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from rubricate_clients.faults import Members
from rubricate_clients.wire import Message, Prompt, ResponseItem, Rubric
from rubricate_service.importers.node import Node, RowFault

_IDS = ("id", "key", "prompt_id", "uuid")
_PROMPTS = ("prompt", "messages", "conversations", "question", "instruction", "query", "context")
_REFERENCES = ("reference", "reference_answer", "reference_response", "gold")

_QUESTION = "The answer to this question about the response is yes: {}"


class LeftOut(NamedTuple):
    """An item of a row that becomes no rubric, since it would move no score: where it is, and why."""

    path: str
    message: str


Item = Rubric | LeftOut
"""What an item of a row becomes."""


class ImportedGroup(BaseModel):
    """A group of `POST /v1/score`, complete but for the responses where the row has none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str
    prompt: Prompt
    reference: str | None = None
    rubrics: Annotated[list[Rubric], *Members]
    responses: Annotated[list[ResponseItem], *Members] | None = None


class Conversation(BaseModel):
    """What a row asks, and the answer where its last message is one of the assistant's."""

    prompt: str | list[Message]
    response: str | None = None


def read_prompt(row: Node) -> Conversation:
    """The prompt of a row, wherever data sets put it.

    Raises:
        RowFault: There is none, or it is neither a string nor chat messages.
    """
    if (request := row.get("responses_create_params")) is not None:
        return conversation(request.need("input"))
    return conversation(require(row, *_PROMPTS))


def conversation(node: Node) -> Conversation:
    """A string or chat messages; a lone user message is its text. Raises `RowFault`."""
    if isinstance(node.value, str):
        return Conversation(prompt=node.text())
    messages = read_messages(node)
    answer = messages.pop().content if len(messages) > 1 and messages[-1].role == "assistant" else None
    lone = len(messages) == 1 and messages[0].role == "user"
    return Conversation(prompt=messages[0].content if lone else messages, response=answer)


def read_messages(node: Node) -> list[Message]:
    """Chat messages, at least one; a content of several parts is one text. Raises `RowFault`."""
    messages = [Message(role=item.need("role").text(), content=_content(item)) for item in node.items()]
    if not messages:
        raise node.fault("has no messages")
    return messages


def _content(message: Node) -> str:
    content = message.need("content")
    if isinstance(content.value, str):
        return content.value
    return "".join(part.need("text").string() for part in content.items())


def find(row: Node, *names: str) -> Node | None:
    """The first of these fields that the row has, in `verifier_metadata` (NeMo Gym) or at its top."""
    inner = row.get("verifier_metadata")
    return (inner and inner.first(*names)) or row.first(*names)


def require(row: Node, *names: str) -> Node:
    """As `find`; raises `RowFault` when the row has none of them."""
    return find(row, *names) or row.need(*names)


def question(text: str) -> str:
    """A criterion of a question that is to be answered with yes; a statement is one already."""
    return _QUESTION.format(text) if text.rstrip().endswith(("?", "？")) else text


def make_rubric(at: Node, **fields: Any) -> Rubric:
    """A rubric of the wire, without fields that are None and without empty kwargs.

    Args:
        at: What of the row the rubric is made of; faults are reported there.
        **fields: Fields of `Rubric`; an `id` need not be unique yet.

    Raises:
        RowFault: The wire does not take it.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if given.get("kwargs") == {}:
        del given["kwargs"]
    try:
        return Rubric.model_validate(given)
    except ValidationError as error:
        raise RowFault.of(at.path, error) from None


def weightless(at: Node, amount: str) -> LeftOut:
    """An item that weighs nothing, as its amount (`points`, `weight`) is 0."""
    return LeftOut(at.path, f"has {amount} 0, which moves no sum: it is left out")


def make_group(id: str, row: Node, asked: Conversation, items: Sequence[Item]) -> ImportedGroup:
    """The group of a row without what is left out; a rubric whose id is taken gets `#2`, `#3`, … after it.

    Raises:
        RowFault: There are no rubrics, or the wire does not take what the row holds.
    """
    rubrics = [item for item in items if not isinstance(item, LeftOut)]
    if not rubrics:
        raise row.fault("has no rubrics that count")
    names = unique([rubric.id or str(i + 1) for i, rubric in enumerate(rubrics)])
    parts: dict[str, Any] = {
        "id": id,
        "prompt": asked.prompt,
        "rubrics": [r.model_copy(update={"id": name}) for r, name in zip(rubrics, names, strict=True)],
    }
    reference = row.first(*_REFERENCES)
    if reference is not None and isinstance(reference.value, str) and reference.value.strip():
        parts["reference"] = reference.value
    if responses := _responses(row, asked):
        parts["responses"] = responses
    try:
        return ImportedGroup(**parts)
    except ValidationError as error:
        raise RowFault.of("", error) from None


def _responses(row: Node, asked: Conversation) -> list[Any]:
    if (given := row.first("responses", "response")) is not None:
        return [_response(item) for item in (given.items() if isinstance(given.value, list) else [given])]
    return [] if asked.response is None else [asked.response]


def _response(item: Node) -> str | dict[str, str]:
    if isinstance(item.value, str):
        return item.value
    text = item.need("text", "response", "content").string()
    id = item.get("id")
    name = None if id is None else id.name()
    return text if name is None else {"id": name, "text": text}


def row_id(row: Node) -> str | None:
    """The id that the row gives itself."""
    node = row.first(*_IDS)
    return None if node is None else node.name()


def unique(names: Sequence[str]) -> list[str]:
    """The names, each that is taken already with the first free of `#2`, `#3`, … after it."""
    taken = set(names)
    seen: dict[str, int] = {}
    result = []
    for name in names:
        count = seen.get(name, 0) + 1
        candidate = name
        while count > 1 and (candidate := f"{name}#{count}") in taken:
            count += 1
        seen[name] = count
        taken.add(candidate)
        result.append(candidate)
    return result
