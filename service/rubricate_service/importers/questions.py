"""Rows of questions about the response: InFoBench, MultiChallenge, inverse IF."""

from __future__ import annotations

from rubricate_clients.wire import Rubric
from rubricate_service.importers.group import Conversation, make_rubric, question, read_prompt, require
from rubricate_service.importers.instructions import wants_no
from rubricate_service.importers.node import Node

_TEXTS = ("question", "criteria", "content")


def questions(row: Node) -> list[Rubric]:
    """A soft criterion for each question; where its `pass_criteria` is NO, yes is what must not be."""
    rubrics = []
    for item in require(row, "decomposed_questions", "rubric").structured().items():
        if isinstance(item.value, str):
            rubrics.append(make_rubric(item, criterion=question(item.text())))
            continue
        id = item.first("id", "uid")
        rubrics.append(
            make_rubric(
                item,
                id=None if id is None else id.name(),
                criterion=question(item.need(*_TEXTS).text()),
                negative=wants_no(item),
            )
        )
    return rubrics


def questions_prompt(row: Node) -> Conversation:
    """The row's prompt; InFoBench's `input` follows its `instruction`."""
    if not row.has("instruction", "input") or row.need("input").value == "":
        return read_prompt(row)
    return Conversation(prompt=f"{row.need('instruction').text()}\n\n{row.need('input').text()}")


def are_questions(row: Node) -> bool:
    """Whether a row has decomposed questions, or a `rubric` of questions or criteria."""
    items = require(row, "decomposed_questions", "rubric").structured().items()
    return bool(items) and all(
        isinstance(item.value, str) or any(item.has(name) for name in _TEXTS) for item in items
    )
