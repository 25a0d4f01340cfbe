"""The hooks for verifiers, called as it calls them; `tests/engines/test_verifiers.py` has it call them."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import Unscored, verifiers
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.errors import InvalidRequest


class Message(SimpleNamespace):
    """A pydantic message, as far as it is looked at."""

    def model_dump(self) -> dict[str, Any]:
        return vars(self)


def states(rubrics: Any = RUBRICS) -> list[dict[str, Any]]:
    return [
        {
            "prompt": [Message(role="user", content=PROMPT)],
            "completion": [{"role": "assistant", "content": response}],
            "info": {"rubrics": rubrics},
            "error": None,
        }
        for response in RESPONSES
    ]


def trace(response: str) -> SimpleNamespace:
    return SimpleNamespace(last_reply=response, metrics={}, info={})


def task(rubrics: Any = RUBRICS) -> SimpleNamespace:
    return SimpleNamespace(prompt=PROMPT, rubrics=rubrics)


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    monkeypatch.setattr(verifiers, "_REWARDS", Hooks(verifiers._group_reward))
    monkeypatch.setattr(verifiers, "_METRICS", Hooks(verifiers._metric))
    return running


def test_a_group_is_one_post_and_its_advantages_are_rdan(service: Wire) -> None:
    group = states()
    assert asyncio.run(verifiers.rdan_reward(group)) == pytest.approx(ADVANTAGES, abs=1e-12)
    assert service.posts == ["/v1/score"]
    assert [state["rubricate"]["outcome"] for state in group] == [1, 1, 1, 0]
    assert [state["rubricate"]["quality"] for state in group] == [1, 0.5, 0, 0]


def test_a_failed_rollout_is_no_member_of_the_group(service: Wire) -> None:
    group = states()
    group[1] |= {"error": RuntimeError("the model went away"), "completion": None}
    advantages = asyncio.run(verifiers.rdan_reward(group))
    assert (advantages[1], group[1]["rubricate"]["valid"]) == (0.0, 0.0)
    alone = [group[0], group[2], group[3]]
    assert asyncio.run(verifiers.rdan_reward(alone)) == [advantages[0], advantages[2], advantages[3]]


def test_nothing_scored_is_raised_or_masked(service: Wire) -> None:
    with pytest.raises(Unscored, match="unknown_check"):
        asyncio.run(verifiers.rdan_reward(states(UNDECIDABLE)))
    group = states(UNDECIDABLE)
    assert asyncio.run(verifiers.reward_with(unscored="mask")(group)) == [0.0] * 4
    assert [state["rubricate"]["valid"] for state in group] == [0.0] * 4


def test_metrics_of_single_rollouts_and_their_gated_reward(service: Wire) -> None:
    async def rewarded(response: str) -> float:
        rollout = trace(response)
        rollout.metrics.update(await verifiers.rdan_metrics(task(), rollout))
        return await verifiers.rdan_score(task(), rollout)

    assert [asyncio.run(rewarded(response)) for response in RESPONSES] == [1.0, 0.5, 0.0, 0.0]


def test_an_undecided_rollout_is_masked_and_its_reward_is_never_0(service: Wire) -> None:
    rollout = trace("x")
    metrics = asyncio.run(verifiers.rdan_metrics(task(UNDECIDABLE), rollout))
    assert metrics["valid"] == 0.0
    with pytest.raises(Unscored, match="unknown_check"):
        asyncio.run(verifiers.rdan_score(task(), rollout))


def test_a_quality_that_was_not_judged_has_no_reward(service: Wire) -> None:
    rollout = trace(RESPONSES[0])
    asyncio.run(verifiers.metrics_with(judging="none")(task(), rollout))
    with pytest.raises(Unscored, match="its quality was not judged"):
        asyncio.run(verifiers.rdan_score(task(), rollout))


def test_parameters_of_the_trainers_algorithm_are_not_passed_over_in_silence() -> None:
    with pytest.raises(ValueError, match=r"no effect here, since the trainer .*RUBRICATE_QUALITY_WEIGHT"):
        verifiers.metrics_with(url="http://127.0.0.1:1", quality_weight=0.5)


def test_a_quality_that_failed_keeps_its_outcome_but_has_no_reward(service: Wire) -> None:
    rubrics = [RUBRICS[0], {**UNDECIDABLE[0], "hard": False}]
    rollout = trace(RESPONSES[0])
    metrics = asyncio.run(verifiers.rdan_metrics(task(rubrics), rollout))
    assert (metrics["outcome"], metrics["valid"], metrics["quality_valid"]) == (1.0, 1.0, 0.0)
    with pytest.raises(Unscored, match="unknown_check"):
        asyncio.run(verifiers.rdan_score(task(), rollout))


def test_a_reward_without_the_metrics_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="rdan_metrics as a metric"):
        asyncio.run(verifiers.rdan_score(task(), trace("x")))


def test_a_row_without_rubrics_says_where_they_go(service: Wire) -> None:
    with pytest.raises(InvalidRequest, match=r'info\["rubrics"\]'):
        asyncio.run(verifiers.rdan_reward(states(None)))


def test_the_rubric_says_what_is_missing() -> None:
    with pytest.raises(ImportError, match="pip install 'verifiers"):
        _ = verifiers.RDANRubric
