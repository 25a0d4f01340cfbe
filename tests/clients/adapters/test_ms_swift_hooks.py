"""ms-swift's rewards against a real service, called as `compute_rewards_per_func` of ms-swift 4.6 calls them.

`swift.rewards` is stood in for by a module with its `orms`; the real one is in
`tests/engines/test_ms_swift.py`.
"""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import ms_swift
from rubricate_clients.errors import InvalidRequest

ARGS = SimpleNamespace(num_generations=4, scale_rewards="none", advantage_estimator="grpo")


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    ms_swift._scoring.cache_clear()
    return running


@pytest.fixture
def orms(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    rewards = ModuleType("swift.rewards")
    vars(rewards)["orms"] = {}
    monkeypatch.setitem(sys.modules, "swift", ModuleType("swift"))
    monkeypatch.setitem(sys.modules, "swift.rewards", rewards)
    found: dict[str, Any] = vars(rewards)["orms"]
    return found


def columns(rubrics: Any = RUBRICS) -> dict[str, Any]:
    asked = {"role": "user", "content": PROMPT}
    return {
        "trainer_state": SimpleNamespace(global_step=1),
        "messages": [[asked, {"role": "assistant", "content": text}] for text in RESPONSES],
        "prompt_id": ["prompt_0"] * 4,
        "rubrics": [rubrics] * 4,
    }


def called(*hooks: Any, **given: Any) -> list[Any]:
    async def together() -> list[Any]:
        return await asyncio.gather(*(hook(RESPONSES, **given) for hook in hooks))

    return asyncio.run(together())


def test_three_rewards_share_a_post(service: Wire, orms: dict[str, Any]) -> None:
    ms_swift.register()
    advantage, outcome, quality = called(*(reward(args=ARGS) for reward in orms.values()), **columns())
    assert list(orms) == ["rdan_reward", "rdan_outcome", "rdan_quality"]
    assert advantage == pytest.approx(ADVANTAGES, abs=1e-12)
    assert outcome == [1, 1, 1, 0]
    assert quality == [1.0, 0.5, 0.0, None]
    assert service.posts == ["/v1/score"]


def test_registered_settings_hold(service: Wire, orms: dict[str, Any]) -> None:
    ms_swift.register(unscored="mask", quality_weight=0.0)
    reward = orms["rdan_reward"](args=ARGS)
    assert called(reward, **columns(UNDECIDABLE)) == [[None] * 4]
    assert called(reward, **columns()) == [pytest.approx([0.5, 0.5, 0.5, -1.5], abs=1e-5)]


def test_the_prompt_is_what_stands_before_the_completion(service: Wire) -> None:
    repeat = [{"check": "combination:repeat_prompt", "kwargs": {"prompt_to_repeat": PROMPT}}]
    given = columns(repeat)
    with pytest.raises(InvalidRequest, match="no column `rubrics`"):
        called(ms_swift.rdan_reward(ARGS), **{**given, "rubrics": None})
    assert called(ms_swift.RDANOutcome(ARGS), **given) == [[0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (SimpleNamespace(num_generations=4, scale_rewards="group"), "--scale_rewards none"),
        (SimpleNamespace(num_generations=4, scale_rewards="gdpo"), "--scale_rewards none"),
        (SimpleNamespace(num_generations=4, advantage_estimator="rloo"), "--advantage_estimator grpo or"),
        (SimpleNamespace(), "RUBRICATE_NUM_GENERATIONS"),
    ],
)
def test_arguments_that_change_the_advantages_are_refused(service: Wire, args: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ms_swift.rdan_reward(args)


def test_a_part_of_a_group_is_refused(service: Wire) -> None:
    reward = ms_swift.rdan_reward(SimpleNamespace(num_generations=8, scale_rewards="none"))
    with pytest.raises(InvalidRequest, match="4 rows are no whole groups of 8"):
        called(reward, **columns())


def test_register_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "swift", None)
    with pytest.raises(ImportError, match=r"pip install 'ms-swift>=4.6'"):
        ms_swift.register()
