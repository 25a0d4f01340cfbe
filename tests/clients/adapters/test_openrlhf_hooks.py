"""OpenRLHF's hooks against a real service with its group barrier.

`openrlhf.utils.agent` is a stub here: a single turn with the real one's signature, and with the fields of its
output that the trainer reads.
"""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reward_service import (
    ADVANTAGES,
    PROMPT,
    RESPONSES,
    RUBRICS,
    UNDECIDABLE,
    Wire,
    vividness,
)
from rubricate_clients.adapters import openrlhf
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.errors import InvalidRequest
from rubricate_clients.testing import FakeCall, FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.compat.result import Result
from rubricate_service.settings import Settings
from serving import running_server

ROUTE = "/compat/openrlhf/get_reward"
RAISES_ON_FIRST = "def evaluate(response):\n    return 1 / (response.count('brook') - 1) != 0\n"
LABEL = json.dumps({"rubrics": RUBRICS, "size": len(RESPONSES)})
END = "<|im_end|>"


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    monkeypatch.setattr(openrlhf, "_FUNCTIONS", Hooks(openrlhf._function))
    openrlhf._default_agent.cache_clear()
    return running


class SingleTurnAgentExecutor:
    """The stub."""

    def __init__(self, remote_rm_url: str | list[str] | None = None) -> None:
        assert remote_rm_url is None

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
        said = await llm_engine.generate(prompt)
        tokens = list(prompt + said)
        return {"observation_tokens": tokens, "reward": None, "scores": None, "extra_logs": {}}


class Tokenizer:
    """Its tokens are characters."""

    def decode(self, tokens: list[str], skip_special_tokens: bool) -> str:
        assert not skip_special_tokens
        return "".join(tokens)


class Engine:
    """Says the responses one after the other."""

    def __init__(self) -> None:
        self.left = [response + END for response in RESPONSES]

    async def generate(self, prompt: str) -> str:
        return self.left.pop(0)


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = ModuleType("openrlhf.utils.agent")
    agent.SingleTurnAgentExecutor = SingleTurnAgentExecutor  # type: ignore[attr-defined]
    for name, module in {"openrlhf": ModuleType("openrlhf"), "openrlhf.utils": ModuleType("utils")}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "openrlhf.utils.agent", agent)


def executed(executor: Any, label: Any = LABEL) -> list[dict[str, Any]]:
    async def all_of_them() -> list[dict[str, Any]]:
        engine, tokenizer = Engine(), Tokenizer()
        turns = [
            executor.execute(
                prompt=PROMPT,
                label=label,
                sampling_params=None,
                max_length=100,
                hf_tokenizer=tokenizer,
                llm_engine=engine,
                images=None,
            )
            for _ in RESPONSES
        ]
        return list(await asyncio.gather(*turns))

    return asyncio.run(all_of_them())


def test_the_agent_rewards_each_response_with_its_advantage(service: Wire, trainer: None) -> None:
    outputs = executed(openrlhf.AgentExecutor())
    assert [output["reward"] for output in outputs] == pytest.approx(ADVANTAGES, abs=1e-9)
    assert [output["scores"] for output in outputs] == [1, 1, 1, 0]
    assert {tuple(output["extra_logs"]) for output in outputs} == {openrlhf.LOGGED}
    assert service.posts == [ROUTE] * 4


def test_a_reward_function_in_as_many_threads_as_responses(service: Wire) -> None:
    with ThreadPoolExecutor(len(RESPONSES)) as threads:
        answers = threads.map(
            lambda response: openrlhf.rdan_reward([PROMPT + response + END], [PROMPT], [LABEL]), RESPONSES
        )
        assert [answer["rewards"][0] for answer in answers] == pytest.approx(ADVANTAGES, abs=1e-9)


