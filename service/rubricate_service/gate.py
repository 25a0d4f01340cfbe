"""Which criteria the judge must be asked about, and why not the others (contract section 4). Pure.

Never a judgement that was not needed: a skipped verdict cannot move an RDAN advantage.
"""

from __future__ import annotations

from collections.abc import Sequence

from rubricate_clients.wire import Judging, Options, Rubric, ScoreRequest, SkipReason
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
    if method == "gdpo" or options.reward in _EVERY_SCORE or _needs_partial_quality(options):
        return "all"
    return "eligible"


def _needs_partial_quality(options: Options) -> bool:
    """Whether a method reads the gated reward of partial outcomes, which is outcome x quality for all."""
    spec = options.advantages
    on_reward = spec is not None and spec.method in _ON_REWARD
    return on_reward and options.reward == "gated" and options.outcome == "fraction"


def missing_scores(request: ScoreRequest) -> str | None:
    """Why the advantages asked for cannot be computed from what would be judged, or None when they can."""
    options, spec = request.options, request.options.advantages
    judging = resolve_judging(options)
    criteria = [r for group in request.groups for r in group.rubrics if r.criterion is not None]
    soft = any(not r.is_hard for r in criteria)
    if spec is None or judging == "all" or not criteria:
        return None
    why = None
    if spec.method == "gdpo" and soft:
        why = "gdpo normalises the quality of every response"
    elif spec.method in _ON_REWARD and options.reward in _EVERY_SCORE:
        why = f"{spec.method} on the reward `{options.reward}` needs every score"
    elif soft and _needs_partial_quality(options):
        why = f"{spec.method} on the reward `gated` of partial outcomes needs the quality of every response"
    elif soft and spec.method in _ON_REWARD and options.reward == "gated" and judging != "eligible":
        why = f"{spec.method} on the reward `gated` needs the quality of every eligible response"
    if why is None:
        return None
    return f"{why}, and judging `{judging}` skips some; leave `judging` out or set it to `all`"


def gate_hard(
    rubrics: Sequence[Rubric], verdicts: Sequence[Verdict | None], faulty: bool, options: Options
) -> SkipReason | None:
    """Why the hard criteria of one response are not asked, or None when they are.

    A check that could not be decided on this one response does not close the gate: a criterion that
    fails would still make the outcome 0.

    Args:
        rubrics: The group's.
        verdicts: Those of the checks; None for criteria.
        faulty: A hard check of the group could not even be built, so no response of it can be eligible.
        options: The request's. With the outcome `fraction` every hard rubric moves the outcome.
    """
    judging = resolve_judging(options)
    if judging == "none":
        return "judging_off"
    if judging == "all" or options.outcome == "fraction":
        return None
    fails = any(
        v is not None and v.holds is False for r, v in zip(rubrics, verdicts, strict=True) if r.is_hard
    )
    # outcomes of such a group are 0 or open: equal, which is nothing to RDAN and something to NGRPO
    method = options.advantages.method if options.advantages else None
    return "not_eligible" if fails or (faulty and method != "rdan_ngrpo") else None


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
