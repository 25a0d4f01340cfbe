"""slime's hooks against a real service. `Sample` has the fields of slime's own that the hooks may see."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import Unscored, slime
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.adapters._log import warn_once
from rubricate_clients.advantages import rdan
from rubricate_clients.errors import InvalidRequest


@dataclass
class Sample:
    group_index: int | None = None
    index: int | None = None
    prompt: str | list[dict[str, str]] = ""
    response: str = ""
    label: str | None = None
    reward: float | dict[str, Any] | None = None
    remove_sample: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)

    def get_reward_value(self, key: str) -> float:
        assert isinstance(self.reward, dict)
        value: float = self.reward[key]
        return value


def group(index: int = 0, rubrics: Any = RUBRICS, **fields: Any) -> list[Sample]:
    given = {"prompt": PROMPT, "metadata": {"rubrics": rubrics}, **fields}
    return [Sample(group_index=index, index=n, response=r, **given) for n, r in enumerate(RESPONSES)]


@pytest.fixture
def service(running: Wire, monkeypatch: pytest.MonkeyPatch) -> Wire:
    running.reset()
    monkeypatch.setenv("RUBRICATE_URL", running.url)
    monkeypatch.setattr(slime, "_HOOKS", Hooks(slime._hook))
    return running


def rewarded(samples: list[Sample], *, as_group: bool) -> list[Sample]:
    async def all_of_them() -> list[Any]:
        if as_group:
            return list(await slime.rdan_reward(None, samples))
        return list(await asyncio.gather(*(slime.rdan_reward(None, sample) for sample in samples)))

    for sample, reward in zip(samples, asyncio.run(all_of_them()), strict=True):
        sample.reward = reward
    return samples


@pytest.mark.parametrize("as_group", [True, False])
def test_advantages_are_rdan_and_outcomes_are_logged(service: Wire, as_group: bool) -> None:
    raw, advantages = slime.rdan_advantages(None, rewarded(group(), as_group=as_group))
    assert advantages == pytest.approx(ADVANTAGES, abs=1e-12)
    assert raw == [1.0, 1.0, 1.0, 0.0]
    assert service.posts == ["/v1/score"] * (1 if as_group else 4)


def test_groups_of_any_size_are_told_apart_by_their_index(service: Wire) -> None:
    small = group(7)[:2]
    samples = rewarded(group(3), as_group=True) + rewarded(small, as_group=True)
    order = [4, 0, 1, 5, 2, 3]
    _, advantages = slime.rdan_advantages(None, [samples[i] for i in order])
    alone = slime.rdan_advantages(None, small)[1]
    assert advantages == pytest.approx([[*ADVANTAGES, *alone][i] for i in order], abs=1e-12)


def test_rewards_have_the_same_finite_numbers_for_every_sample(service: Wire) -> None:
    rewards = [sample.reward for sample in rewarded(group(), as_group=True)]
    assert all(isinstance(reward, dict) for reward in rewards)
    assert {tuple(reward) for reward in rewards if isinstance(reward, dict)} == {
        ("outcome", "quality", "eligible", "valid", "quality_valid")
    }
    assert [sample.get_reward_value("outcome") for sample in rewarded(group(), as_group=True)] == [1, 1, 1, 0]


def test_a_sample_without_a_score_leaves_the_loss_and_moves_no_other(service: Wire) -> None:
    masked = slime.reward_with(unscored="mask")
    samples = group()
    samples[3].metadata = {"rubrics": UNDECIDABLE}

    async def one_by_one() -> list[Any]:
        return [await masked(None, sample) for sample in samples]

    for sample, reward in zip(samples, asyncio.run(one_by_one()), strict=True):
        sample.reward = reward
    assert slime.rdan_advantages(None, samples)[1] == pytest.approx([1.0, 0.0, -1.0, 0.0], abs=1e-5)
    assert [sample.remove_sample for sample in samples] == [False, False, False, True]


def test_nothing_scored_is_raised(service: Wire) -> None:
    with pytest.raises(Unscored, match="unknown_check"):
        asyncio.run(slime.rdan_reward(None, group(rubrics=UNDECIDABLE)))


def test_the_filter_keeps_a_group_where_all_pass_but_differ(service: Wire) -> None:
    samples = rewarded(group(), as_group=True)
    assert slime.rdan_filter(None, samples[:3])  # outcomes are equal
    assert not slime.rdan_filter(None, [samples[0], samples[0]])


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {}, "label": json.dumps({"rubrics": RUBRICS})},
        {"metadata": {"rubrics": json.dumps(RUBRICS)}},
        {
            "metadata": {"rubrics": RUBRICS, "prompt": PROMPT},
            "prompt": "<|im_start|>user\nrendered<|im_end|>",
        },
    ],
)
def test_rubrics_and_prompt_are_found_where_a_data_set_has_them(
    service: Wire, fields: dict[str, Any]
) -> None:
    _, advantages = slime.rdan_advantages(None, rewarded(group(**fields), as_group=True))
    assert advantages == pytest.approx(ADVANTAGES, abs=1e-12)


LOOSE = {"check": "startend:end_checker", "kwargs": {"end_phrase": "the fox"}}
"""It holds of the response below only where its last line may be left out."""

ECHO = {
    "check": "rule:python",
    "kwargs": {"source": "def check_following(instruction, response):\n    return instruction == 'PLAIN'"},
}
THOUGHTFUL = {"check": "text:word_count", "kwargs": {"max": 4}}


@pytest.mark.parametrize(
    ("label", "outcome"),
    [
        ({"rubrics": [ECHO]}, 0.0),
        ({"rubrics": [ECHO], "prompt": "PLAIN"}, 1.0),
        ({"rubrics": [ECHO], "prompt": [{"role": "user", "content": "PLAIN"}], "reference": None}, 1.0),
        ({"rubrics": [LOOSE]}, 0.0),
        ({"rubrics": [LOOSE], "options": {"mode": "loose"}}, 1.0),
        ({"rubrics": [LOOSE], "options": {"mode": "loose", "advantages": None}, "group": "a"}, 1.0),
        ({"rubrics": [THOUGHTFUL]}, 1.0),
        ({"rubrics": [THOUGHTFUL], "options": {"thinking": "keep"}}, 0.0),
        ({"rubrics": [LOOSE, {"check": "text:no_such"}], "options": {"outcome": "fraction"}}, None),
    ],
)
def test_prompt_and_options_of_a_label_count_for_the_hooks_as_for_the_route(
    service: Wire, label: dict[str, Any], outcome: float | None
) -> None:
    prompt, text = "<|im_start|>user\nPLAIN<|im_end|>\n<think>", "hm\n</think>the fox\nran off"
    sample = Sample(index=0, prompt=prompt, response=text, label=json.dumps({**label, "size": 1}))
    reward = asyncio.run(slime.rdan_reward(None, sample))
    assert isinstance(reward, dict)
    assert (reward["outcome"] if reward["valid"] else None) == outcome
    body = {"prompt": prompt, "response": text, "label": sample.label}
    answer = httpx2.post(f"{service.url}/compat/slime", json=body, trust_env=False)
    assert (answer.json()["outcome"] if answer.status_code == 200 else None) == outcome


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ({"options": {"mode": "lose"}}, r"`options` in the label of sample 4 are not right: `mode`"),
        ({"options": ["a"]}, "`options` in the label of sample 4"),
        ({"options": {"advantages": {"method": "rdan_ngrpo"}}}, "rdan_advantages makes them here"),
        ({"promt": "PLAIN"}, "the label of sample 4 has the unknown field 'promt'"),
    ],
)
def test_a_label_that_cannot_be_honoured_says_why(service: Wire, label: dict[str, Any], message: str) -> None:
    sample = Sample(index=4, prompt=PROMPT, response="x", label=json.dumps({"rubrics": RUBRICS, **label}))
    with pytest.raises(InvalidRequest, match=message):
        asyncio.run(slime.rdan_reward(None, sample))
    assert service.posts == []


def test_options_go_along_with_rubrics_of_the_metadata(service: Wire) -> None:
    label = json.dumps({"rubrics": [ECHO], "options": {"judging": "none"}})
    samples = rewarded(group(label=label), as_group=True)
    assert [sample.get_reward_value("quality_valid") for sample in samples] == [0.0] * 4
    samples[2].label = json.dumps({"rubrics": [ECHO]})
    with pytest.raises(InvalidRequest, match="sample 2 has other `options`"):
        rewarded(samples, as_group=True)


def test_settings_given_in_code_reach_the_advantage_hook(
    service: Wire, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    monkeypatch.delenv("RUBRICATE_URL")
    reward = slime.reward_with(url=service.url, quality_weight=0.5)
    samples = group()
    given: Any = asyncio.run(reward(None, samples))
    for sample, numbers in zip(samples, given, strict=True):
        sample.reward = numbers
    expected = rdan(
        [0] * 4,
        outcome=[1, 1, 1, 0],
        quality=[1.0, 0.5, 0.0, None],
        eligible=[1, 1, 1, 0],
        quality_weight=0.5,
    ).advantages
    assert slime.rdan_advantages(None, samples)[1] == pytest.approx(expected, abs=1e-12)
    assert not [r for r in caplog.records if r.name.startswith("rubricate")]
    slime.reward_with(url=service.url, quality_weight=0)
    assert not slime.rdan_filter(None, samples[:3])  # without a weight their qualities make no difference
    assert "hooks of this process have RDANParameters(quality_weight=0.5" in caplog.text


def test_the_advantage_hook_needs_no_service(service: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = rewarded(group(), as_group=True)
    monkeypatch.delenv("RUBRICATE_URL")
    monkeypatch.setattr(slime, "_HOOKS", Hooks(slime._hook))
    assert slime.rdan_advantages(None, samples)[1] == pytest.approx(ADVANTAGES, abs=1e-12)


def test_tokens_that_end_a_turn_are_no_part_of_a_response(service: Wire) -> None:
    ends = [{"check": "text:ends_with", "kwargs": {"value": "brook."}}]
    sample = group(rubrics=ends)[0]
    sample.response += "<|im_end|>"
    reward = asyncio.run(slime.rdan_reward(None, sample))
    assert isinstance(reward, dict)
    assert reward["outcome"] == 1.0


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (Sample(index=4, prompt=PROMPT, response="x"), "sample 4 has no rubrics"),
        (Sample(index=4, prompt=PROMPT, response="x", label="42"), "--label-key"),
    ],
)
def test_a_row_without_rubrics_says_where_they_go(service: Wire, sample: Sample, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        asyncio.run(slime.rdan_reward(None, sample))


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (Sample(index=2, reward=0.5, group_index=0), "--custom-rm-path"),
        (Sample(index=2, reward=None), "None"),
    ],
)
def test_rewards_of_another_model_are_refused(service: Wire, sample: Sample, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        slime.rdan_advantages(None, [sample])
