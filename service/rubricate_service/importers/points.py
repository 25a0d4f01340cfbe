"""Rubrics with points: RubricHub (rules and criteria, by tags) and HealthBench.

What is worth 0 points moves no sum of points, so it is left out. A rubric's weight is the size of its
points, so that its quality counts it as the points do.
"""

from __future__ import annotations

from typing import Any

from rubricate_service.importers.group import Item, make_rubric, weightless
from rubricate_service.importers.node import Node


def function_fields(route: Node) -> dict[str, Any] | None:
    """`check` and `kwargs` of a rule's `function` and `parameters`; None where no function is named."""
    function = None if route.value is None else route.get("function")
    if function is None or function.value == "":
        return None
    parameters = route.get("parameters")
    kwargs = {} if parameters is None or parameters.value == "" else parameters.kwargs()
    return {"check": f"rubrichub:{function.text()}", "kwargs": kwargs}


def _tags(item: Node) -> Node:
    """Tags as an object; a list of `"key:value"` is read as one."""
    tags = item.get("tags")
    if tags is None:
        return Node({}, item.path)
    if isinstance(tags.value, dict):
        return tags
    pairs = (tag.text().partition(":") for tag in tags.items())
    return Node({key.strip(): value.strip() for key, _, value in pairs}, tags.path)


def _hub_items(row: Node) -> list[Node]:
    model = row.get("reward_model")
    holder = model if model is not None and (model.has("rubrics") or model.has("Rubric")) else row
    return holder.need("rubrics", "Rubric").items()


def rubrichub(row: Node) -> list[Item]:
    """A check where the tags say `verifier: rule`, else a criterion."""
    rubrics: list[Item] = []
    for item in _hub_items(row):
        points = item.need("points").number()
        tags = _tags(item)
        verifier = tags.get("verifier")
        check = function_fields(tags) if verifier is not None and verifier.value == "rule" else None
        if verifier is not None and verifier.value == "rule" and check is None:
            raise tags.fault("says `verifier: rule` and names no `function`")
        what = {"criterion": item.need("criterion").text()} if check is None else check
        rubrics.append(_pointed(item, points, what))
    return rubrics


def _pointed(item: Node, points: float, what: dict[str, Any]) -> Item:
    if not points:
        return weightless(item, "points")
    return make_rubric(item, points=points, weight=abs(points), **what)


def is_rubrichub(row: Node) -> bool:
    """Whether a row has RubricHub's `question`, its `reward_model`, or rubrics whose tags name a verifier."""
    items = _hub_items(row)
    pointed = bool(items) and all(item.has("points") for item in items)
    return pointed and (
        row.has("question") or row.has("reward_model") or any(_tags(item).has("verifier") for item in items)
    )


def healthbench(row: Node) -> list[Item]:
    """A criterion for each rubric; negative points describe what must not be there."""
    rubrics: list[Item] = []
    for item in row.need("rubrics").items():
        points = item.need("points").number()
        criterion = item.need("criterion").text()
        rubrics.append(_pointed(item, points, {"criterion": criterion}))
    return rubrics


def is_healthbench(row: Node) -> bool:
    """Whether a row's rubrics have criteria and points."""
    return all(item.has("criterion", "points") for item in row.need("rubrics").items())
