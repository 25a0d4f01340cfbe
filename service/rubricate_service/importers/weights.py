"""Rubrics with weights: RaR (categories) and open-instruct."""

from __future__ import annotations

import difflib

from rubricate_service.importers.group import (
    Conversation,
    Item,
    conversation,
    make_rubric,
    read_prompt,
    weightless,
)
from rubricate_service.importers.node import Node

_CATEGORIES = {"essential": 1.0, "important": 0.7, "optional": 0.3, "pitfall": 0.9}
"""Weights of the explicit aggregation of Rubrics as Rewards (arXiv 2507.17746)."""


def rar(row: Node) -> list[Item]:
    """A criterion for each item, weighted by the category that its description begins with.

    The data's own weights are not used, as in the paper. Pitfalls say what to avoid (`Does not …`), so
    they hold when they are true: they are not negative, whatever sign their weight has.
    """
    rubrics: list[Item] = []
    for item in row.need("rubric").items():
        description = item.need("description")
        prefix, colon, criterion = description.text().partition(":")
        words = prefix.lower().split()
        known = difflib.get_close_matches(words[0], _CATEGORIES, n=1, cutoff=0.75) if words else []
        if not colon or not known or not criterion.strip():
            raise description.fault(
                f"must begin with a category ({', '.join(_CATEGORIES)}), as in `Essential Criteria: …`"
            )
        title = item.get("title")
        rubrics.append(
            make_rubric(
                item,
                id=None if title is None else title.name(),
                criterion=criterion.strip(),
                weight=_CATEGORIES[known[0]],
            )
        )
    return rubrics


def is_rar(row: Node) -> bool:
    """Whether a row's `rubric` has descriptions and weights."""
    items = row.need("rubric").items()
    return bool(items) and all(item.has("description", "weight") for item in items)


def open_instruct(row: Node) -> list[Item]:
    """A criterion for each rubric of `ground_truth`; a negative weight describes what must not be there.

    Upstream divides by the sum of the weights' sizes, so a pitfall that is absent adds 0 there and its
    weight here: the same order of responses, shifted by a constant of the row. Weight 0 is left out.
    """
    rubrics: list[Item] = []
    for item in _truth(row).need("rubrics").items():
        criterion = item.need("description", "rubric_item", "Ingredient").text()
        node, title = item.get("weight"), item.get("title")
        weight = 1.0 if node is None else node.number()
        rubrics.append(
            make_rubric(
                item,
                id=None if title is None else title.name(),
                criterion=criterion,
                weight=abs(weight),
                negative=True if weight < 0 else None,
            )
            if weight
            else weightless(item, "weight")
        )
    return rubrics


def open_instruct_prompt(row: Node) -> Conversation:
    """The row's own prompt, else the query of `ground_truth`."""
    if row.has("prompt") or row.has("messages"):
        return read_prompt(row)
    return conversation(_truth(row).need("query"))


def _truth(row: Node) -> Node:
    return row.need("ground_truth").structured()


def is_open_instruct(row: Node) -> bool:
    """Whether `ground_truth` has rubrics."""
    return _truth(row).has("rubrics")
