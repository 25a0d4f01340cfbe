"""Groups of a file through the engine, in batches, with the answers in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rubricate_clients.wire import Group, Options, ScoreRequest
from rubricate_service.answer import group_json
from rubricate_service.pipeline import Scorer

_BATCH = 32
_IN_FLIGHT = 3
_DEADLINE_S = 600.0
"""Of a batch, where the options name none: nobody waits for it as a trainer does."""


async def score_groups(
    scorer: Scorer, groups: Sequence[Group], options: Options, console: Console
) -> list[dict[str, Any]]:
    """The answer for each group, as in `POST /v1/score`; paths in it are those within its group.

    Args:
        scorer: Scores.
        groups: Their ids need not be unique; a group without one gets its position.
        options: As in the request, but for advantages, which are not computed.
        console: Where the progress is shown, if that is a terminal.
    """
    options = options.model_copy(update={"advantages": None, "deadline_s": options.deadline_s or _DEADLINE_S})
    slots = asyncio.Semaphore(_IN_FLIGHT)
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("groups", total=len(groups))

        async def batch(start: int) -> list[dict[str, Any]]:
            async with slots:
                answers = await _score(scorer, groups[start : start + _BATCH], options, start)
            progress.update(bar, advance=len(answers))
            return answers

        batches = await asyncio.gather(*(batch(start) for start in range(0, len(groups), _BATCH)))
    return [answer for answers in batches for answer in answers]


async def _score(
    scorer: Scorer, groups: Sequence[Group], options: Options, start: int
) -> list[dict[str, Any]]:
    # ids are unique within a request; those of a file's groups need not be
    numbered = [group.model_copy(update={"id": str(position)}) for position, group in enumerate(groups)]
    request = ScoreRequest.model_construct(groups=numbered, options=options)
    async with aclosing(scorer.stream(request, scorer.run(options))) as stream:
        scored = sorted([group async for group in stream], key=lambda group: group.index)
    answers = [group_json(group) for group in scored]
    for position, (group, answer) in enumerate(zip(groups, answers, strict=True)):
        answer["id"] = str(start + position) if group.id is None else group.id
        for response in answer["responses"]:
            for verdict in response["rubrics"]:
                if error := verdict.get("error"):
                    error["path"] = error["path"].removeprefix(f"groups[{position}].")
    return answers
