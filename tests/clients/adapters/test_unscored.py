"""Every adapter's hook when its scores do not come: it is told so, or masks, and never trains on a 0.

A table of hooks, and tables of faults: those of the service, after which nothing is known, and that of a
response which a service in good health could not decide. A hook gives for each response what it hands its
trainer: the number that is trained on, and whether it says that the response was scored.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from engines.process import free_port
from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Trouble, Wire
from rubricate_clients.adapters import (
    Unscored,
    ms_swift,
    open_instruct,
    openrlhf,
    skyrl,
    slime,
    trl,
    verifiers,
    verl,
)


class Given(NamedTuple):
    """What a hook hands its trainer for one response."""

    number: float | None
    scored: bool


Hook = Callable[[Any, dict[str, Any]], list[Given]]


def _trl(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    hook = trl.reward_with(num_generations=4, **settings)
    columns: dict[str, Any] = {"prompts": [PROMPT] * 4, "completions": RESPONSES, "rubrics": [rubrics] * 4}

    async def rewards() -> list[float | None]:
        return await hook(**columns)

    return [Given(reward, reward is not None) for reward in asyncio.run(rewards())]


def _slime(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    hook = slime.reward_with(**settings)
    samples: list[Any] = [
        SimpleNamespace(
            prompt=PROMPT, response=text, metadata={"rubrics": rubrics}, label=None, index=0, group_index=0
        )
        for text in RESPONSES
    ]
    for sample, reward in zip(samples, asyncio.run(hook(None, samples)), strict=True):
        sample.reward = reward
    _, advantages = slime.rdan_advantages(None, samples)
    removed = [getattr(sample, "remove_sample", False) for sample in samples]
    return [Given(a, not gone) for a, gone in zip(advantages, removed, strict=True)]


def _slime_one_by_one(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    hook = slime.reward_with(**settings)
    sample = SimpleNamespace(
        prompt=PROMPT, response=RESPONSES[0], metadata={"rubrics": rubrics}, label=None, index=0
    )
    reward = asyncio.run(hook(None, sample))
    assert isinstance(reward, dict)
    return [Given(reward["outcome"], bool(reward["valid"]))]


def _verifiers_v0(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    states: list[dict[str, Any]] = [
        {"prompt": PROMPT, "completion": text, "info": {"rubrics": rubrics}} for text in RESPONSES
    ]
    rewards = asyncio.run(verifiers.reward_with(**settings)(states))
    return [
        Given(reward, bool(state["rubricate"]["valid"]))
        for reward, state in zip(rewards, states, strict=True)
    ]


def _verifiers_v1(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    task = SimpleNamespace(prompt=PROMPT, rubrics=rubrics)
    trace = SimpleNamespace(last_reply=RESPONSES[0], info={})
    metrics = asyncio.run(verifiers.metrics_with(**settings)(task, trace))
    return [Given(metrics["outcome"], bool(metrics["valid"]))]


def _openrlhf(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    hook = openrlhf.reward_with(**settings)
    label = json.dumps({"rubrics": rubrics, "size": 4})
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda text: hook([PROMPT + text], [PROMPT], [label]), RESPONSES))
    return [Given(a["rewards"][0], bool(a["extra_logs"]["valid"][0])) for a in answers]


def _verl(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    hook = verl.reward_with(**settings)

    async def reward() -> dict[str, float]:
        return await hook("", RESPONSES[0], "", {"prompt": PROMPT, "rubrics": rubrics})

    numbers = asyncio.run(reward())
    return [Given(numbers["score"], bool(numbers["rdan_valid"]))]


def _ms_swift(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    hook = ms_swift.reward_with(num_generations=4, **settings)()
    asked = {"role": "user", "content": PROMPT}
    messages = [[asked, {"role": "assistant", "content": text}] for text in RESPONSES]
    rewards = asyncio.run(hook(RESPONSES, messages=messages, rubrics=[rubrics] * 4))
    return [Given(reward, reward is not None) for reward in rewards]


def _open_instruct(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    hook = open_instruct.reward_with(**settings)

    async def reward() -> tuple[list[float], dict[str, Any]]:
        return await hook([], RESPONSES, [rubrics] * 4, [], [], None, [PROMPT] * 4)

    advantages, metrics = asyncio.run(reward())
    return [Given(advantage, not metrics["rubricate/undecided_rate"]) for advantage in advantages]


def _skyrl(rubrics: Any, settings: dict[str, Any]) -> list[Given]:
    base = ModuleType("skyrl_gym.envs.base_text_env")
    vars(base).update(BaseTextEnv=object, BaseTextEnvStepOutput=dict)
    with patch.dict(sys.modules, {"skyrl_gym": base, "skyrl_gym.envs": base, base.__name__: base}):
        environment = skyrl.env_with(**settings)(extras={"rubrics": rubrics})
    environment.init([{"role": "user", "content": PROMPT}])
    numbers = skyrl.unpack(environment.step(RESPONSES[0])["reward"])
    return [Given(numbers["outcome"], bool(numbers["valid"]))]


HOOKS: dict[str, tuple[Hook, list[float]]] = {
    "trl": (_trl, ADVANTAGES),
    "slime": (_slime, ADVANTAGES),
    "slime, one by one": (_slime_one_by_one, [1.0]),
    "verifiers v0": (_verifiers_v0, ADVANTAGES),
    "verifiers v1": (_verifiers_v1, [1.0]),
    "openrlhf": (_openrlhf, ADVANTAGES),
    "verl": (_verl, [1.0]),
    "ms-swift": (_ms_swift, ADVANTAGES),
    "open-instruct": (_open_instruct, ADVANTAGES),
    "skyrl": (_skyrl, [1.0]),
}
"""Each hook, and its numbers when nothing goes wrong."""

ONE_BY_ONE = ["slime, one by one", "verifiers v1", "verl", "skyrl"]
"""Hooks that are asked for one response at a time, and ask the service so."""

WHOLE_GROUPS = [name for name in HOOKS if name not in (*ONE_BY_ONE, "openrlhf")]

LOST: dict[str, Trouble | None] = {"down": None, "slow": "slow", "broken": "broken", "cut": "cut"}
PASSING: list[Trouble] = ["busy", "broken", "cut"]

hooks = pytest.mark.parametrize("name", HOOKS)


def given(name: str, fault: str, service: Wire, unscored: str) -> list[Given]:
    """What the hook hands over while the fault lasts."""
    service.troubles = [trouble] * 1000 if (trouble := LOST[fault]) else []
    url = f"http://127.0.0.1:{free_port()}" if fault == "down" else service.url
    return HOOKS[name][0](RUBRICS, {"url": url, "unscored": unscored, "timeout_s": 0.4})


@hooks
@pytest.mark.parametrize("fault", LOST)
def test_what_was_not_scored_is_raised(name: str, fault: str, service: Wire) -> None:
    with pytest.raises(Unscored, match=r"could (not )?be scored"):
        given(name, fault, service, "raise")


@hooks
@pytest.mark.parametrize("fault", LOST)
def test_what_was_not_scored_is_masked(name: str, fault: str, service: Wire) -> None:
    assert_masked(given(name, fault, service, "mask"))


@pytest.mark.parametrize("name", WHOLE_GROUPS)
def test_groups_of_which_nothing_was_decided_are_raised(name: str, service: Wire) -> None:
    with pytest.raises(Unscored, match="none of 4 responses could be scored: unknown_check"):
        HOOKS[name][0](UNDECIDABLE, {})


@pytest.mark.parametrize("name", WHOLE_GROUPS + ONE_BY_ONE)
def test_groups_of_which_nothing_was_decided_are_masked(name: str, service: Wire) -> None:
    assert_masked(HOOKS[name][0](UNDECIDABLE, {"unscored": "mask"}))


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_one_undecided_response_does_not_stop_a_run_whose_service_is_healthy(
    name: str, service: Wire
) -> None:
    assert_masked(HOOKS[name][0](UNDECIDABLE, {}))
    assert service.posts == ["/v1/score"]


def assert_masked(found: list[Given]) -> None:
    assert not any(one.scored for one in found)
    assert not any(one.number for one in found)


@hooks
@pytest.mark.parametrize("trouble", PASSING)
def test_trouble_that_passes_changes_nothing(name: str, trouble: Trouble, service: Wire) -> None:
    hook, numbers = HOOKS[name]
    service.troubles = [trouble]
    scored = hook(RUBRICS, {"url": service.url, "timeout_s": 30.0})
    assert all(one.scored for one in scored)
    assert [one.number for one in scored] == pytest.approx(numbers, abs=1e-9)
