"""OpenRLHF: rewards of single responses that meet their group in the service.

OpenRLHF asks for one response at a time and has no hook for advantages, so the service's
`/compat/openrlhf/get_reward` holds each response until its group is whole, and answers its advantage.
OpenRLHF can call that route by itself (`--reward.remote_url`). From here it is called with this package's
deadline, retries and token, and a service that is gone stops the run instead of becoming a reward of None:

    agent.py  (--train.agent_func_path agent.py)
        from rubricate_clients.adapters.openrlhf import AgentExecutor

    reward.py  (--reward.remote_url reward.py)
        from rubricate_clients.adapters.openrlhf import rdan_reward as reward_func

Prefer the first. OpenRLHF runs a reward function in a thread for each response, of which asyncio has at
most 32, and fewer on small machines. With more responses in flight than threads, groups wait for members that
wait for a thread, and are scored incomplete when the service's time-out for groups is over.

Signatures are those of OpenRLHF 0.11.2 (`openrlhf/utils/agent.py`, `openrlhf/trainer/ray/vllm_engine.py`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict

from rubricate_clients._messages import read
from rubricate_clients.adapters._background import submit
from rubricate_clients.adapters._connection import Connection, tell_masked
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.errors import AnswerMismatch, DeadlineExceeded, InvalidRequest, ServiceUnavailable

ROUTE = "/compat/openrlhf/get_reward"
RULE_ERROR = "rule_error"
"""Type of the route's error for a response on which a rule raised; it says nothing of the other responses."""
LOGGED = (
    "outcome", "quality", "a_out", "a_proc", "advantage", "eligible", "valid", "quality_valid", "incomplete",
    "members",
)  # fmt: skip
"""Names of the extra logs, the same for every response; `valid` is 0.0 for one that is not scored."""

RewardFunction = Callable[[Sequence[str], Sequence[str], Sequence[Any]], dict[str, Any]]


class Rewards(BaseModel):
    """The route's answer: lists with an item for each response."""

    model_config = ConfigDict(allow_inf_nan=False)

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


def rdan_reward(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """OpenRLHF's `reward_func`: `rewards` are RDAN's advantages, `scores` the outcomes.

    Args:
        queries: Prompt and response of each, decoded with special tokens.
        prompts: The prompts alone.
        labels: The data set's labels: JSON `{"rubrics": [...], "size": 8}`.

    Returns:
        `rewards`, `scores` and `extra_logs`, with lists of floats.

    Raises:
        RewardServiceError: One cannot be sent, or the service is gone and `unscored` is `raise`. OpenRLHF
            logs it, and stops when it finds no reward.
    """
    return _FUNCTIONS.default()(queries, prompts, labels)


def reward_with(**settings: Any) -> RewardFunction:
    """`rdan_reward` with settings given here instead of in the environment; see `AdapterSettings`."""
    return _FUNCTIONS.given(**settings)


def _function(settings: AdapterSettings) -> RewardFunction:
    service = _Service(settings)

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
        return submit(service.rewards(queries, prompts, labels)).result().model_dump()

    return reward_func


_FUNCTIONS = Hooks(_function)


def agent_with(**settings: Any) -> type[Any]:
    """The class `AgentExecutor` with settings given here; see `AdapterSettings`.

    Raises:
        ImportError: OpenRLHF is not installed.
    """
    try:
        from openrlhf.utils.agent import SingleTurnAgentExecutor
    except ImportError as error:
        raise ImportError(
            f"AgentExecutor needs OpenRLHF in this environment ({error}): pip install openrlhf"
        ) from error

    class RDANAgentExecutor(SingleTurnAgentExecutor):  # type: ignore[misc]
        """OpenRLHF's single turn, with the reward awaited in the engine's own loop: no thread is held."""

        def __init__(self) -> None:
            super().__init__(None)
            self._service = _Service(AdapterSettings.read(**settings))

        async def execute(
            self,
            prompt: str,
            label: Any,
            sampling_params: Any,
            max_length: int,
            hf_tokenizer: Any,
            llm_engine: Any,
            images: Any = None,
        ) -> dict[str, Any]:
            """Generate one response and reward it."""
            output: dict[str, Any] = await super().execute(
                prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images
            )
            query = hf_tokenizer.decode(output["observation_tokens"], skip_special_tokens=False)
            work = submit(self._service.rewards([query], [prompt], [label]))
            answer = await asyncio.wrap_future(work)
            logs = {name: values[0] for name, values in answer.extra_logs.items()}
            return {**output, "reward": answer.rewards[0], "scores": answer.scores[0], "extra_logs": logs}

    return RDANAgentExecutor


class _Service(Connection):
    """The route, as `AdapterSettings` say."""

    async def rewards(self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> Rewards:
        """A POST for each response, so that what befalls one befalls no other."""
        rows = zip(queries, prompts, labels, strict=True)
        answers = await asyncio.gather(*(self._reward(*row) for row in rows))
        return Rewards(
            rewards=[answer.rewards[0] for answer in answers],
            scores=[answer.scores[0] for answer in answers],
            extra_logs={name: [answer.extra_logs[name][0] for answer in answers] for name in LOGGED},
        )

    async def _reward(self, query: str, prompt: str, label: Any) -> Rewards:
        try:
            body = json.dumps({"query": [query], "prompts": [prompt], "labels": [label]}, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidRequest(f"a label cannot be written as JSON: {error}") from error
        try:
            # one key for all tries: a try that is sent again is no second member of its group
            answer = read(Rewards, await self._client.post(ROUTE, body.encode(), run=self.settings.run))
        except InvalidRequest as error:
            if error.type != RULE_ERROR:
                raise
            tell_masked(1, str(error))
            return _masked()
        except (ServiceUnavailable, DeadlineExceeded) as error:
            # a service in good health names the rubrics that it could not decide
            if any("rubrics" in detail.path for detail in error.details):
                tell_masked(1, str(error))
            else:
                self._lost(1, str(error), error)
            return _masked()
        return _checked(answer)


def _masked() -> Rewards:
    return Rewards(rewards=[0.0], scores=[0.0], extra_logs={name: [0.0] for name in LOGGED})


def _checked(answer: Rewards) -> Rewards:
    lists = {"rewards": answer.rewards, "scores": answer.scores}
    lists |= {name: answer.extra_logs.get(name, []) for name in LOGGED}
    if wrong := [name for name, values in lists.items() if len(values) != 1]:
        raise AnswerMismatch(
            f"the answer of {ROUTE} has not one value for {', '.join(wrong)}; are client and service of one "
            "version?",
            200,
        )
    return answer


@cache
def _default_agent() -> type[Any]:
    return agent_with()


def __getattr__(name: str) -> Any:
    if name == "AgentExecutor":
        return _default_agent()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
