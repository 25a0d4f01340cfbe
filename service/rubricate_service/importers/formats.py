"""The table of formats, in the order in which `auto` tries them: the more particular first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rubricate_service.importers.group import Conversation, Item, read_prompt
from rubricate_service.importers.hir import hir, is_hir
from rubricate_service.importers.instructions import (
    grading_mode,
    if_multi,
    ifeval,
    is_if_multi,
    is_ifeval,
    is_nemotron,
    is_rlvr,
    is_verifif,
    rlvr,
    verifif,
)
from rubricate_service.importers.muldimif import is_muldimif, muldimif
from rubricate_service.importers.native import is_native, native, native_prompt
from rubricate_service.importers.node import Node, RowFault
from rubricate_service.importers.points import healthbench, is_healthbench, is_rubrichub, rubrichub
from rubricate_service.importers.questions import (
    are_questions,
    cfbench,
    is_cfbench,
    questions,
    questions_prompt,
)
from rubricate_service.importers.rules import autoif, is_autoif, is_verinstruct, verinstruct
from rubricate_service.importers.weights import (
    is_open_instruct,
    is_rar,
    open_instruct,
    open_instruct_prompt,
    rar,
)


def _always(**options: Any) -> Callable[[Node], dict[str, Any]]:
    return lambda _: options


@dataclass(frozen=True, slots=True)
class Format:
    """A format of rows.

    `options` are those of `POST /v1/score` under which the reward comes nearest to the source's own
    (every one of its functions may raise `RowFault`).
    """

    name: str
    summary: str
    matches: Callable[[Node], bool]
    rubrics: Callable[[Node], Sequence[Item]]
    options: Callable[[Node], dict[str, Any]]
    prompt: Callable[[Node], Conversation] = read_prompt


_POINTS = _always(reward="points", judging="all")
_WEIGHTED = _always(reward="csr", judging="all")
_BENCHMARK = _always(reward="outcome", thinking="keep", blank="check")

_TABLE = (
    Format("native", "groups as POST /v1/score takes them", is_native, native, _always(), native_prompt),
    Format(
        "hir",
        "RDAN and Rubrics-To-Tokens training rows: type1-type4 and RubricHub",
        is_hir,
        hir,
        _always(advantages={"method": "rdan"}),
    ),
    Format("verifif", "NeMo Gym verifif: inline kwargs and judge questions", is_verifif, verifif,
           _always(reward="outcome")),
    Format("nemotron", "NeMo Gym instruction following, with a grading mode", is_nemotron, ifeval,
           grading_mode),
    Format("ifeval", "IFEval and IFBench", is_ifeval, ifeval, _BENCHMARK),
    Format("muldimif", "MulDimIF constraint triples", is_muldimif, muldimif, _BENCHMARK),
    Format("rlvr", "RLVR-IFeval: one function by name", is_rlvr, rlvr, _always(reward="outcome")),
    Format("if_multi", "IF_multi_constraints: Python literals or JSON", is_if_multi, if_multi,
           _always(outcome="fraction", reward="outcome")),
    Format("verinstruct", "VerInstruct: [rule] functions and [llm] criteria", is_verinstruct, verinstruct,
           _always(outcome="fraction", judging="all")),
    Format("autoif", "AutoIF: evaluation functions", is_autoif, autoif,
           _always(outcome="fraction", reward="outcome")),
    Format("open_instruct", "open-instruct rubrics with weights", is_open_instruct, open_instruct, _WEIGHTED,
           open_instruct_prompt),
    Format("rubrichub", "RubricHub: points, rules by tags", is_rubrichub, rubrichub, _POINTS),
    Format("healthbench", "HealthBench: criteria with points", is_healthbench, healthbench, _POINTS),
    Format("rar", "RaR: criteria by category", is_rar, rar, _WEIGHTED),
    Format("cfbench", "CFBench: criteria of primary and secondary needs", is_cfbench, cfbench, _WEIGHTED),
    Format("questions", "InFoBench, MultiChallenge, inverse IF: questions", are_questions, questions,
           _WEIGHTED, questions_prompt),
)  # fmt: skip

_ENCODED = frozenset({"ground_truth"})
"""Fields that hold JSON or a Python literal as text, which may be broken."""

FORMATS = {format.name: format for format in _TABLE}
"""Every format by its name."""


def detect(row: Node) -> Format:
    """The first format that a row has.

    Raises:
        RowFault: It has none of them; where a field is there and cannot be read, that is said.
    """
    if not isinstance(row.value, dict):
        raise row.fault("a row must be an object")
    broken: RowFault | None = None
    for format in _TABLE:
        try:
            if format.matches(row):
                return format
        except RowFault as fault:  # what it looks at is not there or of another kind
            if re.split(r"[.\[]", fault.path)[0] in _ENCODED & row.value.keys():
                broken = broken or fault
    if broken is not None:
        raise broken
    fields = ", ".join(sorted(map(str, row.value)))[:200] or "none"
    raise row.fault(
        f"no format is known for a row with these fields: {fields}; name its format to learn more"
    )
