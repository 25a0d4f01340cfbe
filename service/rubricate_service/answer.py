"""The answer on the wire: groups as JSON, with the advantages that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rubricate_clients.advantages import Advantages, compute
from rubricate_clients.wire import AdvantageSpec
from rubricate_service.pipeline import ScoredGroup


def advantages_of(groups: Sequence[ScoredGroup], spec: AdvantageSpec) -> Advantages:
    """Advantages of all responses of the groups, flat, in their order."""
    flat = [(group.index, n) for group in groups for n in group.numbers]
    # gdpo takes a missing quality of an ineligible response for one that was gated away; requests that
    # gate it are refused before they are scored, so here it is one that the judge failed to give
    gated = spec.method != "gdpo"
    return compute(
        spec.method,
        [index for index, _ in flat],
        outcome=[n.outcome for _, n in flat],
        quality=[n.quality for _, n in flat],
        eligible=[n.eligible if gated else True for _, n in flat],
        valid=[n.valid for _, n in flat],
        reward=[n.reward for _, n in flat],
        **spec.parameters(),
    )


def group_json(group: ScoredGroup) -> dict[str, Any]:
    """One group as JSON, in the request's order of responses and rubrics."""
    rows = [
        [verdict.wire(rubric.id) for rubric, verdict in zip(group.plan.rubrics, verdicts, strict=True)]
        for verdicts in group.verdicts
    ]
    return {
        "id": group.plan.id,
        "responses": [
            {
                "id": id,
                "rubrics": rows[answer],
                "outcome": n.outcome,
                "quality": n.quality,
                "valid": n.valid,
                "eligible": n.eligible,
                "reward": n.reward,
            }
            for id, answer, n in zip(group.plan.response_ids, group.plan.members, group.numbers, strict=True)
        ],
    }


def groups_json(groups: Sequence[ScoredGroup], spec: AdvantageSpec | None) -> list[dict[str, Any]]:
    """Groups as JSON, each response with its advantages where a method is given."""
    answers = [group_json(group) for group in groups]
    if spec is not None:
        computed = advantages_of(groups, spec)
        responses = [response for answer in answers for response in answer["responses"]]
        for i, response in enumerate(responses):
            if computed.a_out is not None and computed.a_proc is not None:
                response["a_out"] = computed.a_out[i]
                response["a_proc"] = computed.a_proc[i]
            response["advantage"] = computed.advantages[i]
    return answers
