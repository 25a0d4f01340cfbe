"""TRL's reward function against a real service.

`Trainer` has what TRL 1.16's GRPOTrainer shows a reward function of itself; the real one trains in
`tests/engines/test_trl.py`.
"""

from __future__ import annotations

import asyncio
import inspect
import pickle
import sys
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import Scoring, trl
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.errors import InvalidRequest


class Trainer:
    def __init__(self, num_generations: int = 4, **attributes: Any) -> None:
        self.num_generations = num_generations
        self.num_generations_eval = 2
        self.scale_rewards = "none"
        self.multi_objective_aggregation = "sum_then_normalize"
        self.model = SimpleNamespace(training=True)
        self.state = SimpleNamespace(global_step=3)
        self.metrics: dict[str, list[float]] = defaultdict(list)
        self.extra: dict[str, list[Any]] = defaultdict(list)
        vars(self).update(attributes)

    def _log_metric(self, name: str, value: float) -> None:
        self.metrics[name].append(value)

    def _log_extra(self, column: str, values: list[Any]) -> None:
        self.extra[column].extend(values)

    def columns(self, **other: Any) -> dict[str, Any]:
        """What TRL calls a reward function with: one prompt's rows, or other columns."""
        return {
            "prompts": [PROMPT] * 4,
            "completions": RESPONSES,
            "completion_ids": [[1, 2]] * 4,
            "rubrics": [RUBRICS] * 4,
            "trainer_state": self.state,
            "log_extra": self._log_extra,
            "log_metric": self._log_metric,
            **other,
        }


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    monkeypatch.setattr(trl, "_SCORINGS", Hooks(Scoring))
    return running


def rewards(hook: Any, **columns: Any) -> list[float | None]:
    return list(asyncio.run(hook(**columns)))


def test_rewards_are_rdan_and_true_scores_are_logged(service: Wire) -> None:
    trainer = Trainer()
    assert rewards(trl.rdan_reward, **trainer.columns()) == pytest.approx(ADVANTAGES, abs=1e-12)
    assert service.posts == ["/v1/score"]
    assert trainer.metrics["rubricate/outcome"] == [0.75]
    assert trainer.metrics["rubricate/quality"] == [0.5]
    assert trainer.extra == {"outcome": [1, 1, 1, 0], "quality": [1.0, 0.5, 0.0, None]}


def test_many_prompts_of_messages_are_one_post(service: Wire) -> None:
    prompts = [[{"role": "user", "content": f"{PROMPT} Take {n}."}] for n in range(3) for _ in range(4)]
    completions = [[{"role": "assistant", "content": text}] for _ in range(3) for text in RESPONSES]
    columns = Trainer().columns(prompts=prompts, completions=completions, rubrics=[RUBRICS] * 12)
    assert rewards(trl.rdan_reward, **columns) == pytest.approx(ADVANTAGES * 3, abs=1e-12)
    assert service.posts == ["/v1/score"]


def test_what_is_not_scored_is_none_and_moves_no_other(service: Wire) -> None:
    columns = Trainer().columns(
        prompts=[PROMPT] * 8,
        completions=RESPONSES * 2,
        rubrics=[RUBRICS] * 4 + [UNDECIDABLE] * 4,
    )
    found = rewards(trl.rdan_reward, **columns)
    assert found[:4] == pytest.approx(ADVANTAGES, abs=1e-12)
    assert found[4:] == [None] * 4


def test_the_group_size_is_the_trainers_own(service: Wire) -> None:
    trainer = Trainer(num_generations=4)
    trainer.model.training = False  # in evaluation groups have two
    found = rewards(trl.reward_with(num_generations=4), **trainer.columns())
    assert found[0] == pytest.approx(-found[1])  # type: ignore[operator]
    assert found[2] == pytest.approx(-found[3])  # type: ignore[operator]


def test_a_trainer_that_does_not_tell_its_group_size_is_asked_for_it(service: Wire) -> None:
    columns = {name: value for name, value in Trainer().columns().items() if not name.startswith("log_")}
    with pytest.raises(ValueError, match="RUBRICATE_NUM_GENERATIONS"):
        rewards(trl.rdan_reward, **columns)
    assert rewards(trl.reward_with(num_generations=4), **columns) == pytest.approx(ADVANTAGES)


@pytest.mark.parametrize(
    ("trainer", "columns", "error", "message"),
    [
        (Trainer(3), {}, InvalidRequest, "4 rows are no whole groups of 3"),
        (Trainer(), {"rubrics": None}, InvalidRequest, "no column `rubrics`"),
        (Trainer(), {"prompts": ["a", "a", "b", "b"]}, InvalidRequest, "row 2 is in group 0"),
        (Trainer(scale_rewards="group"), {}, ValueError, 'scale_rewards="none"'),
        (Trainer(scale_rewards="batch"), {}, ValueError, 'scale_rewards="none"'),
        (
            Trainer(multi_objective_aggregation="normalize_then_sum"),
            {},
            ValueError,
            "sum_then_normalize",
        ),
    ],
)
def test_what_would_train_on_something_else_is_refused(
    service: Wire, trainer: Trainer, columns: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rewards(trl.rdan_reward, **trainer.columns(**columns))
    assert service.posts == []


def test_trl_sees_an_async_function_by_name_that_other_processes_can_have(service: Wire) -> None:
    hook = pickle.loads(pickle.dumps(trl.reward_with(run="fox")))
    assert inspect.iscoroutinefunction(hook)
    assert hook.func.__name__ == "rdan_reward"
    assert rewards(hook, **Trainer().columns()) == pytest.approx(ADVANTAGES)


def test_settings_are_read_at_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUBRICATE_URL", raising=False)
    monkeypatch.setattr(trl, "_SCORINGS", Hooks(Scoring))
    with pytest.raises(ValueError, match="RUBRICATE_URL="):
        rewards(trl.rdan_reward, **Trainer().columns())


def test_the_trainer_says_what_it_needs_where_trl_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("trl", "torch", "accelerate"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "rubricate_clients.adapters._trl_trainer", raising=False)
    with pytest.raises(ImportError, match=r"RDANGRPOTrainer needs TRL .*: pip install 'trl>=1.16'"):
        _ = trl.RDANGRPOTrainer
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = trl.no_such_name