def test_a_try_that_is_sent_again_is_no_second_member(service: Wire, trainer: None) -> None:
    service.troubles = ["busy", "cut"]
    outputs = executed(openrlhf.AgentExecutor())
    assert [output["reward"] for output in outputs] == pytest.approx(ADVANTAGES, abs=1e-9)
    assert {output["extra_logs"]["members"] for output in outputs} == {4.0}


def test_a_fault_of_the_rubrics_is_raised_at_once(service: Wire, trainer: None) -> None:
    label = json.dumps({"rubrics": UNDECIDABLE, "size": 4})
    with pytest.raises(InvalidRequest, match="unknown_check"):
        executed(openrlhf.agent_with(unscored="mask")(), label)
    assert service.posts == [ROUTE] * 4


def test_a_rule_that_raises_on_one_response_stops_no_run(service: Wire, trainer: None) -> None:
    """It was answered like a faulty row, and one response of many ended the training."""
    rule = {"check": "rule:python", "kwargs": {"source": RAISES_ON_FIRST, "entry": "evaluate"}}
    label = json.dumps({"rubrics": [rule], "size": 4})
    outputs = executed(openrlhf.AgentExecutor(), label)
    assert [output["extra_logs"]["valid"] for output in outputs] == [0.0, 1.0, 1.0, 1.0]
    assert outputs[0]["reward"] == 0.0


def test_what_is_not_scored_is_masked_with_the_same_keys(service: Wire, trainer: None) -> None:
    service.troubles = ["broken"] * 100
    for output in executed(openrlhf.agent_with(timeout_s=1, unscored="mask")()):
        assert (output["reward"], output["extra_logs"]["valid"]) == (0.0, 0.0)
        assert tuple(output["extra_logs"]) == openrlhf.LOGGED


def test_one_undecided_response_does_not_mask_its_batch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses_one(call: FakeCall) -> str | Fault:
        return Fault.refusal() if "over the water" in call.text else vividness(call)

    vivid = {"criterion": "The sentence is vivid.", "hard": True, "pass_at": 0.5}
    label = json.dumps({"rubrics": [RUBRICS[0], vivid], "size": len(RESPONSES)})
    with FakeJudge(answer=refuses_one) as judge:
        made = Settings(judge=judge.url, judge_canaries=False, cache=str(tmp_path / "v.db"), check_workers=1)
        with running_server(create_app(made)) as url:
            reward = openrlhf.reward_with(url=url, timeout_s=3)
            answer = reward([PROMPT + text for text in RESPONSES], [PROMPT] * 4, [label] * 4)
    assert answer["extra_logs"]["valid"] == [1.0, 0.0, 1.0, 1.0]
    assert answer["scores"] == [1.0, 0.0, 0.0, 0.0]
    assert answer["rewards"] == pytest.approx([1.1547, 0.0, -0.57735, -0.57735], abs=1e-4)
    assert "the response could not be scored, masked: " in caplog.text
    assert "rubrics[1]" in caplog.text


def test_an_empty_batch_has_the_same_keys(service: Wire) -> None:
    assert openrlhf.rdan_reward([], [], []) == {
        "rewards": [], "scores": [], "extra_logs": {name: [] for name in openrlhf.LOGGED},
    }  # fmt: skip
    assert service.posts == []


def test_the_logged_numbers_are_those_of_the_service() -> None:
    assert tuple(Result(members=1).numbers()) == openrlhf.LOGGED


@pytest.mark.parametrize(
    ("label", "message"), [("", "rubrics"), ({1, 2}, "a label cannot be written as JSON"), ("{", "label")]
)
def test_a_label_that_is_none_is_the_callers_fault(service: Wire, label: Any, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        openrlhf.rdan_reward([PROMPT + "x"], [PROMPT], [label])


def test_the_agent_says_what_is_missing() -> None:
    with pytest.raises(ImportError, match="pip install openrlhf"):
        openrlhf.agent_with(url="http://127.0.0.1:8080")
    assert not hasattr(openrlhf, "Agent")
