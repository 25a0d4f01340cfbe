"""Rows of questions about the response: InFoBench, MultiChallenge, inverse IF, CFBench."""

from __future__ import annotations

from rubricate_service.importers.group import (
    Conversation,
    Item,
    make_rubric,
    question,
    read_prompt,
    require,
)
from rubricate_service.importers.instructions import wants_no
from rubricate_service.importers.node import Node

_TEXTS = ("question", "criteria", "content")


def questions(row: Node) -> list[Item]:
    """A soft criterion for each question; where its `pass_criteria` is NO, yes is what must not be."""
    rubrics: list[Item] = []
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


_PRIMARY, _SECONDARY = "主需", "次需"
"""CFBench's words for needs that come first and second."""


def cfbench(row: Node) -> list[Item]:
    """A criterion for each of `criteria`, `[text, priority, type, subtype]`; the last two may be absent.

    The primary ones are hard. Beside the share of criteria that hold, CFBench reports how often all do,
    and a rate in which the primary ones come first.
    """
    rubrics: list[Item] = []
    for item in row.need("criteria").structured().items():
        if not _has_priority(item):
            raise item.fault(f"must be [text, {_PRIMARY} or {_SECONDARY}, …]")
        text, priority = item.items()[:2]
        hard = True if priority.value == _PRIMARY else None
        rubrics.append(make_rubric(item, criterion=question(text.text()), hard=hard))
    return rubrics


def is_cfbench(row: Node) -> bool:
    """Whether a row has criteria with one of CFBench's priorities each."""
    items = row.need("criteria").structured().items()
    return bool(items) and all(map(_has_priority, items))


def _has_priority(item: Node) -> bool:
    value = item.value
    return isinstance(value, list) and len(value) > 1 and value[1] in (_PRIMARY, _SECONDARY)
