"""What every adapter does with its trainer's samples: one POST a batch, and no score that was not given."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from rubricate_clients.adapters._background import submit
from rubricate_clients.adapters._connection import Connection, tell_masked
from rubricate_clients.adapters._rows import Sample, groups_of
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.errors import DeadlineExceeded, ServiceUnavailable
from rubricate_clients.wire import FailureKind, Options, ScoreAnswer, ScoredResponse


@dataclass(frozen=True, slots=True)
class Score:
    """What the service found out about one sample; None is undecided, and never 0.

    Attributes:
        outcome: In [0, 1]; None when a hard rubric could not be decided.
        quality: In [0, 1]; None when there is none, or it was not needed or not decided.
        eligible: Whether all hard rubrics hold.
        valid: Whether the outcome is decided. Samples that are not valid are to be masked.
        reward: The gated reward in [0, 1].
        a_out: RDAN's outcome channel; None where no group was given.
        a_proc: RDAN's quality channel, likewise.
        advantage: RDAN's advantage, likewise; 0.0 for samples that are not valid.
        rubrics: Score of each rubric by its id.
        failed: The kind of each failed verdict among its rubrics.
        why: The first of those failures in words, or why nothing was decided; empty without one.
    """

    outcome: float | None = None
    quality: float | None = None
    eligible: bool = False
    valid: bool = False
    reward: float | None = None
    a_out: float | None = None
    a_proc: float | None = None
    advantage: float | None = None
    rubrics: dict[str, float | None] = field(default_factory=dict)
    failed: tuple[FailureKind, ...] = ()
    why: str = ""

    @classmethod
    def of(cls, response: ScoredResponse) -> Self:
        """The score of a response in an answer."""
        errors = [v.error for v in response.rubrics if v.error is not None]
        unjudged = "" if response.valid else "a hard rubric was not judged"
        return cls(
            outcome=response.outcome,
            quality=response.quality,
            eligible=response.eligible,
            valid=response.valid,
            reward=response.reward,
            a_out=response.a_out,
            a_proc=response.a_proc,
            advantage=response.advantage,
            rubrics={v.id: v.score for v in response.rubrics},
            failed=tuple(error.kind for error in errors),
            why=f"{errors[0].kind}: {errors[0].message}" if errors else unjudged,
        )

    def numbers(self) -> dict[str, float]:
        """The same keys for every sample and only finite numbers, as trainers' loggers want it.

        An undecided number is 0.0 here: read it beside `valid` and `quality_valid`.
        """
        return {
            "outcome": self.outcome or 0.0,
            "quality": self.quality or 0.0,
            "eligible": float(self.eligible),
            "valid": float(self.valid),
            "quality_valid": float(self.quality is not None),
        }


class Scoring(Connection):
    """Scores samples; shared by all hooks of a process, from any thread and any event loop.

    Hooks that ask for the same batch, at the same time or one after the other, share one POST.
    """

    def __init__(self, settings: AdapterSettings) -> None:
        super().__init__(settings)
        self._flying: dict[bytes, asyncio.Task[ScoreAnswer]] = {}
        self._latest: tuple[bytes, asyncio.Task[ScoreAnswer]] | None = None

    async def score(
        self,
        samples: Sequence[Sample],
        *,
        advantages: bool = True,
        step: int | str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> list[Score]:
        """Score samples of whole groups, or single responses of groups with `advantages=False`.

        Args:
            samples: In any order; those with equal `group` are one group.
            advantages: Whether every group is whole, so that RDAN's advantages can be had.
            step: The trainer's step, for the service's logs.
            options: Fields of `Options` that the data set gives; they go before the settings.

        Returns:
            A score for each sample, in their order.

        Raises:
            InvalidRequest: A row cannot be sent.
            Unscored: The service gave no answer, or decided nothing of whole groups, and `unscored` is
                `raise`. A single response that it could not decide is masked.
            RewardServiceError: The service refused the request, so that no retry can help.
        """
        if not samples:
            return []
        groups, places = groups_of(samples)
        asked = self.settings.options(advantages=advantages).model_copy(update=options)
        work = submit(self._once(groups, asked, step))
        try:
            answer = await asyncio.wrap_future(work)
        except (ServiceUnavailable, DeadlineExceeded) as error:
            self._lost(len(samples), str(error), error)
            return [Score(why=str(error)) for _ in samples]
        scores = [Score.of(answer.groups[g].responses[r]) for g, r in places]
        if not any(score.valid for score in scores):
            if advantages:
                self._lost(len(scores), scores[0].why)
            else:  # the rest of the group may well be decided
                tell_masked(len(scores), scores[0].why)
        return scores

    def score_sync(
        self, samples: Sequence[Sample], *, advantages: bool = True, step: int | str | None = None
    ) -> list[Score]:
        """`score` for code that is not async."""
        return submit(self.score(samples, advantages=advantages, step=step)).result()

    async def _once(
        self, groups: list[dict[str, Any]], options: Options, step: int | str | None
    ) -> ScoreAnswer:
        """The answer to these groups; whoever asks for the same while or after it is fetched shares it."""
        # the process is part of it: what was in flight when a child was forked never lands there
        asked = json.dumps([os.getpid(), groups, options.model_dump()], sort_keys=True, default=repr)
        key = hashlib.sha256(asked.encode(errors="surrogatepass")).digest()
        task = self._flying.get(key) or self._answered(key)
        if task is None:
            call = self._client.score(groups, options, run=self.settings.run, step=step)
            task = self._flying[key] = asyncio.ensure_future(call)
            task.add_done_callback(lambda done: self._landed(key, done))
        return await asyncio.shield(task)

    def _answered(self, key: bytes) -> asyncio.Task[ScoreAnswer] | None:
        return self._latest[1] if self._latest is not None and self._latest[0] == key else None

    def _landed(self, key: bytes, task: asyncio.Task[ScoreAnswer]) -> None:
        del self._flying[key]
        if task.cancelled() or task.exception() is not None:
            return  # what failed is asked anew, as is an answer in which nothing was decided
        if any(response.valid for group in task.result().groups for response in group.responses):
            self._latest = key, task
