"""The hooks for verifiers in verifiers' own hands, against a running service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engines.trainer_program import run_program
from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire, reward_service

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    with reward_service(tmp_path_factory.mktemp("service")) as wire:
        yield wire


@pytest.fixture
def service(running: Wire) -> Wire:
    running.reset()
    return running


def scored(how: str, url: str, rubrics: Any = RUBRICS) -> dict[str, Any]:
    job = {"how": how, "prompt": PROMPT, "rubrics": rubrics, "responses": RESPONSES}
    return run_program("verifiers", job, url)


def test_a_v0_rubric_trains_on_rdan_and_logs_its_numbers(service: Wire) -> None:
    states = scored("v0", service.url)["rollouts"]
    assert service.posts == ["/v1/score"]
    assert [state["reward"] for state in states] == pytest.approx(ADVANTAGES, abs=1e-9)
    assert [state["advantage"] for state in states] == pytest.approx(ADVANTAGES, abs=1e-9)
    assert [state["metrics"]["outcome"] for state in states] == [1, 1, 1, 0]
    assert [state["metrics"]["quality"] for state in states] == [1, 0.5, 0, 0]
    assert len({tuple(state["metrics"]) for state in states}) == 1


def test_a_v0_rubric_of_ones_own_takes_the_function(service: Wire) -> None:
    states = scored("v0-function", service.url)["rollouts"]
    assert [state["advantage"] for state in states] == pytest.approx(ADVANTAGES, abs=1e-9)


@pytest.mark.parametrize("how", ["v0", "v1"])
def test_what_is_not_scored_is_an_error_there(service: Wire, how: str) -> None:
    error = scored(how, service.url, UNDECIDABLE)["error"]
    assert "Unscored" in error
    assert "unknown_check" in error


def test_what_is_not_scored_is_masked_on_demand(service: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRICATE_UNSCORED", "mask")
    rollouts = scored("v0", service.url, UNDECIDABLE)["rollouts"]
    assert [(rollout["reward"], rollout["metrics"]["valid"]) for rollout in rollouts] == [(0.0, 0.0)] * 4


def test_v1_metrics_are_what_rdan_needs_and_the_reward_is_gated(service: Wire) -> None:
    traces = scored("v1", service.url)["rollouts"]
    assert [trace["reward"] for trace in traces] == [1.0, 0.5, 0.0, 0.0]
    assert [trace["metrics"]["outcome"] for trace in traces] == [1, 1, 1, 0]
    assert [trace["metrics"]["quality"] for trace in traces] == [1, 0.5, 0, 0]
    assert service.posts == ["/v1/score"] * 4
