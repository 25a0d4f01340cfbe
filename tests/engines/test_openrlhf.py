"""OpenRLHF's own rollout executor and HTTP client against the drop-in route.

`scripts/engines/openrlhf.sh` fetches the two modules. Only the model is made up, and a tokenizer whose tokens
are characters.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from engines.trainer_program import home_of
from rubricate_clients import RewardClient
from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.compat.settings import CompatSettings
from rubricate_service.settings import Settings
from serving import running_server

SIZE = 8
RUBRICS = [
    {"check": "punctuation:no_comma"},
    {"id": "kind", "criterion": "The answer is kind."},
    {"id": "brief", "criterion": "The answer is brief."},
]


def load_agent() -> Any:
    """OpenRLHF's `openrlhf.utils.agent`, whose parent packages import deepspeed and are not there."""
    home = home_of("openrlhf")
    for name in ("openrlhf", "openrlhf.utils"):
        parent = ModuleType(name)
        parent.__path__ = [str(home / name.replace(".", "/"))]
        sys.modules[name] = parent
    spec = importlib.util.find_spec("openrlhf.utils.agent")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def agent() -> Iterator[Any]:
    before, level = set(sys.modules), logging.getLogger("openrlhf").level
    yield load_agent()
    logging.getLogger("openrlhf").setLevel(level)
    for name in set(sys.modules) - before:
        if name.startswith("openrlhf"):
            del sys.modules[name]


@pytest.fixture
def fake() -> Iterator[FakeJudge]:
    with FakeJudge() as judge:
        yield judge


@pytest.fixture
def url(fake: FakeJudge, tmp_path: Path) -> Iterator[str]:
    compat = CompatSettings(group_size=SIZE, group_timeout_s=20.0)
    settings = Settings(judge=fake.url, cache=str(tmp_path / "v.db"), check_workers=1, compat=compat)
    with running_server(create_app(settings)) as url:
        yield url


class Tokenizer:
    """Every character is a token."""

    def __call__(self, text: str, **options: Any) -> dict[str, Any]:
        return {"input_ids": [SimpleNamespace(tolist=lambda: [ord(c) for c in text])]}

    def decode(self, tokens: Sequence[int], **options: Any) -> str:
        return "".join(map(chr, tokens))


class Model:
    """Gives a prompt's prepared answers, one a call, each after a while of its own."""

    def __init__(self, answers: dict[str, list[str]]) -> None:
        self._answers = {prompt: list(texts) for prompt, texts in answers.items()}
        self._rng = random.Random(3)

    async def generate(self, tokens: Sequence[int], sampling: Any, multi_modal_data: Any = None) -> Any:
        text = self._answers["".join(map(chr, tokens))].pop() + "<|im_end|>"
        await asyncio.sleep(self._rng.uniform(0.0, 0.3))
        output = SimpleNamespace(
            token_ids=[ord(c) for c in text], text=text, finish_reason="stop", logprobs=None
        )
        return SimpleNamespace(outputs=[output])


def templated(prompt: str) -> str:
    return f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"


def answers_of(n: int) -> list[str]:
    rng = random.Random(n)
    return [
        " ".join(rng.choices(["calm", "warm,", "quick", "fine"], k=rng.randint(1, 4))) for _ in range(SIZE)
    ]


async def roll_out(executor: Any, prompts: Sequence[str], label: str) -> list[dict[str, Any]]:
    """What the trainer's engine does with prompts: n coroutines for each, that fetch their own rewards."""
    model = Model({templated(prompt): answers_of(n) for n, prompt in enumerate(prompts)})
    sampling = SimpleNamespace(max_tokens=64, logprobs=None)
    work = [
        executor.execute(
            prompt=templated(prompt),
            label=json.dumps({**json.loads(label), "prompt": prompt}),
            sampling_params=sampling,
            max_length=4096,
            hf_tokenizer=Tokenizer(),
            llm_engine=model,
        )
        for prompt in prompts
        for _ in range(SIZE)
    ]
    return list(await asyncio.gather(*work))


def test_a_rollout_gets_the_advantages_of_the_batch_call(agent: Any, url: str) -> None:
    prompts = [f"Thing {n}." for n in range(8)]
    executor = agent.SingleTurnAgentExecutor([f"{url}/compat/openrlhf/get_reward"])
    outputs = asyncio.run(roll_out(executor, prompts, json.dumps({"rubrics": RUBRICS})))
    groups = [
        {"prompt": prompt, "rubrics": RUBRICS, "responses": answers_of(n)} for n, prompt in enumerate(prompts)
    ]
    with RewardClient(url) as client:
        batch = client.score(groups, {"advantages": {"method": "rdan"}})
    wanted = {
        (prompt, text): response
        for prompt, group, scored in zip(prompts, groups, batch.groups, strict=True)
        for text, response in zip(group["responses"], scored.responses, strict=True)
    }
    seen = 0
    for output in outputs:
        decoded = Tokenizer().decode(output["observation_tokens"])
        prompt = decoded.split("\n")[1].removesuffix("<|im_end|>")
        text = decoded.rsplit("assistant\n", 1)[1].removesuffix("<|im_end|>")
        response = wanted[prompt, text]
        assert output["reward"] == [pytest.approx(response.advantage, abs=1e-9)]
        assert output["scores"] == [response.outcome]
        assert output["extra_logs"]["members"] == [float(SIZE)]
        seen += response.advantage != 0.0
    assert seen > 20


def test_its_retries_of_an_undecided_response_end_in_its_group(agent: Any, url: str, fake: FakeJudge) -> None:
    """The client tries five times, a second apart; here the judge fails some responses at first."""
    tries = 0

    def shy(call: Any) -> str | Fault:
        nonlocal tries
        if "quick" in call.text and tries < 8:
            tries += 1
            return Fault.refusal()
        return "2"

    fake.answer = shy
    executor = agent.SingleTurnAgentExecutor([f"{url}/compat/openrlhf/get_reward"])
    label = json.dumps({"rubrics": [RUBRICS[1]]})
    outputs = asyncio.run(roll_out(executor, ["Thing 1."], label))
    assert tries > 0
    for output in outputs:
        assert output["scores"] == [1.0]
        assert output["extra_logs"]["members"] == [float(SIZE)]
        assert output["extra_logs"]["incomplete"] == [0.0]


def test_without_a_reward_the_client_gives_up_and_nothing_is_scored_0(agent: Any, url: str) -> None:
    """What the trainer does with a response that stays undecided: it has no reward, and says so later."""
    executor = agent.SingleTurnAgentExecutor([f"{url}/compat/openrlhf/get_reward"])
    label = json.dumps({"rubrics": [{"check": "no:such"}], "size": SIZE})
    outputs = asyncio.run(roll_out(executor, ["Thing."], label))
    assert [output["reward"] for output in outputs] == [None] * SIZE
