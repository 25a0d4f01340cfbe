"""SkyRL's hooks against a real service, called as skyrl 0.3.0 calls them.

SkyRL, its gym and torch are stubs here; `tests/engines/test_skyrl.py` has the real ones.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import Score, Unscored, skyrl
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.advantages import rdan
from rubricate_clients.errors import InvalidRequest
from torch_stub import tensor

MESSAGES = [{"role": "user", "content": PROMPT}]


class BaseTextEnv:
    """skyrl-gym's base class, as far as it is used."""


class Registry:
    """SkyRL's registry of estimators, which refuses a name twice."""

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}

    def list_available(self) -> list[str]:
        return list(self.functions)

    def register(self, name: str, func: Any) -> None:
        assert name not in self.functions
        self.functions[name] = func


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    for name in ("skyrl_gym", "skyrl_gym.envs"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    base: Any = ModuleType("skyrl_gym.envs.base_text_env")
    base.BaseTextEnv, base.BaseTextEnvStepOutput = BaseTextEnv, dict
    monkeypatch.setitem(sys.modules, base.__name__, base)
    monkeypatch.setattr(skyrl, "_ENVIRONMENTS", Hooks(skyrl._environment))
    return running


def step(response: str, rubrics: Any = RUBRICS, **settings: Any) -> tuple[float, dict[str, float]]:
    """Reward and metrics of one episode."""
    env_class = skyrl.env_with(**settings) if settings else skyrl.RDANTextEnv
    env = env_class(env_config=SimpleNamespace(), extras={"rubrics": rubrics, "max_turns": 1})
    prompt, _ = env.init(MESSAGES)
    assert prompt == MESSAGES
    output = env.step(response)
    assert (output["observations"], output["done"]) == ([], True)
    return output["reward"], env.get_metrics()


def advantages(rewards: Sequence[float], uids: Sequence[str]) -> Any:
    """The estimator's answer for responses of two tokens, of which the first carries the reward."""
    by_token, returns = skyrl.rdan_advantages(
        token_level_rewards=tensor([[reward, 0] for reward in rewards]),
        response_mask=tensor(np.ones((len(rewards), 2))),
        index=uids,
        values=None,
        grpo_norm_by_std=True,
        gamma=1.0,
        lambd=1.0,
        config=None,
    )
    assert np.array_equal(by_token, returns)
    assert np.array_equal(by_token[:, 0], by_token[:, 1])
    return by_token[:, 0]


def test_advantages_are_rdan(service: Wire) -> None:
    with ThreadPoolExecutor(4) as threads:  # as SkyRL runs its environments
        episodes = list(threads.map(step, RESPONSES))
    assert advantages([reward for reward, _ in episodes], ["p"] * 4) == pytest.approx(ADVANTAGES, abs=1e-6)
    assert service.posts == ["/v1/score"] * 4
    assert episodes[1][1] == {"outcome": 1.0, "quality": 0.5, "valid": 1.0, "eligible": 1.0}
    assert episodes[3][1] == {"outcome": 0.0, "valid": 1.0, "eligible": 0.0}  # it was not judged


def test_groups_are_told_apart_by_their_uid_in_any_order(service: Wire) -> None:
    found = advantages([1.0, -1.0, -1.0, 1.0], ["p", "q", "p", "q"])
    assert found == pytest.approx([0.7071, -0.7071, -0.7071, 0.7071], abs=1e-4)


def random_scores(count: int) -> list[Score]:
    draw = random.Random(7)
    scores = []
    for _ in range(count):
        valid, eligible = draw.random() < 0.9, draw.random() < 0.6
        quality = draw.choice([None, 0.0, 1.0, draw.random(), draw.random() * 1e-7, 1 / 3])
        scores.append(
            Score(
                outcome=float(eligible) if valid else None,
                quality=quality if valid and eligible else None,
                eligible=valid and eligible,
                valid=valid,
            )
        )
    return scores


def test_what_is_packed_is_unpacked_from_float32() -> None:
    scores = random_scores(100_000)
    packed = [skyrl.pack(score) for score in scores]
    for score, number, found in zip(scores, packed, np.array(packed, np.float32).tolist(), strict=True):
        assert found == number
        numbers = skyrl.unpack(found)
        assert numbers.pop("quality") == pytest.approx(score.quality or 0.0, abs=2**-22)
        assert numbers.items() <= score.numbers().items()


def test_every_mean_of_up_to_512_scores_is_packed_exactly() -> None:
    for count in range(1, 1025):
        qualities = [half / count for half in range(0, count + 1, 1 + count // 50)]
        packed = [skyrl.pack(Score(1.0, quality, True, True)) for quality in qualities]
        as_float32 = np.array(packed, np.float32).tolist()
        assert [skyrl.unpack(number)["quality"] for number in as_float32] == qualities


@pytest.mark.parametrize("apart", [1 / 20, 1 / 1000])
def test_packing_keeps_advantages_where_qualities_are_close(service: Wire, apart: float) -> None:
    draw = random.Random(11)
    groups = [row // 8 for row in range(4000)]
    base = [draw.randint(0, 990) for _ in range(500)]
    qualities = [min(1000, base[group] + round(draw.randint(0, 5) * apart * 1000)) / 1000 for group in groups]
    scores = [Score(1.0, quality, True, True) for quality in qualities]
    expected = rdan(groups, outcome=[1.0] * 4000, quality=qualities, eligible=[True] * 4000).advantages
    found = advantages([skyrl.pack(score) for score in scores], [str(group) for group in groups])
    assert found == pytest.approx(np.array(expected, np.float32), abs=1e-6)


def test_settings_given_in_code_reach_the_estimator(service: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUBRICATE_URL")
    rewards = [step(response, url=service.url, quality_weight=0)[0] for response in RESPONSES]
    assert advantages(rewards, ["p"] * 4) == pytest.approx([0.5, 0.5, 0.5, -1.5], abs=1e-5)


def test_the_estimator_needs_no_service(service: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUBRICATE_URL")
    assert advantages([1.0, -1.0], ["p"] * 2) == pytest.approx([0.7071, -0.7071], abs=1e-4)


def test_a_response_without_a_score_gets_no_advantage_and_moves_no_other(service: Wire) -> None:
    rewards = [step(response)[0] for response in RESPONSES[:3]]
    lost, metrics = step(RESPONSES[3], UNDECIDABLE)
    assert lost == 0.0
    assert metrics == {"valid": 0.0, "eligible": 0.0}
    assert advantages([*rewards, lost], ["p"] * 4) == pytest.approx([1.0, 0.0, -1.0, 0.0], abs=1e-5)


def test_nothing_scored_is_raised(service: Wire) -> None:
    service.troubles = ["slow"]
    with pytest.raises(Unscored, match=r"no answer within 0\.4 s"):
        step(RESPONSES[0], timeout_s=0.4)


@pytest.mark.parametrize("trouble", ["busy", "broken", "cut"])
def test_trouble_on_the_way_is_retried(service: Wire, trouble: Any) -> None:
    service.troubles = [trouble]
    assert step(RESPONSES[0])[0] == 3.0
    assert len(service.posts) == 2


def test_metrics_of_named_rubrics_are_logged_where_they_are_decided(service: Wire) -> None:
    _, metrics = step(RESPONSES[1], log_rubrics=["vivid", "unknown"])
    assert metrics["rubric/vivid"] == 0.5
    assert "rubric/unknown" not in metrics


@pytest.mark.parametrize("reward", [0.5, -0.99, 3.01, 2 - 1e-6, float("nan")])
def test_rewards_that_something_was_added_to_are_refused(service: Wire, reward: float) -> None:
    with pytest.raises(ValueError, match="use_kl_in_reward"):
        advantages([reward, -1.0], ["p", "p"])


def test_a_row_without_rubrics_says_so(service: Wire) -> None:
    env = skyrl.RDANTextEnv(extras={"reward_spec": {}, "max_turns": 1})
    env.init(MESSAGES)
    with pytest.raises(InvalidRequest, match=r"no column `rubrics` \(it has reward_spec, max_turns"):
        env.step("x")


def test_register_fills_both_registries_once(service: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    gym: Any = ModuleType("skyrl_gym.envs.registration")
    gym.registry = {}
    gym.register = lambda id, entry_point: gym.registry.__setitem__(id, entry_point)
    monkeypatch.setitem(sys.modules, gym.__name__, gym)
    monkeypatch.setattr(sys.modules["skyrl_gym.envs"], "registration", gym, raising=False)
    for name in ("skyrl", "skyrl.backends", "skyrl.backends.skyrl_train", "skyrl.backends.skyrl_train.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    utils: Any = ModuleType("skyrl.backends.skyrl_train.utils.ppo_utils")
    utils.AdvantageEstimatorRegistry = Registry()
    monkeypatch.setitem(sys.modules, utils.__name__, utils)
    skyrl.register()
    skyrl.register()
    assert gym.registry == {"rdan": "rubricate_clients.adapters.skyrl:RDANTextEnv"}
    assert utils.AdvantageEstimatorRegistry.functions == {"rdan": skyrl.rdan_advantages}


@pytest.mark.parametrize(
    ("use", "package"), [("adapter.register()", "skyrl[skyrl-train]"), ("adapter.RDANTextEnv", "skyrl-gym")]
)
def test_without_skyrl_the_module_says_what_is_missing(use: str, package: str) -> None:
    program = f"import rubricate_clients.adapters.skyrl as adapter; {use}"
    env = {**os.environ, "RUBRICATE_URL": "http://127.0.0.1:8080"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    assert "ImportError" in done.stderr
    assert package in done.stderr.splitlines()[-1]
