"""`POST /compat/slime`: what slime's `--rm-type remote_rm --rm-url` speaks."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from rubricate_clients.decoded import with_opened_thinking, without_end_tokens
from rubricate_clients.wire import Prompt
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

_NAMES = ("reward", *Result(members=1).numbers())


class SlimeRequest(BaseModel):
    """Body of slime's reward call: one sample.

    Attributes:
        prompt: As it was given to the model.
        response: What the model said, end tokens included.
        label: The data set's label, which carries the rubrics.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    prompt: Prompt
    response: str
    label: Label | None = None


@router.post(
    "/compat/slime",
    summary="Reward for slime",
    response_model=dict[str, float] | float,
    openapi_extra=body_schema(SlimeRequest),
)
async def slime(request: Request, key: str | None = None) -> Response:
    """Answer the sample's numbers, for `--reward-key`; with `?key=NAME` the one of that name alone.

    The names: `reward`, `outcome`, `quality`, `a_out`, `a_proc`, `advantage`, `eligible`, `valid`,
    `quality_valid`, `incomplete`, `members`. `docs/trainers/slime.md` says which to train on.
    """
    body = await read_body(request, SlimeRequest)
    if key is not None and key not in _NAMES:
        raise invalid_at("?key", ("", f"{key!r} is no name of a number; there are {', '.join(_NAMES)}"))
    compat = compat_of(request)
    members = await compat.members(request, 1, lambda _, context: _member(body, context))

    def render(results: Sequence[Result]) -> dict[str, float] | float:
        numbers = {"reward": results[0].reward_in(members[0].task), **results[0].numbers()}
        return numbers if key is None else numbers[key]

    return await compat.answer(request, members, render)


def _member(body: SlimeRequest, context: Context) -> Member:
    asked = body.prompt if isinstance(body.prompt, str) else [turn.model_dump() for turn in body.prompt]
    task = read_label(body.label, "label", Node(asked, "prompt"), context)
    text = without_end_tokens(body.response)
    if isinstance(asked, str) and task.options.thinking == "strip":
        text = with_opened_thinking(asked, text)
    return Member(task, text, "label", "response")
