"""AReaL's workflow against a real service.

AReaL is a stub here with the signatures of areal 1.0.4, as is torch: it pulls in a whole training stack.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import Unscored
from rubricate_clients.errors import InvalidRequest
from torch_stub import Tensor, stub_torch

NAME = "rubricate_clients.adapters.areal"
ROW: dict[str, Any] = {"messages": [{"role": "user", "content": PROMPT}], "rubrics": RUBRICS}
END = 3
"""The token that ends a response; all others are code points."""


class RolloutWorkflow:
    """AReaL's base class."""


@dataclass
class ModelRequest:
    rid: str
    input_ids: list[int]
    gconfig: Any
    tokenizer: Any


@dataclass
class ModelResponse:
    input_tokens: list[int]
    output_tokens: list[int]

    @property
    def input_len(self) -> int:
        return len(self.input_tokens)

    @property
    def output_len(self) -> int:
        return len(self.output_tokens)

    @property
    def output_logprobs(self) -> list[float]:
        return [-0.5] * self.output_len

    @property
    def output_versions(self) -> list[int]:
        return [7] * self.output_len


@dataclass(frozen=True)
class GenerationHyperparameters:
    n_samples: int = 1
    stop_token_ids: tuple[int, ...] = ()

    def new(self, **kwargs: Any) -> GenerationHyperparameters:
        return replace(self, **kwargs)

    def new_with_stop_and_pad_token_ids(self, tokenizer: Any) -> GenerationHyperparameters:
        return self.new(stop_token_ids=(END,))


class Characters:
    """A tokenizer whose tokens are code points."""

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        return "".join(chr(token) for token in ids if not (skip_special_tokens and token == END))


@dataclass
class Engine:
    """An inference engine that samples the responses in turn, the later ones first to be done."""

    responses: Sequence[str] = tuple(RESPONSES)
    requests: list[ModelRequest] = field(default_factory=list)

    async def agenerate(self, request: ModelRequest) -> ModelResponse:
        assert request.gconfig == GenerationHyperparameters(1, (END,))
        place = len(self.requests)
        self.requests.append(request)
        await asyncio.sleep(0.01 * (len(self.responses) - place))
        return ModelResponse(request.input_ids, [*map(ord, self.responses[place]), END])


def concat_padded_tensors(rows: list[dict[str, Any]]) -> dict[str, Any]:
    width = max(row["input_ids"].shape[1] for row in rows)

    def padded(values: Any) -> Any:
        return np.pad(values, [(0, 0), (0, width - values.shape[1])]) if values.ndim == 2 else values

    return {name: np.concatenate([padded(row[name]) for row in rows]) for name in rows[0]}


@dataclass
class Stats:
    """AReaL's stats tracker."""

    scope: str = ""
    scalars: dict[str, float] = field(default_factory=dict)

    def get(self, scope: str) -> Stats:
        self.scope = scope
        return self

    def scalar(self, **values: float) -> None:
        self.scalars.update(values)


def stubs(stats: Stats) -> dict[str, ModuleType]:
    contents: dict[str, dict[str, Any]] = {
        "areal": {"workflow_context": SimpleNamespace(stat_scope=lambda: "rollout")},
        "areal.api": {"ModelRequest": ModelRequest, "RolloutWorkflow": RolloutWorkflow},
        "areal.utils": {"stats_tracker": stats},
        "areal.utils.data": {"concat_padded_tensors": concat_padded_tensors},
        "areal.utils.hf_utils": {
            "load_hf_tokenizer": lambda path: Characters(),
            "apply_chat_template": lambda tokenizer, messages, **kwargs: [
                ord(c) for c in json.dumps([messages, kwargs])
            ],
        },
    }
    torch: Any = stub_torch()
    torch.ones = lambda size, dtype: np.ones(size, dtype).view(Tensor)
    modules: dict[str, ModuleType] = {"torch": torch}
    for name, content in contents.items():
        modules[name] = ModuleType(name)
        vars(modules[name]).update(content)
    return modules


@pytest.fixture
def stats() -> Stats:
    return Stats()


