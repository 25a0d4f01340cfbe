"""A benchmark's prompts and a model's responses, joined by key or by prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubricate_service.importers import ImportedGroup, Importer
from rubricate_service.importers.files import FileError, read_rows
from rubricate_service.importers.group import conversation, row_id
from rubricate_service.importers.node import Node, RowFault
from rubricate_service.normalise import prompt_text


class EvaluationError(Exception):
    """The files are not what `rubricate eval` can work with."""


@dataclass(frozen=True, slots=True)
class Item:
    """A prompt of the benchmark: its group, its row as published, and the model's response or None."""

    group: ImportedGroup
    row: dict[str, Any]
    response: str | None


@dataclass(frozen=True, slots=True)
class Joined:
    """All prompts, and the numbers of the rows of responses that belong to none of them."""

    items: list[Item]
    strays: list[int]


@dataclass(slots=True)
class _Answer:
    row: int
    text: str | None
    used: bool = False


def join(format: str, responses: Path, data: Path | None) -> Joined:
    """Read both files and join them; without `data` the rows of `responses` carry prompts themselves.

    A response that says its prompt belongs to that prompt, given as it is or stripped (as IFBench's own
    evaluator looks them up); any other belongs to the prompt of its `key` or `id`.

    Raises:
        EvaluationError: A row cannot be read, or a prompt has two responses.
    """
    if data is None:
        return Joined(
            [_carried(number, group, row) for number, group, row in _imported(format, responses)], []
        )
    by_key, by_prompt, answers = _answers(responses)
    items = []
    for _, group, row in _imported(format, data):
        prompt = prompt_text(group.prompt)
        answer = by_prompt.get(prompt) or by_prompt.get(prompt.strip()) or by_key.get(group.id)
        if answer is not None:
            answer.used = True
        items.append(Item(group, row, None if answer is None else answer.text))
    return Joined(items, [answer.row for answer in answers if not answer.used])


def _rows(source: Path) -> Iterator[tuple[int, Any]]:
    try:
        for number, row, fault in read_rows(source):
            if fault is not None:
                raise EvaluationError(f"{source}, row {number}: {fault}")
            yield number, row
    except FileError as error:
        raise EvaluationError(str(error)) from None


def _imported(format: str, source: Path) -> Iterator[tuple[int, ImportedGroup, dict[str, Any]]]:
    importer = Importer(format)
    for number, row in _rows(source):
        group = importer.take(number, row)
        if group is None:
            raise EvaluationError(f"{source}, {importer.errors[0]}")
        yield number, group, row


def _carried(number: int, group: ImportedGroup, row: dict[str, Any]) -> Item:
    texts = [r if isinstance(r, str) else r.text for r in group.responses or []]
    if len(texts) > 1:
        raise EvaluationError(f"row {number} has {len(texts)} responses; evaluate one model's at a time")
    return Item(group, row, texts[0] if texts else None)


def _answers(source: Path) -> tuple[dict[str, _Answer], dict[str, _Answer], list[_Answer]]:
    by_key: dict[str, _Answer] = {}
    by_prompt: dict[str, _Answer] = {}
    answers = []
    for number, row in _rows(source):
        try:
            node = Node(row)
            text, key, prompt = node.get("response"), row_id(node), node.get("prompt")
            answer = _Answer(number, None if text is None else text.string())
            if prompt is not None:  # first: a file's own running numbers may look like keys
                _put(by_prompt, prompt_text(conversation(prompt).prompt), answer, source)
            elif key is not None:
                _put(by_key, key, answer, source)
            else:
                raise node.fault("has neither `key`, `id` nor `prompt`")
        except RowFault as fault:
            raise EvaluationError(f"{source}, row {number}: {fault}") from None
        answers.append(answer)
    return by_key, by_prompt, answers


def _put(answers: dict[str, _Answer], name: str, answer: _Answer, source: Path) -> None:
    first = answers.setdefault(name, answer)
    if first is not answer:
        raise EvaluationError(
            f"{source}, row {answer.row}: row {first.row} has a response to {name[:80]!r} already; "
            "evaluate one model's at a time"
        )
