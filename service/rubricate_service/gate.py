"""Which criteria the judge must be asked about, and why not the others (contract section 4). Pure.

Never a judgement that was not needed: a skipped verdict cannot move an RDAN advantage.
"""

from __future__ import annotations

from collections.abc import Sequence

from rubricate_clients.wire import AdvantageSpec, Judging, Options, Rubric, SkipReason
from rubricate_service.aggregate import hard_outcome
from rubricate_service.verdict import Verdict

_EVERY_SCORE = frozenset({"aon", "csr", "points"})
_ON_REWARD = frozenset({"ngrpo", "grpo", "dr_grpo", "rloo"})


def resolve_judging(options: Options) -> Judging:
    """The judging asked for, or the least that the advantages and the reward need."""
    if options.judging is not None:
        return options.judging
    method = options.advantages.method if options.advantages else None
    if method in ("rdan", "rdan_ngrpo"):
        return "needed"
    if method == "gdpo" or options.reward in _EVERY_SCORE:
        return "all"
    return "eligible"


def missing_scores(spec: AdvantageSpec, judging: Judging, reward: str) -> str | None:
    """Why these advantages cannot be computed from what is judged, or None when they can."""
    if spec.method == "gdpo" and judging != "all":
        return "gdpo normalises the quality of every response"
    if spec.method in _ON_REWARD:
        if reward in _EVERY_SCORE and judging != "all":
            return f"{spec.method} on the reward `{reward}` needs every score"
        if reward == "gated" and judging in ("needed", "none"):
            return f"{spec.method} on the reward `gated` needs the quality of every eligible response"
    return None


def gate_hard(
    rubrics: Sequence[Rubric], verdicts: Sequence[Verdict | None], faulty: bool, judging: Judging
) -> SkipReason | None:
    """Why the hard criteria of one response are not asked, or None when they are.

    `verdicts` are those of the checks. `faulty`: a hard check of the group could not even be built, so
    no response of the group can be eligible. A check that could not be decided on this one response
    does not close the gate: a criterion that fails would still make the outcome 0.
    """
    if judging == "none":
        return "judging_off"
    if judging == "all":
        return None
    fails = any(
        v is not None and v.holds is False for r, v in zip(rubrics, verdicts, strict=True) if r.is_hard
    )
    return "not_eligible" if fails or faulty else None


def gate_soft(
    rubrics: Sequence[Rubric],
    answers: Sequence[Sequence[Verdict | None]],
    members: Sequence[int],
    judging: Judging,
) -> list[SkipReason | None]:
    """Per distinct answer, why its soft criteria are not asked, or None when they are.

    `needed` counts responses, not distinct answers: two equal answers are two members of the group.
    """
    if judging == "none":
        return ["judging_off"] * len(answers)
    if judging == "all":
        return [None] * len(answers)
    eligible = [hard_outcome(rubrics, verdicts, "all")[1] for verdicts in answers]
    if judging == "needed" and sum(eligible[answer] for answer in members) < 2:
        return ["group_too_small" if holds else "not_eligible" for holds in eligible]
    return [None if holds else "not_eligible" for holds in eligible]
