"""Which criteria are asked: the contract's table of judging modes, and what each method needs."""

from __future__ import annotations

from typing import Any

import pytest

from rubricate_clients.wire import Group, Options, Rubric, ScoreRequest
from rubricate_service.gate import gate_hard, gate_soft, missing_scores, resolve_judging
from rubricate_service.verdict import Verdict, failed, scored

CHECK, SOFT = Rubric(check="punctuation:no_comma"), Rubric(criterion="It is kind.")
HOLDS, BREAKS = scored(1.0, True), scored(0.0, False)
FAILED = failed("crashed", "gone", "groups[0].rubrics[0]")


@pytest.mark.parametrize(
    ("options", "judging"),
    [
        ({}, "eligible"),
        ({"advantages": {"method": "rdan"}}, "needed"),
        ({"advantages": {"method": "rdan_ngrpo"}}, "needed"),
        ({"advantages": {"method": "gdpo"}}, "all"),
        ({"advantages": {"method": "grpo"}}, "eligible"),
        ({"advantages": {"method": "grpo"}, "reward": "csr"}, "all"),
        ({"reward": "points"}, "all"),
        ({"judging": "none", "advantages": {"method": "rdan"}}, "none"),
    ],
)
def test_judging_defaults_to_the_least_that_is_needed(options: dict[str, Any], judging: str) -> None:
    assert resolve_judging(Options.model_validate(options)) == judging


HARD = Rubric(criterion="It is true.", hard=True)


@pytest.mark.parametrize(
    ("options", "rubrics", "refused"),
    [
        ({"advantages": {"method": "gdpo"}, "judging": "all"}, [SOFT], False),
        ({"advantages": {"method": "gdpo"}, "judging": "eligible"}, [SOFT], True),
        ({"advantages": {"method": "gdpo"}, "judging": "eligible"}, [CHECK, HARD], False),
        ({"advantages": {"method": "grpo"}, "judging": "eligible"}, [SOFT], False),
        ({"advantages": {"method": "grpo"}, "judging": "needed"}, [SOFT], True),
        ({"advantages": {"method": "rloo"}, "judging": "none"}, [SOFT], True),
        ({"advantages": {"method": "rloo"}, "judging": "none", "reward": "outcome"}, [SOFT], False),
        ({"advantages": {"method": "ngrpo"}, "judging": "eligible", "reward": "csr"}, [SOFT], True),
        # a hard criterion is a score like any other to the rewards that read all
        ({"advantages": {"method": "grpo"}, "judging": "eligible", "reward": "csr"}, [CHECK, HARD], True),
        ({"advantages": {"method": "grpo"}, "judging": "eligible", "reward": "csr"}, [CHECK], False),
        ({"advantages": {"method": "grpo"}, "judging": "eligible", "outcome": "fraction"}, [SOFT], True),
        ({"advantages": {"method": "grpo"}, "outcome": "fraction"}, [SOFT], False),
        ({"advantages": {"method": "rdan"}, "judging": "needed"}, [SOFT], False),
        ({"judging": "none"}, [SOFT], False),
    ],
)
def test_a_method_is_refused_when_its_scores_are_gated_away(
    options: dict[str, Any], rubrics: list[Rubric], refused: bool
) -> None:
    group = Group(prompt="p", rubrics=[r.model_copy(update={"id": None}) for r in rubrics], responses=["r"])
    request = ScoreRequest(groups=[group], options=Options.model_validate(options))
    assert (missing_scores(request) is not None) is refused


@pytest.mark.parametrize(
    ("verdict", "faulty", "options", "gate"),
    [
        (HOLDS, False, {}, None),
        (BREAKS, False, {}, "not_eligible"),
        (BREAKS, False, {"judging": "all"}, None),
        (HOLDS, False, {"judging": "none"}, "judging_off"),
        # undecided on this response: a criterion that fails would still make the outcome 0
        (FAILED, False, {"judging": "needed"}, None),
        # undecided on every response: none can be eligible
        (FAILED, True, {"judging": "needed"}, "not_eligible"),
        # ... but NGRPO tells a group of zeros from an open one
        (FAILED, True, {"advantages": {"method": "rdan_ngrpo"}}, None),
        # every hard rubric moves a fraction
        (BREAKS, False, {"outcome": "fraction"}, None),
    ],
)
def test_hard_criteria(verdict: Verdict, faulty: bool, options: dict[str, Any], gate: str | None) -> None:
    assert gate_hard([CHECK, SOFT], [verdict, None], faulty, Options.model_validate(options)) == gate


@pytest.mark.parametrize(
    ("answers", "members", "judging", "gates"),
    [
        ([HOLDS, BREAKS], [0, 1], "eligible", [None, "not_eligible"]),
        ([HOLDS, BREAKS], [0, 1], "needed", ["group_too_small", "not_eligible"]),
        ([HOLDS, HOLDS, FAILED], [0, 1, 2], "needed", [None, None, "not_eligible"]),
        ([HOLDS, BREAKS], [0, 1, 0], "needed", [None, "not_eligible"]),  # equal texts are two members
        ([HOLDS, BREAKS], [0, 1], "all", [None, None]),
        ([HOLDS], [0], "none", ["judging_off"]),
    ],
)
def test_soft_criteria(
    answers: list[Verdict], members: list[int], judging: Any, gates: list[str | None]
) -> None:
    assert gate_soft([CHECK, SOFT], [[v, None] for v in answers], members, judging) == gates
