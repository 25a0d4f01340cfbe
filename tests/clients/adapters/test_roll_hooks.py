"""ROLL's reward worker against a real service.

ROLL is on no package index, so its `Worker`, `DataProto` and decorator are stubs with the signatures of its
repository, and torch is one too.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import Unscored
from rubricate_clients.errors import InvalidRequest
from torch_stub import stub_torch, tensor

NAME = "rubricate_clients.adapters.roll"


class Worker:
    def __init__(self, worker_config: Any) -> None:
        self.worker_config = worker_config
        self.rank_info = SimpleNamespace(rank=3, world_size=8, dp_rank=0, dp_size=1)


@dataclass
class DataProto:
    batch: dict[str, Any] = field(default_factory=dict)
    non_tensor_batch: dict[str, Any] = field(default_factory=dict)
    meta_info: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(
        cls,
        tensors: dict[str, Any],
        non_tensors: Any = None,
        meta_info: Any = None,
        num_batch_dims: int = 1,
    ) -> DataProto:
        assert len({len(values) for values in tensors.values()}) == 1
        return cls(tensors, non_tensors or {}, meta_info or {})


def register(dispatch_mode: str, execute_mode: Any = None, clear_cache: bool = True) -> Any:
    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        vars(method)["dispatch"] = dispatch_mode
        return method

    return decorate


class Characters:
    """A tokenizer whose tokens are code points, and whose padding is 0."""

    def batch_decode(self, ids: Any, skip_special_tokens: bool) -> list[str]:
        assert skip_special_tokens
        return ["".join(map(chr, row)).rstrip("\0") for row in ids.tolist()]


def stubs() -> dict[str, ModuleType]:
    contents: dict[str, dict[str, Any]] = {
        "roll.distributed.executor.worker": {"Worker": Worker},
        "roll.distributed.scheduler.decorator": {
            "Dispatch": SimpleNamespace(ONE_TO_ALL="one to all", DP_MP_COMPUTE="compute"),
            "register": register,
        },
        "roll.distributed.scheduler.protocol": {"DataProto": DataProto},
        "roll.models.model_providers": {"default_tokenizer_provider": lambda model_args: Characters()},
    }
    modules = {"torch": stub_torch()}
    for name, content in contents.items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            modules.setdefault(".".join(parts[:end]), ModuleType(".".join(parts[:end])))
        vars(modules[name]).update(content)
    return modules


@pytest.fixture
def roll(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The adapter, imported beside ROLL's stubs."""
    for name, module in stubs().items():
        monkeypatch.setitem(sys.modules, name, module)
    yield importlib.import_module(NAME)
    sys.modules.pop(NAME)


def worker(roll: Any, **settings: Any) -> Any:
    made = type("Worker", (roll.RDANRewardWorker,), {"settings": settings})
    return made(SimpleNamespace(model_args=None))


def rows(
    rubrics: Sequence[Any] = (RUBRICS,) * 4, group: Sequence[int] = (0,) * 4, size: int = 4
) -> DataProto:
    width = max(map(len, RESPONSES)) + 2
    ids = [[ord(c) for c in r] + [0] * (width - len(r)) for r in RESPONSES]
    column = np.empty(4, dtype=object)
    column[:] = list(rubrics)
    return DataProto(
        {"responses": tensor(ids, np.int64), "prompt_id": tensor(group, np.int64)},
        {"prompt": np.array([PROMPT] * 4, dtype=object), "rubrics": column},
        {"generation_config": {"num_return_sequences": size}},
    )


def test_rewards_are_rdan_and_scores_the_outcomes(service: Wire, roll: Any) -> None:
    output = worker(roll).compute_rewards(rows())
    assert output.batch["response_level_rewards"] == pytest.approx(ADVANTAGES, abs=1e-6)
    assert output.batch["scores"].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert output.batch["rdan_valid"].tolist() == [True] * 4
    assert output.batch["token_level_rewards"].shape == rows().batch["responses"].shape
    for name in ("response_level_rewards", "scores", "token_level_rewards"):
        assert output.batch[name].dtype == np.float32
    assert service.posts == ["/v1/score"]
    assert output.meta_info["metrics"]["rubricate/outcome"] == 0.75


def test_tensors_by_rubric_are_those_of_the_reference_run(service: Wire, roll: Any) -> None:
    batch = worker(roll).compute_rewards(rows()).batch
    assert batch["rdan_scores"].shape == (4, 20)
    assert batch["rdan_scores"][:, :2].tolist() == [[1.0, 1.0], [1.0, 0.0], [1.0, -1.0], [-1.0, 0.0]]
    assert not batch["rdan_scores"][:, 2:].any()
    assert batch["rdan_rubric_mask"].sum(axis=1).tolist() == [2] * 4
    assert batch["rdan_eval_mask"][:, :2].tolist() == [[True, True]] * 3 + [
        [True, False]
    ]  # it was not judged
    assert batch["rdan_hard_mask"][:, :2].tolist() == [[True, False]] * 4


