"""From a trainer's rows to groups on the wire: one sample in, the group that it belongs to out."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubricate_clients.adapters._log import warn_once
from rubricate_clients.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Sample:
    """One response as a trainer has it.

    Attributes:
        prompt: A string or chat messages.
        response: A string or the chat messages that were generated; of those the last one counts.
        rubrics: The data set's column: a list of rubrics, or JSON of one.
        group: Key of the prompt's group; samples with equal keys are scored as one group.
        reference: A reference answer for judge rubrics.
    """

    prompt: Any
    response: Any
    rubrics: Any
    group: Hashable
    reference: str | None = None


_SHARED = ("prompt", "rubrics", "reference")
"""What the samples of a group have in common."""


def groups_of(samples: Sequence[Sample]) -> tuple[list[dict[str, Any]], list[tuple[int, int]]]:
    """Groups for `POST /v1/score`, in order of their first samples, and each sample's place in them.

    Returns:
        The groups as plain objects, and for each sample the index of its group and of its response there.

    Raises:
        InvalidRequest: A row has no usable prompt, response or rubrics, or differs from its group.
    """
    groups: list[dict[str, Any]] = []
    index_of: dict[Hashable, int] = {}
    first: list[Sample] = []
    places = []
    for row, sample in enumerate(samples):
        index = index_of.setdefault(sample.group, len(groups))
        if index == len(groups):
            first.append(sample)
            groups.append(_group(sample, row))
        elif differ := [name for name in _SHARED if getattr(sample, name) != getattr(first[index], name)]:
            raise InvalidRequest(
                f"row {row} is in group {sample.group!r} but differs from the group's first row in "
                f"{' and '.join(f'`{name}`' for name in differ)}: are the rows of a prompt next to each "
                "other, and is the group size right?"
            )
        responses = groups[index]["responses"]
        places.append((index, len(responses)))
        responses.append(text_of(sample.response, f"row {row}: the response"))
    return groups, places


def consecutive(prompts: Sequence[Any], num_generations: int) -> list[int]:
    """Group number of each row, where the responses to a prompt are `num_generations` rows in a row.

    Raises:
        InvalidRequest: The rows are not whole groups.
    """
    rows = len(prompts)
    if rows % num_generations:
        raise InvalidRequest(
            f"{rows} rows are no whole groups of {num_generations}: a process holds part of a group. Make "
            "the rows that one process generates a multiple of the number of generations"
        )
    starts = range(num_generations, rows, num_generations)
    if any(prompts[start] == prompts[start - 1] for start in starts):
        warn_once(
            f"two groups of {num_generations} rows next to each other have the same prompt: if they are one "
            "group, the number of generations is too small, and responses are compared with too few others"
        )
    return [row // num_generations for row in range(rows)]


def _group(sample: Sample, row: int) -> dict[str, Any]:
    group = {
        "prompt": prompt_of(sample.prompt, f"row {row}: the prompt"),
        "rubrics": rubrics_of(sample.rubrics, f"row {row}: `rubrics`"),
        "responses": [],
    }
    if sample.reference is not None:
        group["reference"] = sample.reference
    return group


def rubrics_column(column: Sequence[Any] | None) -> Sequence[Any]:
    """The data set's column of rubrics, where it has one.

    Raises:
        InvalidRequest: It has none.
    """
    if column is None:
        raise InvalidRequest(
            "the data set has no column `rubrics`: give each prompt the list of its rubrics, or JSON of it"
        )
    return column


def rubrics_of(column: Any, where: str) -> list[dict[str, Any]]:
    """The rubrics of one prompt. Columnar data sets pad every object with nulls, which are left out.

    Raises:
        InvalidRequest: It is neither a list of objects nor JSON of one, or it is empty.
    """
    if isinstance(column, str):
        try:
            column = json.loads(column)
        except ValueError as error:
            raise InvalidRequest(f"{where} is a string but not JSON: {error}") from error
    rubrics = list(column) if isinstance(column, Sequence) else []
    if not rubrics or not all(isinstance(rubric, Mapping) for rubric in rubrics):
        raise InvalidRequest(
            f"{where} must be a list of one rubric or more (or JSON of it), not {column!r:.80}"
        )
    return [_unpadded(rubric) for rubric in rubrics]


def _unpadded(rubric: Mapping[str, Any]) -> dict[str, Any]:
    """The rubric without nulls, among its kwargs too: a criterion may be padded with those of checks."""
    given = {name: value for name, value in rubric.items() if value is not None}
    kwargs = given.get("kwargs")
    if isinstance(kwargs, Mapping):
        given["kwargs"] = {name: value for name, value in kwargs.items() if value is not None}
    return given


def prompt_of(prompt: Any, where: str) -> str | list[dict[str, str]]:
    """A prompt as the wire takes it: text, or messages of which only role and text are kept.

    Raises:
        InvalidRequest: It is neither.
    """
    if isinstance(prompt, str):
        return prompt
    return [
        {"role": str(message["role"]), "content": _content(message, where)}
        for message in _messages(prompt, where)
    ]


def text_of(response: Any, where: str) -> str:
    """The text of a response; of chat messages that of the last one.

    Raises:
        InvalidRequest: It is neither text nor messages.
    """
    if isinstance(response, str):
        return response
    return _content(_messages(response, where)[-1], where)


def _messages(value: Any, where: str) -> list[Mapping[str, Any]]:
    messages = list(value) if isinstance(value, Sequence) else []
    if not messages or not all(isinstance(m, Mapping) and "role" in m for m in messages):
        raise InvalidRequest(f"{where} must be text or chat messages {{role, content}}, not {value!r:.80}")
    return messages


def _content(message: Mapping[str, Any], where: str) -> str:
    content = message.get("content")
    if content is None:  # a message that only calls tools
        return ""
    if isinstance(content, str):
        return content
    parts = (
        [part.get("text") for part in content if isinstance(part, Mapping)]
        if isinstance(content, Sequence)
        else []
    )
    texts = [part for part in parts if isinstance(part, str)]
    if not texts:
        raise InvalidRequest(f"{where} has a message without text: {content!r:.80}")
    return "\n".join(texts)
