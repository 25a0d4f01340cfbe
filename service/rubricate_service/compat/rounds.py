"""Scoring a round: the members of a group that are scored together, and one of them once more."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from uuid import uuid4

from rubricate_service.compat.errors import Unavailable
from rubricate_service.compat.place import Place
from rubricate_service.compat.result import Result, broken
from rubricate_service.compat.task import Task
from rubricate_service.errors import ApiError, told_without_texts

log = logging.getLogger("rubricate.compat")

Rate = Callable[[Task, Sequence[str]], Awaitable[list[Result]]]
"""Scores responses as one group; a result for each."""

_BROKE = "internal: scoring broke; the service's log says why"


async def score_round(rate: Rate, place: Place, task: Task, texts: Sequence[str]) -> list[Result]:
    """A result for each of the responses, also when scoring breaks.

    Results that may come out better at a retry name the round, whose texts are kept at the place for that.
    """
    try:
        results = await rate(task, texts)
    except ApiError as error:
        results = broken(task, len(texts), error.message, is_final=error.status == 422)
    except Exception as error:
        log.error("scoring %d responses broke: %s", len(texts), told_without_texts(error))  # noqa: TRY400
        results = broken(task, len(texts), _BROKE)
    if all(result.is_final for result in results):
        return results
    round = uuid4().hex
    try:
        await place.keep(round, texts)
    except Unavailable as error:
        log.warning("a round is not kept for retries: %s", error.message)
        return results
    return [r if r.is_final else r.model_copy(update={"round": round}) for r in results]


async def score_again(rate: Rate, place: Place, task: Task, text: str, round: str | None) -> Result | None:
    """The result of one response within its round; None when that is not kept any more.

    Raises:
        ApiError: It cannot be scored now, or the place does not answer.
    """
    kept = None if round is None else await place.kept(round)
    if kept is None:
        return None
    others = list(kept)
    others.remove(text)
    results = await rate(task, [text, *others])
    return results[0].model_copy(update={"round": round})
