"""Rows in the five-source format of RDAN's and Rubrics-To-Tokens' training set (type1-type4, RubricHub).

`ground_truth` holds what decides the first rubrics, `hard_mask` which of them are hard, and what it does
not decide is judged by the rubric's description.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rubricate_clients.wire import Rubric
from rubricate_service.importers.group import make_rubric
from rubricate_service.importers.instructions import check_fields
from rubricate_service.importers.muldimif import constraint_fields
from rubricate_service.importers.node import Node
from rubricate_service.importers.points import function_fields
from rubricate_service.importers.rules import rule_fields

Fields = dict[str, Any]


def _instructions(truth: Node) -> list[Fields | None]:
    return [*check_fields(truth.need("instruction_id_list"), truth.get("kwargs"))]


def _constraints(truth: Node) -> list[Fields | None]:
    return [constraint_fields(item) for item in truth.need("constraints").items()]


def _functions(truth: Node) -> list[Fields | None]:
    return [fields for _, fields in rule_fields(truth)]


def _routes(truth: Node) -> list[Fields | None]:
    return [function_fields(route) for route in truth.need("rubric_routes").items()]


_SOURCES: dict[str, Callable[[Node], list[Fields | None]]] = {
    "type1": _instructions,
    "type2": _instructions,
    "type3": _constraints,
    "type4": _functions,
    "rubrichub_instruction_following": _routes,
}


def is_hir(row: Node) -> bool:
    """Whether a row names one of the sources and has rubrics and a ground truth."""
    return row.has("source", "rubrics", "ground_truth") and row.need("source").name() in _SOURCES


def hir(row: Node) -> list[Rubric]:
    """One rubric for each of the row's, in its order.

    A rubric that `ground_truth` decides is a check, hard unless the mask says otherwise; any other is
    judged, soft unless the mask says otherwise.
    """
    source = row.need("source")
    read_checks = _SOURCES.get(source.text())
    if read_checks is None:
        raise source.fault(f"must be one of {', '.join(_SOURCES)}")
    truth = row.need("ground_truth").structured()
    described = row.need("rubrics").items()
    checks = read_checks(truth)
    if len(checks) > len(described):
        raise truth.fault(f"decides {len(checks)} rubrics, and the row has {len(described)}")
    checks += [None] * (len(described) - len(checks))
    hard = _hard(truth, len(described))
    return [
        _rubric(item, check, is_hard) for item, check, is_hard in zip(described, checks, hard, strict=True)
    ]


def _hard(truth: Node, count: int) -> list[bool | None]:
    mask = truth.get("hard_mask")
    if mask is None:
        return [None] * count
    flags = [item.flag() for item in mask.items()]
    if len(flags) != count:
        raise mask.fault(f"has {len(flags)} items for {count} rubrics")
    return [*flags]


def _rubric(item: Node, check: Fields | None, hard: bool | None) -> Rubric:
    id, weight = item.get("id"), item.get("weight")
    what = {"criterion": item.need("description").text()} if check is None else check
    if hard is (check is not None):
        hard = None  # as the wire has it when nothing is said
    return make_rubric(
        item,
        id=None if id is None else id.name(),
        hard=hard,
        weight=None if weight is None else weight.number(),
        **what,
    )
