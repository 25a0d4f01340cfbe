"""`POST /compat/openrlhf/get_reward`: what OpenRLHF's `--reward.remote_url` speaks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, model_validator

from rubricate_clients.decoded import answer_after, with_opened_thinking, without_end_tokens
from rubricate_service.compat.compat import compat_of
from rubricate_service.compat.errors import invalid_at
from rubricate_service.compat.label import Label, read_label
from rubricate_service.compat.result import Result
from rubricate_service.compat.task import Context
from rubricate_service.compat.waits import Member
from rubricate_service.http.auth import needs
from rubricate_service.importers.node import Node
from rubricate_service.routes.body import body_schema, read_body

router = APIRouter(tags=["trainers"], dependencies=[needs("score")])


class RewardRequest(BaseModel):
    """Body of OpenRLHF's reward call: lists of one length, each usually of one item or empty.

    Attributes:
        query: Prompt and response, decoded with special tokens.
        prompts: The prompts as they were given to the model.
        labels: The data set's label of each, which carries the rubrics.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    query: list[str]
    prompts: list[str]
    labels: list[Label]

    @model_validator(mode="after")
    def _same_lengths(self) -> Self:
        lengths = len(self.query), len(self.prompts), len(self.labels)
        if len(set(lengths)) > 1:
            query, prompts, labels = lengths
            raise ValueError(
                f"has {query} queries, {prompts} prompts and {labels} labels; need as many of each"
            )
        return self


class RewardAnswer(BaseModel):
    """What the trainer trains on (`rewards`), filters by (`scores`) and logs, one number per response."""

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


@router.post(
    "/compat/openrlhf/get_reward",
    summary="Rewards for OpenRLHF",
    response_model=RewardAnswer,
    openapi_extra=body_schema(RewardRequest),
)
async def get_reward(request: Request) -> Response:
    """Hold each response until its group is whole, and answer its advantage.

    `rewards` is the RDAN advantage within the group, for `--algo.advantage.estimator dr_grpo`, and `scores`
    the outcome, for dynamic filtering.
    """
    body = await read_body(request, RewardRequest)
    compat = compat_of(request)
    members = await compat.members(request, len(body.query), partial(_member, body))

    def render(results: Sequence[Result]) -> dict[str, Any]:
        logs = [result.numbers() for result in results]
        return {
            "rewards": [r.reward_in(member.task) for member, r in zip(members, results, strict=True)],
            "scores": [_score(result) for result in results],
            "extra_logs": {name: [log[name] for log in logs] for name in (logs[0] if logs else ())},
        }

    return await compat.answer(request, members, render)


def _member(body: RewardRequest, index: int, context: Context) -> Member:
    prompt = body.prompts[index]
    label_at, text_at = f"labels[{index}]", f"query[{index}]"
    task = read_label(body.labels[index], label_at, Node(prompt, f"prompts[{index}]"), context)
    try:
        text = answer_after(prompt, body.query[index])
    except ValueError as error:
        raise invalid_at(text_at, ("", str(error))) from None
    text = without_end_tokens(text)
    if task.options.thinking == "strip":
        text = with_opened_thinking(prompt, text)
    return Member(task, text, label_at, text_at)


def _score(result: Result) -> float:
    """The outcome; of a masked response the mean of its group, which leaves that mean as it is.

    The trainer's filter keeps or drops a group by the mean of its scores.
    """
    return result.group_outcome if result.outcome is None else result.outcome
