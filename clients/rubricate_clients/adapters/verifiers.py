"""verifiers: RDAN as the reward of a group in its v0, metrics and a reward for each rollout in its v1.

v0 (`verifiers` below 0.4, there also `verifiers.legacy`) scores whole groups, and its trainers subtract the
group's mean, which RDAN's advantages do not have. So they are the reward:

    from rubricate_clients.adapters.verifiers import RDANRubric

    environment = vf.SingleTurnEnv(dataset=dataset, rubric=RDANRubric(url="http://127.0.0.1:8080"))

v1 scores each rollout alone, so that RDAN is the trainer's part (`rubricate_clients.adapters.prime_rl`):

    [env.taskset.task.metrics.rdan]
    fn = "rubricate_clients.adapters.verifiers:rdan_metrics"
    [env.taskset.task.rewards.reward]
    fn = "rubricate_clients.adapters.verifiers:rdan_score"

The rubrics of a row are `info["rubrics"]` in v0 and the field `rubrics` of the task's data in v1; a
`reference` beside them is taken too. Signatures are those of verifiers 0.3.1 (v0, v1) and 0.4.0 (v1).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cache
from typing import Any

from rubricate_clients.adapters._connection import Unscored
from rubricate_clients.adapters._hooks import Hooks, refuse_parameters
from rubricate_clients.adapters._rows import Sample
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.errors import InvalidRequest

KEPT = "rubricate"
"""Name of what is kept in a v0 state (its numbers) and in a v1 trace's `info` (its reward)."""

GroupReward = Callable[[list[Any]], Coroutine[Any, Any, list[float]]]
Metrics = Callable[[Any, Any], Coroutine[Any, Any, dict[str, float]]]


# --- v0 -------------------------------------------------------------------------------------------------


async def rdan_reward(states: list[Any]) -> list[float]:
    """A v0 group reward function: RDAN's advantage of each state, all of them one group in one POST.

    A `Rubric` of verifiers turns whatever a function raises into rewards of 0; `RDANRubric` lets it through.

    Args:
        states: Rollouts of one prompt; those with an `error` are left out of the group.

    Returns:
        An advantage for each state, 0.0 where it was not scored. The numbers are kept in the states.

    Raises:
        RewardServiceError: The states cannot be sent, or are not scored and `unscored` is `raise`.
    """
    return await _REWARDS.default()(states)


def reward_with(**settings: Any) -> GroupReward:
    """`rdan_reward` with settings given here instead of in the environment; see `AdapterSettings`."""
    return _REWARDS.given(**settings)


def _group_reward(settings: AdapterSettings) -> GroupReward:
    scoring = Scoring(settings)

    async def rdan_reward(states: list[Any]) -> list[float]:
        whole = [state for state in states if state.get("error") is None]
        scores = dict(zip(map(id, whole), await scoring.score([_of_state(s) for s in whole]), strict=True))
        for state in states:
            score = scores.get(id(state), Score(why="the rollout failed"))
            state[KEPT] = {"advantage": score.advantage or 0.0, **score.numbers()}
        return [state[KEPT]["advantage"] for state in states]

    return rdan_reward


_REWARDS = Hooks(_group_reward)


@cache
def _rubric_class() -> type[Any]:
    try:
        from verifiers.rubrics.rubric import Rubric
    except ImportError as error:
        raise ImportError(
            "RDANRubric needs verifiers with its v0 (pip install 'verifiers>=0.1.14,<0.4'). From 0.4 on "
            "there is none: use rdan_metrics and rdan_score, and the trainer's algorithm for RDAN"
        ) from error

    class RDANRubric(Rubric):  # type: ignore[misc]
        """A v0 rubric: RDAN is the reward, and its numbers are metrics.

        Args:
            **settings: Fields of `AdapterSettings`; the rest is read from the environment.
        """

        def __init__(self, **settings: Any) -> None:
            names = list(Score().numbers())
            functions = [_kept_group("rdan_reward", "advantage"), *(_kept(name) for name in names)]
            super().__init__(funcs=functions, weights=[1.0, *(0.0 for _ in names)])
            self._reward = reward_with(**settings)

        async def score_group(self, states: list[Any]) -> None:
            """Score a group; what cannot be scored is raised, where v0 would count it as 0."""
            await self._reward(states)
            await super().score_group(states)

    return RDANRubric


