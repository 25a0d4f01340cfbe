"""Rows of instruction ids and kwargs: IFEval, IFBench, IF_multi_constraints, RLVR-IFeval, NeMo Gym."""

from __future__ import annotations

from typing import Any

from rubricate_clients.wire import Rubric
from rubricate_service.importers.group import find, make_rubric, question, require
from rubricate_service.importers.node import Node

_INLINE_NAMES = frozenset({"instruction_id", "uid", "source", "is_misalignment_check"})


def check_fields(ids: Node, kwargs: Node | None) -> list[dict[str, Any]]:
    """`check` and `kwargs` of each instruction, in the data's order; an absent or null kwargs is empty.

    Raises:
        RowFault: There is not one kwargs for each id.
    """
    names = ids.structured().items()
    given = [Node(None)] * len(names) if kwargs is None else kwargs.structured().items()
    if len(given) != len(names):
        raise (kwargs or ids).fault(f"has {len(given)} items for {len(names)} instruction ids")
    return [
        {"check": name.text(), "kwargs": {} if item.value is None else item.kwargs()}
        for name, item in zip(names, given, strict=True)
    ]


def _checks(ids: Node, kwargs: Node | None) -> list[Rubric]:
    return [
        make_rubric(node, id=fields["check"], **fields)
        for node, fields in zip(ids.structured().items(), check_fields(ids, kwargs), strict=True)
    ]


def ifeval(row: Node) -> list[Rubric]:
    """`instruction_id_list` and `kwargs`, also under `verifier_metadata` as NeMo Gym has them."""
    return _checks(require(row, "instruction_id_list"), find(row, "kwargs"))


def is_ifeval(row: Node) -> bool:
    """Whether a row has instruction ids."""
    return row.has("instruction_id_list")


def is_nemotron(row: Node) -> bool:
    """Whether a row has instruction ids and what only NeMo Gym adds to them."""
    marked = row.has("grading_mode") or row.has("responses_create_params") or row.has("verifier_metadata")
    return marked and find(row, "instruction_id_list") is not None


def grading_mode(row: Node) -> dict[str, Any]:
    """Options that reward a response as NeMo Gym's `grading_mode` does: `binary` (default) or `fraction`."""
    node = find(row, "grading_mode")
    mode = "binary" if node is None else node.text()
    if node is not None and mode not in ("binary", "fraction"):
        raise node.fault(f"must be `binary` or `fraction`, not {mode!r}")
    return {"outcome": "all" if mode == "binary" else "fraction", "reward": "outcome"}


def if_multi(row: Node) -> list[Rubric]:
    """`ground_truth` is a list of one object (or the object), written as JSON or as a Python literal."""
    truth = _multi_truth(row)
    return _checks(truth.need("instruction_id", "instruction_id_list"), truth.get("kwargs"))


def _multi_truth(row: Node) -> Node:
    truth = row.need("ground_truth").structured()
    if isinstance(truth.value, list):
        items = truth.items()
        if len(items) != 1:
            raise truth.fault(f"must hold one object, not {len(items)}")
        truth = items[0].structured()
    return truth


def is_if_multi(row: Node) -> bool:
    """Whether `ground_truth` holds instruction ids."""
    truth = _multi_truth(row)
    return truth.has("instruction_id") or truth.has("instruction_id_list")


def rlvr(row: Node) -> list[Rubric]:
    """`ground_truth` is an object with the function's name and its arguments."""
    node = row.need("ground_truth")
    arguments = node.kwargs()
    function = node.structured().need("func_name")
    del arguments["func_name"]
    return [make_rubric(function, id=function.text(), check=f"rlvr:{function.text()}", kwargs=arguments)]


def is_rlvr(row: Node) -> bool:
    """Whether `ground_truth` names a function."""
    return row.need("ground_truth").structured().has("func_name")


def verifif(row: Node) -> list[Rubric]:
    """NeMo Gym's verifif: `instructions` with their kwargs inline, and questions for its judge.

    All of them must hold there, so the judged ones are hard as well.
    """
    rubrics = []
    for item in require(row, "instructions").items():
        id = item.need("instruction_id").text()
        kwargs = {name: value for name, value in item.kwargs().items() if name not in _INLINE_NAMES}
        rubrics.append(make_rubric(item, id=id, check=id, kwargs=kwargs))
    judged = find(row, "llm_judge")
    for item in [] if judged is None else judged.items():
        uid = item.get("uid")
        rubrics.append(
            make_rubric(
                item,
                id=None if uid is None else uid.name(),
                criterion=question(item.need("content").text()),
                hard=True,
                negative=wants_no(item),
            )
        )
    return rubrics


def is_verifif(row: Node) -> bool:
    """Whether a row has instructions with inline kwargs."""
    node = find(row, "instructions")
    return node is not None and all(item.has("instruction_id") for item in node.items())


def wants_no(item: Node) -> bool | None:
    """True where `pass_criteria` is NO: the question's yes is what must not be; None where it is YES.

    Raises:
        RowFault: It is something else.
    """
    node = item.get("pass_criteria")
    if node is None or node.value == "YES":
        return None
    if node.value != "NO":
        raise node.fault(f"must be YES or NO, not {node.value!r}"[:200])
    return True
