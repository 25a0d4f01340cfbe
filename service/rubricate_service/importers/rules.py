"""Rows whose rules are Python that the data set brings: VerInstruct (VerIF) and AutoIF."""

from __future__ import annotations

from typing import Any

from rubricate_clients.wire import Rubric
from rubricate_service.importers.group import make_rubric
from rubricate_service.importers.node import Node

_RULE, _JUDGED = "[rule]", "[llm]"


def rule_fields(truth: Node) -> list[tuple[Node, dict[str, Any] | None]]:
    """Each item of `checker(s)`, with the `check` and `kwargs` of a rule and None for one that is judged.

    `functions` has one source for each item (blank for judged ones) or one for each rule.

    Raises:
        RowFault: An item has neither label, or the functions are not as many as the items or the rules.
    """
    items = truth.need("checkers", "checker").items()
    is_rule = [_labelled(item) == _RULE for item in items]
    functions = truth.get("functions")
    sources = [] if functions is None else functions.items()
    if len(sources) == len(items):
        sources = [source for source, rule in zip(sources, is_rule, strict=True) if rule]
    if len(sources) != sum(is_rule):
        raise (functions or truth).fault(
            f"has {len(sources)} functions for {sum(is_rule)} rules among {len(items)} checkers"
        )
    remaining = iter(sources)
    return [
        (item, rule_check(next(remaining), "check_following") if rule else None)
        for item, rule in zip(items, is_rule, strict=True)
    ]


def rule_check(source: Node, entry: str) -> dict[str, Any]:
    """`check` and `kwargs` of a Python rule that is called by the name `entry`."""
    kwargs = {"source": source.text()}
    if entry != "check_following":
        kwargs["entry"] = entry
    return {"check": "rule:python", "kwargs": kwargs}


def _labelled(item: Node) -> str:
    text = item.text().lstrip()
    for label in (_RULE, _JUDGED):
        if text.startswith(label):
            return label
    raise item.fault(f"must begin with `{_RULE}` or `{_JUDGED}`")


def _truth(row: Node) -> Node:
    if row.has("checkers") or row.has("checker"):
        return row
    model = row.get("reward_model")
    return (row if model is None else model).need("ground_truth").structured()


def verinstruct(row: Node) -> list[Rubric]:
    """A hard rule for each `[rule]`, a soft criterion for each `[llm]`, in the row's order."""
    rubrics = []
    for item, check in rule_fields(_truth(row)):
        if check is None:
            criterion = item.text().strip().removeprefix(_JUDGED).strip()
            rubrics.append(make_rubric(item, criterion=criterion))
        else:
            rubrics.append(make_rubric(item, **check))
    return rubrics


def is_verinstruct(row: Node) -> bool:
    """Whether a row has labelled checkers."""
    truth = _truth(row)
    return truth.has("checkers") or truth.has("checker")


def autoif(row: Node) -> list[Rubric]:
    """`eval_func` is a list of `[source, accuracy]`, or of sources; each defines `evaluate(response)`."""
    rubrics = []
    for item in row.need("eval_func").items():
        if isinstance(item.value, list):
            parts = item.items()
            if not parts:
                raise item.fault("has no source")
            rubrics.append(make_rubric(item, **rule_check(parts[0], "evaluate")))
        else:
            rubrics.append(make_rubric(item, **rule_check(item, "evaluate")))
    return rubrics


def is_autoif(row: Node) -> bool:
    """Whether a row has evaluation functions."""
    return row.has("eval_func")
