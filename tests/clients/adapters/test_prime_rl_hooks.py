"""RDAN as prime-rl's algorithm. prime-rl needs vLLM and a GPU, so its modules are stubs of the same names.

The stubs' signatures are those of `src/prime_rl/orchestrator/algo/{__init__,base,grpo,routing}.py`.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from reward_service import ADVANTAGES

ADAPTER = "rubricate_clients.adapters.prime_rl"


class GRPOAlgorithm:
    """The stub."""

    def __init__(self, config: Any, clients: Any) -> None:
        self.config, self.clients = config, clients


def iter_trainable_traces(episodes: list[Any]) -> Iterator[tuple[Any, Any]]:
    for episode in episodes:
        for trace in episode.traces:
            if not trace.has_error:
                yield episode, trace


def assign_advantages(trace: Any, values: float | list[float]) -> None:
    assert isinstance(values, float)
    trace.advantage = values


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    contents: dict[str, dict[str, Any]] = {
        "prime_rl": {},
        "prime_rl.orchestrator": {},
        "prime_rl.orchestrator.algo": {"ALGORITHM_CLASSES": {"grpo": GRPOAlgorithm}},
        "prime_rl.orchestrator.algo.base": {"iter_trainable_traces": iter_trainable_traces},
        "prime_rl.orchestrator.algo.grpo": {"GRPOAlgorithm": GRPOAlgorithm},
        "prime_rl.orchestrator.algo.routing": {"assign_advantages": assign_advantages},
    }
    for name, content in contents.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delenv("RUBRICATE_URL", raising=False)  # RDAN asks no service
    yield importlib.import_module(ADAPTER)
    del sys.modules[ADAPTER]


def episode(id: str, error: bool, **numbers: float) -> SimpleNamespace:
    metrics = {"valid": 1.0, "quality_valid": numbers.get("eligible", 0.0), **numbers}
    trace = SimpleNamespace(id=id, has_error=error, metrics=metrics, advantage=None)
    return SimpleNamespace(traces=[trace])


GROUP = [
    {"outcome": 1.0, "quality": 1.0, "eligible": 1.0},
    {"outcome": 1.0, "quality": 0.5, "eligible": 1.0},
    {"outcome": 1.0, "quality": 0.0, "eligible": 1.0},
    {"outcome": 0.0, "quality": 0.0, "eligible": 0.0},
]


def test_registered_for_grpo_it_gives_each_trace_its_advantage(adapter: ModuleType) -> None:
    adapter.register()
    algorithm = adapter.ALGORITHM_CLASSES["grpo"](SimpleNamespace(), None)
    episodes = [episode(str(n), False, **metrics) for n, metrics in enumerate(GROUP)]
    episodes.append(episode("failed", True, outcome=0.0, quality=0.0, eligible=0.0))
    episodes.append(episode("undecided", False, outcome=0.0, quality=0.0, eligible=0.0, valid=0.0))
    asyncio.run(algorithm.score_group(episodes))
    given = [one.traces[0].advantage for one in episodes]
    assert given[:4] == pytest.approx(ADVANTAGES, abs=1e-12)
    assert given[4:] == [None, 0.0]


def test_rdans_parameters_come_from_the_environment(
    adapter: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBRICATE_QUALITY_WEIGHT", "0")
    episodes = [episode(str(n), False, **metrics) for n, metrics in enumerate(GROUP)]
    asyncio.run(adapter.RDANAlgorithm(SimpleNamespace(), None).score_group(episodes))
    given = [one.traces[0].advantage for one in episodes]
    assert given[0] == given[1] == given[2] == pytest.approx(0.5, abs=1e-4)


def test_traces_without_our_metrics_are_refused(adapter: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"trace t lacks the metrics outcome.*rdan_metrics"):
        asyncio.run(adapter.RDANAlgorithm(SimpleNamespace(), None).score_group([episode("t", False)]))


def test_importing_says_what_is_missing() -> None:
    with pytest.raises(ImportError, match="needs prime-rl in this environment"):
        importlib.import_module(ADAPTER)
