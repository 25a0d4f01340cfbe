"""open-instruct's reward function against a real service.

open-instruct is on no package index: its modules are stood in for by two that import RewardConfig as its
own do, and the reward function is called as its vLLM actor calls it, for the responses of one prompt.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import open_instruct
from rubricate_clients.errors import InvalidRequest


class RewardConfig:
    """open-instruct's own."""


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    monkeypatch.setattr(open_instruct.RDANRewardConfig, "defaults", {})
    return running


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> list[ModuleType]:
    package = ModuleType("open_instruct")
    monkeypatch.setitem(sys.modules, "open_instruct", package)
    names = ("ground_truth_utils", "vllm_utils")
    made = [ModuleType(f"open_instruct.{name}") for name in names]
    for name, module in zip(names, made, strict=True):
        vars(module)["RewardConfig"] = RewardConfig
        vars(package)[name] = module
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return made


def called(
    hook: Any, ground_truth: Any = RUBRICS, query: str | None = PROMPT
) -> tuple[list[float], dict[str, Any]]:
    count = len(RESPONSES)
    infos = SimpleNamespace(timeouts=[0] * count, tool_errors=[""] * count)
    work = hook(
        [[1, 2, 3]] * count,
        RESPONSES,
        [ground_truth] * count,
        ["rubrics"] * count,
        ["stop"] * count,
        infos,
        None if query is None else [query] * count,
        local_judge=None,
    )
    found: tuple[list[float], dict[str, Any]] = asyncio.run(work)
    return found


def test_scores_are_rdan_and_metrics_are_true(service: Wire, modules: list[ModuleType]) -> None:
    open_instruct.register(log_rubrics=["vivid"])
    for module in modules:
        config = pickle.loads(
            pickle.dumps(module.RewardConfig(verification_reward=10.0, verifier_functions={}))
        )
        scores, metrics = called(config.build())
        assert scores == pytest.approx(ADVANTAGES, abs=1e-12)
        assert metrics["rubricate/outcome"] == 0.75
        assert metrics["rubricate/rubric/vivid"] == 0.5
        assert service.posts == ["/v1/score"]
        service.reset()


@pytest.mark.parametrize(
    ("ground_truth", "query"),
    [
        (json.dumps(RUBRICS), PROMPT),
        ([json.dumps(RUBRICS)], PROMPT),
        ({"rubrics": RUBRICS, "prompt": PROMPT}, "user: rendered"),
        (json.dumps({"rubrics": RUBRICS, "prompt": PROMPT, "reference": "A fox."}), None),
    ],
)
def test_rubrics_are_found_where_a_data_set_has_them(
    service: Wire, ground_truth: Any, query: str | None
) -> None:
    assert called(open_instruct.reward_with(), ground_truth, query)[0] == pytest.approx(ADVANTAGES)


@pytest.mark.parametrize(
    ("ground_truth", "query", "message"),
    [
        ("a fox", PROMPT, "the ground_truth of response 0 is no JSON of rubrics"),
        ({"answer": 4}, PROMPT, "row 0: `rubrics` must be a list"),
        (RUBRICS, None, "row 0: the prompt must be text or chat messages"),
    ],
)
def test_rows_that_cannot_be_sent_are_told(
    service: Wire, ground_truth: Any, query: str | None, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        called(open_instruct.reward_with(), ground_truth, query)


def test_a_masked_prompt_has_no_advantages_and_says_so(service: Wire) -> None:
    scores, metrics = called(open_instruct.reward_with(unscored="mask"), UNDECIDABLE)
    assert scores == [0.0] * 4
    assert metrics["rubricate/undecided_rate"] == 1.0


@pytest.mark.parametrize(
    "name", ["apply_r1_style_format_reward", "non_stop_penalty", "only_reward_good_outputs"]
)
def test_rewards_that_would_be_added_are_refused(name: str) -> None:
    open_instruct.RDANRewardConfig(**{name: False})
    with pytest.raises(ValueError, match=f"{name} would change rewards"):
        open_instruct.RDANRewardConfig(**{name: True})


def test_register_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open_instruct", None)
    with pytest.raises(ImportError, match="open-instruct"):
        open_instruct.register()
