"""verl's hooks against a real service, called as verl 0.9.1 calls them.

verl, torch and TransferQueue are stubs here; `tests/engines/test_verl.py` has the real ones.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import AdapterSettings, Scoring, Unscored, verl
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.adapters._rows import Sample
from rubricate_clients.errors import InvalidRequest
from rubricate_clients.rollout_log import RolloutLog
from torch_stub import tensor

INFO: dict[str, Any] = {"prompt": PROMPT, "rubrics": json.dumps(RUBRICS), "num_turns": 2}
MASK = tensor([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0]])


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    monkeypatch.setattr(verl, "_HOOKS", Hooks(verl._hook))
    return running


def rewards(
    hook: Any = verl.rdan_reward, infos: Sequence[dict[str, Any]] = (INFO,) * 4
) -> list[dict[str, Any]]:
    """What each of the four responses is rewarded with, all asked for at once as verl's workers do."""

    async def all_of_them() -> list[Any]:
        calls = [
            hook(data_source="if", solution_str=response, ground_truth="", extra_info=info)
            for response, info in zip(RESPONSES, infos, strict=True)
        ]
        return await asyncio.gather(*calls)

    return asyncio.run(all_of_them())


def columns(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """As verl collects what reward functions return: the keys of the first row, asked of all."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def advantages(rows: Sequence[dict[str, Any]], uids: Sequence[str]) -> Any:
    return verl.rdan_advantages(
        token_level_rewards=tensor(np.zeros(MASK.shape)),
        response_mask=MASK,
        config=None,
        index=np.array(uids, dtype=object),
        non_tensor_batch=columns(rows),
        batch={"prompts": None},
    )


def test_advantages_are_rdan_at_every_token_of_a_response(service: Wire) -> None:
    found, returns = advantages(rewards(), ["p"] * 4)
    assert np.array_equal(found, returns)
    assert found == pytest.approx(np.array(ADVANTAGES)[:, None] * MASK, abs=1e-6)
    assert service.posts == ["/v1/score"] * 4


def test_groups_are_told_apart_by_their_uid_in_any_order(service: Wire) -> None:
    first, _, _, last = rewards()
    found, _ = advantages([first, last, last, first], ["p", "q", "p", "q"])
    half = 0.7071
    assert found[:, 0] == pytest.approx([half, -half, -half, half], abs=1e-4)


def test_every_response_has_the_same_finite_numbers(service: Wire) -> None:
    hook = verl.reward_with(log_rubrics=["vivid", "unknown"])
    rows = rewards(hook, [INFO, INFO, INFO, {**INFO, "rubrics": UNDECIDABLE}])
    assert len({tuple(row) for row in rows}) == 1
    assert all(type(value) is float and math.isfinite(value) for row in rows for value in row.values())
    assert [row["score"] for row in rows] == [1.0, 1.0, 1.0, 0.0]
    assert [row["rdan_signal"] for row in rows] == [2.0, 1.5, 1.0, 0.0]
    assert [row["rdan_valid"] for row in rows] == [1.0, 1.0, 1.0, 0.0]
    assert [row["rdan_rubric/vivid"] for row in rows] == [1.0, 0.5, 0.0, 0.0]
    assert [row["rdan_rubric_valid/vivid"] for row in rows] == [1.0, 1.0, 1.0, 0.0]
    assert {row["rdan_rubric_valid/unknown"] for row in rows} == {0.0}


def test_a_response_without_a_score_gets_no_advantage_and_moves_no_other(service: Wire) -> None:
    rows = rewards(infos=[INFO, INFO, INFO, {**INFO, "rubrics": UNDECIDABLE}])
    found, _ = advantages(rows, ["p"] * 4)
    assert found[:, 0] == pytest.approx([1.0, 0.0, -1.0, 0.0], abs=1e-5)


def test_the_estimator_has_the_parameters_of_its_own_environment(
    service: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rewards()
    monkeypatch.delenv("RUBRICATE_URL")  # it asks no service
    monkeypatch.setenv("RUBRICATE_QUALITY_WEIGHT", "0")
    found, _ = advantages(rows, ["p"] * 4)
    assert found[:, 0] == pytest.approx([0.5, 0.5, 0.5, -1.5], abs=1e-5)


@pytest.mark.parametrize("parameter", ["quality_weight", "sigma_floor"])
def test_parameters_of_the_estimator_are_not_passed_over_in_silence(parameter: str) -> None:
    with pytest.raises(
        ValueError, match=rf"`{parameter}` would have no effect .*RUBRICATE_{parameter.upper()}"
    ):
        verl.reward_with(url="http://127.0.0.1:1", **{parameter: 0.5})


@pytest.mark.parametrize("trouble", ["busy", "broken", "cut"])
def test_trouble_on_the_way_is_retried(service: Wire, trouble: Any) -> None:
    service.troubles = [trouble]
    assert [row["score"] for row in rewards()] == [1.0, 1.0, 1.0, 0.0]
    assert len(service.posts) == 5


def test_a_service_that_does_not_answer_in_time_is_no_score_of_0(service: Wire) -> None:
    service.troubles = ["slow"] * 8
    with pytest.raises(Unscored, match=r"no answer within 0\.4 s"):
        asyncio.run(verl.reward_with(timeout_s=0.4)("if", RESPONSES[0], "", INFO))
    masked = rewards(verl.reward_with(timeout_s=0.4, unscored="mask"))
    assert {row["rdan_valid"] for row in masked} == {0.0}
    found, _ = advantages(masked, ["p"] * 4)
    assert not found.any()


@pytest.mark.parametrize(
    "info",
    [
        {"prompt": PROMPT, "rubrics": RUBRICS},
        {"prompt": [{"role": "user", "content": PROMPT}], "rubrics": json.dumps(RUBRICS)},
        {"raw_prompt": [{"role": "user", "content": PROMPT}], "rubrics": RUBRICS, "num_turns": None},
    ],
)
def test_prompt_and_rubrics_are_found_in_extra_info(service: Wire, info: dict[str, Any]) -> None:
    found, _ = advantages(rewards(infos=[info] * 4), ["p"] * 4)
    assert found[:, 0] == pytest.approx(ADVANTAGES, abs=1e-6)


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (None, "column `extra_info` must be an object .*, not None"),
        ([{"rubrics": "[]"}], "column `extra_info` must be an object"),
        ({"num_turns": 2}, r"lacks `prompt` and `rubrics` \(it has num_turns\)"),
        ({"prompt": PROMPT}, "lacks `rubrics`"),
        ({"prompt": PROMPT, "rubrics": "{"}, "`rubrics` is a string but not JSON"),
    ],
)
def test_a_row_that_cannot_be_sent_says_what_is_missing(service: Wire, info: Any, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        rewards(infos=[info] * 4)


def test_verl_sees_that_the_hooks_are_async() -> None:
    assert inspect.iscoroutinefunction(verl.rdan_reward)
    assert inspect.iscoroutinefunction(verl.reward_with(url="http://127.0.0.1:1"))


def test_rows_of_another_reward_function_are_refused(service: Wire) -> None:
    with pytest.raises(ValueError, match=r"lacks rdan_outcome, .* set reward.custom_reward_function"):
        advantages([{"score": 1.0}] * 4, ["p"] * 4)
    with pytest.raises(ValueError, match="`uid`"):
        verl.rdan_advantages(MASK, MASK, non_tensor_batch=columns(rewards()))


@dataclass
class KVBatchMeta:
    """A batch of TransferQueue: where its rows are, and a tag for each."""

    keys: list[str]
    tags: list[dict[str, Any]]
    partition_id: str = "train"


@dataclass
class Queue:
    """The rows that TransferQueue holds, by key."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def kv_batch_get(self, keys: list[str], partition_id: str, select_fields: list[str]) -> dict[str, Any]:
        assert (partition_id, select_fields) == ("train", ["extra_fields"])
        return {"extra_fields": np.array([self.rows[key] for key in keys], dtype=object)}


class PPOTrainerSync:
    """verl's trainer as far as the estimator sees it: uid, rewards and mask, and nothing else."""

    config = SimpleNamespace(algorithm=SimpleNamespace(adv_estimator="gdpo"))

    def _compute_advantage(self, batch: KVBatchMeta, metrics: dict[str, float]) -> Any:
        self.advantages, _ = sys.modules["verl.trainer.ppo.core_algos"].ADV_ESTIMATOR_REGISTRY["gdpo"](
            token_level_rewards=tensor(np.zeros((len(batch.keys), 1))),
            response_mask=tensor([[0 if tag.get("is_padding") else 1] for tag in batch.tags]),
            config=None,
            index=np.array([key.split("_")[0] for key in batch.keys], dtype=object),
            non_tensor_batch={"uid": None},
            batch={},
        )
        return batch


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    """verl's registries and TransferQueue in the place of the installed ones."""
    queue = Queue()
    for name in ("verl", "verl.trainer", "verl.trainer.ppo", "verl.trainer.ppo.v1"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    core: Any = ModuleType("verl.trainer.ppo.core_algos")
    core.ADV_ESTIMATOR_REGISTRY = {"gdpo": None}
    base: Any = ModuleType("verl.trainer.ppo.v1.trainer_base")
    base.TRAINER_REGISTRY = {"sync": PPOTrainerSync}
    monkeypatch.setitem(sys.modules, core.__name__, core)
    monkeypatch.setitem(sys.modules, base.__name__, base)
    monkeypatch.setitem(sys.modules, "transfer_queue", SimpleNamespace(kv_batch_get=queue.kv_batch_get))
    verl.register()
    verl.register()  # a process may import the plugin twice
    return queue


def v1_trainer() -> Any:
    registry = sys.modules["verl.trainer.ppo.v1.trainer_base"].TRAINER_REGISTRY
    assert [(mode, trainer.__name__) for mode, trainer in registry.items()] == [
        ("sync", "RDANPPOTrainerSync")
    ]
    return registry["sync"]()


def test_v1_gets_rdan_for_each_turn_and_counts_a_sample_once(service: Wire, queue: Queue) -> None:
    rows = {f"p_{n}_0": {"reward_extra_info": row} for n, row in enumerate(rewards())}
    rows["p_2_1"] = rows["p_2_0"]  # a second turn of the same sample
    rows["pad0_0_0"] = rows["p_0_0"]
    queue.rows = rows
    keys = ["pad0_0_0", "p_2_1", "p_0_0", "p_3_0", "p_2_0", "p_1_0"]
    batch = KVBatchMeta(keys, [{"is_padding": key.startswith("pad")} for key in keys])
    trainer, metrics = v1_trainer(), {"training/epoch": 0.0}
    assert trainer._compute_advantage(batch, metrics) is batch
    expected = [0.0, *(ADVANTAGES[n] for n in (2, 0, 3, 2, 1))]
    assert trainer.advantages[:, 0] == pytest.approx(expected, abs=1e-6)
    assert metrics["rubricate/outcome"] == metrics["rubricate/eligible_rate"] == 0.75
    assert metrics["rubricate/quality"] == 0.5
    assert metrics["rubricate/zero_advantage_groups"] == 0.0
    with pytest.raises(ValueError, match="lacks rdan_outcome"):  # nothing is left over for another batch
        verl.rdan_advantages(MASK, MASK, index=["p"] * 4, non_tensor_batch={"uid": None})


def test_v1_logs_what_a_rollout_log_has(service: Wire, queue: Queue) -> None:
    soft = [*RUBRICS, {"id": "odd", "check": "text:no_such_check", "hard": False}]
    logged = ["vivid", "odd", "unknown"]
    infos = [{**INFO, "rubrics": rubrics} for rubrics in (RUBRICS, soft, RUBRICS, UNDECIDABLE)]
    rows = rewards(verl.reward_with(log_rubrics=logged), infos)
    queue.rows = {f"p_{n}_0": {"reward_extra_info": row} for n, row in enumerate(rows)}
    metrics: dict[str, float] = {}
    v1_trainer()._compute_advantage(KVBatchMeta(list(queue.rows), [{}] * 4), metrics)
    scoring = Scoring(AdapterSettings.read(judging="eligible"))
    samples = [
        Sample(PROMPT, text, info["rubrics"], n)
        for n, (text, info) in enumerate(zip(RESPONSES, infos, strict=True))
    ]
    wanted = RolloutLog(logged).of_scores(scoring.score_sync(samples), ["p"] * 4)
    assert metrics.keys() == wanted.keys()
    of_groups = ("advantage", "_std")  # there each response was a group of its own
    for name, value in wanted.items():
        assert any(part in name for part in of_groups) or metrics[name] == value, name
    assert metrics["rubricate/reward"] == 0.5
    assert metrics["rubricate/failed/unknown_check"] == 2.0
    assert metrics["rubricate/rubric_decided/odd"] == 0.0
    assert metrics["rubricate/outcome_advantage_std"] == 0.0


def test_v1_refuses_rows_of_another_reward_function(service: Wire, queue: Queue) -> None:
    queue.rows = {"p_0_0": {"turn_scores": []}}
    with pytest.raises(ValueError, match="lacks rdan_outcome"):
        v1_trainer()._compute_advantage(KVBatchMeta(["p_0_0"], [{}]), {})


def test_v1_with_another_estimator_is_left_alone(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        PPOTrainerSync, "config", SimpleNamespace(algorithm=SimpleNamespace(adv_estimator="grpo"))
    )
    monkeypatch.setattr(PPOTrainerSync, "_compute_advantage", lambda self, batch, metrics: (batch, metrics))
    assert v1_trainer()._compute_advantage("rows", {}) == ("rows", {})


def test_a_verl_without_gdpo_is_refused(queue: Queue) -> None:
    sys.modules["verl.trainer.ppo.core_algos"].ADV_ESTIMATOR_REGISTRY.clear()
    with pytest.raises(ImportError, match="no estimator `gdpo`"):
        verl.register()


def test_without_verl_the_module_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "verl", None)
    with pytest.raises(ImportError, match="pip install verl"):
        verl.register()
