"""Which criteria are asked: the contract's table of judging modes, and what each method needs."""

from __future__ import annotations

from typing import Any

import pytest

from rubricate_clients.wire import AdvantageSpec, Options, Rubric
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


@pytest.mark.parametrize(
    ("method", "judging", "reward", "refused"),
    [
        ("gdpo", "all", "gated", False),
        ("gdpo", "eligible", "gated", True),
        ("grpo", "eligible", "gated", False),
        ("grpo", "needed", "gated", True),
        ("rloo", "none", "gated", True),
        ("rloo", "none", "outcome", False),
        ("ngrpo", "eligible", "csr", True),
        ("rdan", "needed", "gated", False),
    ],
)
def test_a_method_is_refused_when_its_scores_are_gated_away(
    method: Any, judging: Any, reward: str, refused: bool
) -> None:
    assert (missing_scores(AdvantageSpec(method=method), judging, reward) is not None) is refused


@pytest.mark.parametrize(
    ("verdict", "faulty", "judging", "gate"),
    [
        (HOLDS, False, "eligible", None),
        (BREAKS, False, "eligible", "not_eligible"),
        (BREAKS, False, "all", None),
        (HOLDS, False, "none", "judging_off"),
        # undecided on this response: a criterion that fails would still make the outcome 0
        (FAILED, False, "needed", None),
        # undecided on every response: none can be eligible
        (FAILED, True, "needed", "not_eligible"),
    ],
)
def test_hard_criteria(verdict: Verdict, faulty: bool, judging: Any, gate: str | None) -> None:
    assert gate_hard([CHECK, SOFT], [verdict, None], faulty, judging) == gate


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