@pytest.fixture
def areal(stats: Stats, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The adapter, imported beside AReaL's stubs."""
    for name, module in stubs(stats).items():
        monkeypatch.setitem(sys.modules, name, module)
    yield importlib.import_module(NAME)
    sys.modules.pop(NAME)


def workflow(areal: Any, **settings: Any) -> Any:
    return areal.RDANWorkflow(GenerationHyperparameters(), "path/of/a/model", group_size=4, **settings)


def episode(workflow: Any, engine: Engine | None = None, **columns: Any) -> Any:
    return asyncio.run(workflow.arun_episode(engine or Engine(), {**ROW, **columns}))


def test_rewards_are_rdan_and_come_from_one_post(service: Wire, areal: Any, stats: Stats) -> None:
    found = episode(workflow(areal))
    assert found["rewards"] == pytest.approx(ADVANTAGES, abs=1e-6)
    assert found["rewards"].dtype == np.float32
    assert service.posts == ["/v1/score"]
    assert stats.scope == "rollout"
    assert stats.scalars["rubricate/outcome"] == 0.75


def test_tensors_hold_prompt_and_response_of_each_row(service: Wire, areal: Any) -> None:
    engine = Engine()
    found = episode(workflow(areal), engine)
    prompt = len(engine.requests[0].input_ids)
    assert len({request.rid for request in engine.requests}) == 4
    for row, response in enumerate(RESPONSES):
        end = prompt + len(response) + 1
        assert found["input_ids"][row, prompt:end].tolist() == [*map(ord, response), END]
        assert found["loss_mask"][row].nonzero()[0].tolist() == list(range(prompt, end))
        assert found["attention_mask"][row].sum() == end
        assert (found["versions"][row, prompt - 1], found["versions"][row, prompt]) == (-1, 7)
        assert (found["logprobs"][row, prompt - 1], found["logprobs"][row, prompt]) == (0.0, -0.5)


def test_nothing_scored_is_raised_or_rejects_the_episode(service: Wire, areal: Any) -> None:
    with pytest.raises(Unscored, match="unknown_check"):
        episode(workflow(areal), rubrics=UNDECIDABLE)
    assert episode(workflow(areal, unscored="mask"), rubrics=UNDECIDABLE) is None
    service.troubles = ["slow"]
    with pytest.raises(Unscored, match=r"no answer within 0\.4 s"):
        episode(workflow(areal, timeout_s=0.4))


def test_a_response_without_a_score_leaves_the_loss(service: Wire, areal: Any) -> None:
    broken = "def check_following(instruction, response):\n    return 'fox' in response or 1 / 0\n"
    rubrics = [{"id": "fox", "check": "rule:python", "kwargs": {"source": broken}}]
    found = episode(workflow(areal), Engine(["A fox.", "A dog.", "My fox.", "This fox."]), rubrics=rubrics)
    assert found["rewards"].tolist() == [0.0] * 4
    assert [bool(row.any()) for row in found["loss_mask"]] == [True, False, True, True]


@pytest.mark.parametrize("trouble", ["busy", "broken", "cut"])
def test_trouble_on_the_way_is_retried(service: Wire, areal: Any, trouble: Any) -> None:
    service.troubles = [trouble]
    assert episode(workflow(areal))["rewards"] == pytest.approx(ADVANTAGES, abs=1e-6)
    assert len(service.posts) == 2


def test_a_group_in_both_places_is_refused(service: Wire, areal: Any) -> None:
    with pytest.raises(ValueError, match=r"n_samples is 8, .* set it to 1"):
        areal.RDANWorkflow(GenerationHyperparameters(8), Characters(), group_size=8)
    with pytest.raises(ValueError, match="`group_size` is 1"):
        areal.RDANWorkflow(GenerationHyperparameters(), Characters(), group_size=1)


def test_a_column_that_is_missing_is_named(service: Wire, areal: Any) -> None:
    with pytest.raises(InvalidRequest, match=r"no column `rubrics` \(it has messages, rubrics\)"):
        episode(workflow(areal), rubrics=None)


def test_without_areal_the_import_says_how_to_get_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {NAME}"], capture_output=True, text=True, check=False
    )
    assert done.stderr.rstrip().endswith("pip install areal")
