"""OpenRLHF: rewards of single responses that meet their group in the service.

OpenRLHF asks for one response at a time and has no hook for advantages, so the service's
`/compat/openrlhf/get_reward` holds each response until its group is whole, and answers its advantage.
OpenRLHF can call that route by itself (`--reward.remote_url`). From here it is called with this package's
deadline, retries and token, and what is not scored stops the run instead of becoming a reward of None:

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
import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict

from rubricate_clients._messages import call_headers, read
from rubricate_clients.adapters._background import close_with, submit
from rubricate_clients.adapters._scoring import Unscored
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.client import AsyncRewardClient
from rubricate_clients.errors import AnswerMismatch, DeadlineExceeded, InvalidRequest, ServiceUnavailable

ROUTE = "/compat/openrlhf/get_reward"
LOGGED = (
    "outcome", "quality", "a_out", "a_proc", "advantage", "eligible", "valid", "quality_valid", "incomplete",
    "members",
)  # fmt: skip
"""Names of the extra logs, the same for every response; `valid` is 0.0 for one that is not scored."""

RewardFunction = Callable[[Sequence[str], Sequence[str], Sequence[Any]], dict[str, Any]]
log = logging.getLogger("rubricate.adapters")


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
        RewardServiceError: They cannot be sent, or are not scored and `unscored` is `raise`. OpenRLHF logs
            it, and stops when it finds no reward.
    """
    return _default_reward()(queries, prompts, labels)


def reward_with(**settings: Any) -> RewardFunction:
    """`rdan_reward` with settings given here instead of in the environment; see `AdapterSettings`."""
    service = _Service(AdapterSettings.read(**settings))

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
        return submit(service.rewards(queries, prompts, labels)).result().model_dump()

    return reward_func


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


class _Service:
    """The route, as `AdapterSettings` say."""

    def __init__(self, settings: AdapterSettings) -> None:
        token = settings.token.get_secret_value() if settings.token else None
        self._settings = settings
        self._client = AsyncRewardClient(settings.url, token, settings.timeout_s)
        close_with(self, self._client)

    async def rewards(self, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> Rewards:
        body = {"query": list(queries), "prompts": list(prompts), "labels": list(labels)}
        try:
            payload = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InvalidRequest(f"a label cannot be written as JSON: {error}") from error
        # one key for all tries: a try that is sent again is no second member of its group
        call = self._client._call(ROUTE, payload, call_headers(run=self._settings.run))
        try:
            answer = read(Rewards, await self._client._send(call))
        except (ServiceUnavailable, DeadlineExceeded) as error:
            return self._masked(len(queries), error)
        return _checked(answer, len(queries))

    def _masked(self, count: int, error: Exception) -> Rewards:
        if self._settings.unscored == "raise":
            raise Unscored(
                f"{count} responses could not be scored: {error}. "
                "To leave such responses out of training instead, set `unscored` to `mask`"
            ) from error
        log.warning("%d responses could not be scored and are masked: %s", count, error)
        zeros = [0.0] * count
        return Rewards(rewards=zeros, scores=zeros, extra_logs=dict.fromkeys(LOGGED, zeros))


def _checked(answer: Rewards, count: int) -> Rewards:
    lists = {"rewards": answer.rewards, "scores": answer.scores}
    lists |= {name: answer.extra_logs.get(name, []) for name in LOGGED}
    wrong = [name for name, values in lists.items() if len(values) != count]
    if wrong:
        raise AnswerMismatch(
            f"the answer of {ROUTE} has not {count} values for {', '.join(wrong)}; are client and service of "
            "one version?",
            200,
        )
    return answer.model_copy(update={"extra_logs": {name: answer.extra_logs[name] for name in LOGGED}})


@cache
def _default_reward() -> RewardFunction:
    return reward_with()


@cache
def _default_agent() -> type[Any]:
    return agent_with()


def __getattr__(name: str) -> Any:
    if name == "AgentExecutor":
        return _default_agent()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