def test_groups_are_told_apart_by_the_number_of_their_prompt(service: Wire, roll: Any) -> None:
    output = worker(roll).compute_rewards(rows(group=[5, 2, 2, 5], size=2))
    first, last = output.batch["response_level_rewards"][[0, 3]]
    assert (first, last) == pytest.approx((0.7071, -0.7071), abs=1e-4)
    assert service.posts == ["/v1/score"]


def test_a_response_without_a_score_gets_no_reward_and_moves_no_other(service: Wire, roll: Any) -> None:
    output = worker(roll).compute_rewards(rows([RUBRICS] * 3 + [UNDECIDABLE], [0, 0, 0, 1], 1))
    assert output.batch["response_level_rewards"] == pytest.approx([1.0, 0.0, -1.0, 0.0], abs=1e-5)
    assert output.batch["rdan_valid"].tolist() == [True, True, True, False]
    assert output.batch["rdan_eval_mask"][3].sum() == 0


def test_nothing_scored_is_raised_or_masked(service: Wire, roll: Any) -> None:
    with pytest.raises(Unscored, match="unknown_check"):
        worker(roll).compute_rewards(rows([UNDECIDABLE] * 4))
    service.troubles = ["slow"]
    masked = worker(roll, timeout_s=0.4, unscored="mask").compute_rewards(rows())
    assert not masked.batch["response_level_rewards"].any()
    assert not masked.batch["rdan_valid"].any()
    assert masked.batch["rdan_rubric_mask"].sum() == 8
    assert masked.batch["rdan_eval_mask"].sum() == 0


@pytest.mark.parametrize("trouble", ["busy", "broken", "cut"])
def test_trouble_on_the_way_is_retried(service: Wire, roll: Any, trouble: Any) -> None:
    service.troubles = [trouble]
    output = worker(roll).compute_rewards(rows())
    assert output.batch["response_level_rewards"] == pytest.approx(ADVANTAGES, abs=1e-6)
    assert len(service.posts) == 2


def test_a_group_that_was_split_is_refused(service: Wire, roll: Any) -> None:
    with pytest.raises(ValueError, match="4 of the 8 responses to prompt 0 came without the others"):
        worker(roll).compute_rewards(rows(size=8))
    assert not service.posts


def test_more_rubrics_than_the_tensors_hold_say_what_to_do(service: Wire, roll: Any) -> None:
    many = [{"id": str(n), "check": "text:word_count", "kwargs": {"min": 1}} for n in range(21)]
    with pytest.raises(InvalidRequest, match=r"row 0 has 21 rubrics; .* greater `width`"):
        worker(roll).compute_rewards(rows([many] * 4))
    assert not service.posts


def test_a_column_that_is_missing_is_named(service: Wire, roll: Any) -> None:
    data = rows()
    del data.non_tensor_batch["rubrics"]
    with pytest.raises(InvalidRequest, match="no column rubrics"):
        worker(roll).compute_rewards(data)


def test_a_pipeline_that_would_change_rewards_is_refused(service: Wire, roll: Any) -> None:
    right = {
        "adv_estimator": "reinforce",
        "norm_mean_type": None,
        "norm_std_type": None,
        "whiten_rewards": False,
        "whiten_advantages": False,
        "add_token_level_kl": False,
        "is_num_return_sequences_expand": False,
        "gamma": 1.0,
    }
    worker(roll).initialize(SimpleNamespace(**right))
    wrong = SimpleNamespace(
        **{**right, "adv_estimator": "grpo", "norm_std_type": "group", "whiten_advantages": True}
    )
    with pytest.raises(ValueError, match=r"reinforce, norm_std_type: null, whiten_advantages: false$"):
        worker(roll).initialize(wrong)


def test_the_worker_takes_its_place_among_others(service: Wire, roll: Any) -> None:
    made = worker(roll)
    assert (made.rank_info.dp_rank, made.rank_info.dp_size) == (3, 8)
    assert (made.initialize.dispatch, made.compute_rewards.dispatch) == ("one to all", "compute")


def test_without_roll_the_import_says_where_it_is_to_be_had() -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {NAME}"], capture_output=True, text=True, check=False
    )
    assert "ImportError: rubricate_clients.adapters.roll needs Alibaba's ROLL" in done.stderr