def _kept_group(name: str, key: str) -> Callable[[list[Any]], list[float]]:
    # v0 tells by the argument's name that this one needs whole groups
    def kept(states: list[Any]) -> list[float]:
        return [state[KEPT][key] for state in states]

    kept.__name__ = name
    return kept


def _kept(name: str) -> Callable[[Any], float]:
    def kept(state: Any) -> float:
        return float(state[KEPT][name])

    kept.__name__ = name
    return kept


def _of_state(state: Any) -> Sample:
    info = state.get("info")
    info = info if isinstance(info, Mapping) else {}
    return _sample(state["prompt"], state["completion"], info.get("rubrics"), info.get("reference"))


# --- v1 -------------------------------------------------------------------------------------------------


async def rdan_metrics(task: Any, trace: Any) -> dict[str, float]:
    """A v1 metric: the numbers of one rollout, each a metric of its name.

    An error here fails the trace, and trainers leave failed traces out.

    Args:
        task: The task's data.
        trace: The rollout; its last reply is the response.

    Raises:
        RewardServiceError: The rollout cannot be sent, or the service is gone and `unscored` is `raise`.
    """
    return await _METRICS.default()(task, trace)


async def rdan_score(task: Any, trace: Any) -> float:
    """A v1 reward: the gated reward in [0, 1] that `rdan_metrics` has found; v1 runs metrics first.

    It is for curves and for trainers without RDAN. A rollout whose quality is undecided fails by it, where by
    its metrics alone it would keep its part in RDAN's outcome channel.

    Raises:
        Unscored: The reward is undecided, whatever `unscored` says: a reward cannot be masked here.
        ValueError: `rdan_metrics` is no metric of the task.
    """
    found = trace.info.get(KEPT)
    if found is None:
        raise ValueError("rdan_score needs rubricate_clients.adapters.verifiers:rdan_metrics as a metric")
    if found["reward"] is None:
        raise Unscored(f"the rollout's reward is undecided: {found['why'] or 'its quality was not judged'}")
    return float(found["reward"])


def metrics_with(**settings: Any) -> Metrics:
    """`rdan_metrics` with settings given here instead of in the environment; see `AdapterSettings`.

    Raises:
        ValueError: A setting is not right, or is one of the trainer's algorithm.
    """
    refuse_parameters(settings, "the trainer")
    return _METRICS.given(**settings)


def _metric(settings: AdapterSettings) -> Metrics:
    scoring = Scoring(settings)

    async def rdan_metrics(task: Any, trace: Any) -> dict[str, float]:
        sample = _sample(
            task.prompt, trace.last_reply, getattr(task, "rubrics", None), getattr(task, "reference", None)
        )
        [score] = await scoring.score([sample], advantages=False)
        trace.info[KEPT] = {"reward": score.reward, "why": score.why}
        return score.numbers()

    return rdan_metrics


_METRICS = Hooks(_metric)


# --- both -----------------------------------------------------------------------------------------------


def _sample(prompt: Any, response: Any, rubrics: Any, reference: Any) -> Sample:
    if rubrics is None:
        raise InvalidRequest(
            'the row has no rubrics: v0 reads info["rubrics"], v1 `rubrics` of the task data'
        )
    return Sample(
        prompt=_plain(prompt),
        response=_plain(response),
        rubrics=[_plain_object(r) for r in rubrics] if isinstance(rubrics, list) else rubrics,
        group=0,
        reference=reference if isinstance(reference, str) else None,
    )


def _plain(messages: Any) -> Any:
    """Messages as plain objects; verifiers has them as pydantic models."""
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        return messages
    return [_plain_object(message) for message in messages]


def _plain_object(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else value


def __getattr__(name: str) -> Any:
    if name == "RDANRubric":
        return _rubric_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
