"""slime: a reward model, RDAN in place of its reward normalisation, and a filter that looks at RDAN.

    --custom-rm-path rubricate_clients.adapters.slime.rdan_reward
    --group-rm
    --reward-key outcome
    --custom-reward-post-process-path rubricate_clients.adapters.slime.rdan_advantages
    --dynamic-sampling-filter-path rubricate_clients.adapters.slime.rdan_filter

The hooks' signatures are those of slime 624b824a8: `slime/rollout/rm_hub/__init__.py` (reward model),
`slime/ray/rollout.py` (post-processing) and `slime/rollout/filter_hub/base_types.py` (filter).
slime itself is never imported.

A sample's rubrics are `metadata["rubrics"]`, else its `label`: JSON `{"rubrics": [...]}`, which the service's
route for slime takes as well. `metadata["prompt"]` goes before `prompt`, which is a rendered template with
`--apply-chat-template`. The tokens that end a turn are cut off the response.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cache
from typing import Any

from rubricate_clients.adapters._channels import rdan_of
from rubricate_clients.adapters._rows import Sample
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.decoded import with_opened_thinking, without_end_tokens
from rubricate_clients.errors import InvalidRequest

Reward = dict[str, float]
RewardHook = Callable[..., Coroutine[Any, Any, Reward | list[Reward]]]


async def rdan_reward(args: Any, samples: Any, **kwargs: Any) -> Reward | list[Reward]:
    """`--custom-rm-path`: the numbers of one sample, or with `--group-rm` of a prompt's samples in one POST.

    Args:
        args: slime's arguments.
        samples: A `Sample`, or the list of a group's.
        **kwargs: What slime may add; not looked at.

    Returns:
        The numbers of `Score.numbers` for each sample. `outcome` is to be named as `--reward-key`.

    Raises:
        RewardServiceError: The samples cannot be sent, or are not scored and `unscored` is `raise`.
    """
    return await _default_reward()(args, samples, **kwargs)


def reward_with(**settings: Any) -> RewardHook:
    """`rdan_reward` with settings given here instead of in the environment; see `AdapterSettings`."""
    scoring = Scoring(AdapterSettings.read(**settings))

    async def reward(args: Any, samples: Any, **kwargs: Any) -> Reward | list[Reward]:
        alone = not isinstance(samples, Sequence)
        asked = [_sample(sample, scoring.settings) for sample in ([samples] if alone else samples)]
        # a lone sample's group is scored elsewhere, and may need its quality
        scores = await scoring.score(asked, advantages=not alone)
        numbers = [score.numbers() for score in scores]
        return numbers[0] if alone else numbers

    return reward


def rdan_advantages(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """`--custom-reward-post-process-path`: the true outcomes to log, and RDAN's advantages to train on.

    Samples are grouped by their `group_index`, so that groups may be of any size. Those that are not scored
    are taken out of the loss by slime's own `remove_sample`.

    Args:
        args: slime's arguments.
        samples: All samples of a rollout, rewarded by `rdan_reward`.

    Returns:
        Outcomes and advantages, a number for each sample; both 0.0 for samples that are not scored.

    Raises:
        ValueError: A sample has no group, or was not rewarded by `rdan_reward`.
    """
    rows = [_numbers(sample) for sample in samples]
    groups = [_group(sample) for sample in samples]
    for sample, row in zip(samples, rows, strict=True):
        if not row["valid"]:
            sample.remove_sample = True
    return [row["outcome"] for row in rows], list(rdan_of(groups, rows, _settings()).advantages)


def rdan_filter(args: Any, samples: Sequence[Any], **kwargs: Any) -> bool:
    """`--dynamic-sampling-filter-path`: whether RDAN makes any difference between the samples of a group.

    A filter on the spread of outcomes would drop groups where all pass, though their quality differs.
    """
    rows = [_numbers(sample) for sample in samples]
    return any(rdan_of([0] * len(rows), rows, _settings()).advantages)


@cache
def _settings() -> AdapterSettings:
    return AdapterSettings.read()


@cache
def _default_reward() -> RewardHook:
    return reward_with()


def _sample(sample: Any, settings: AdapterSettings) -> Sample:
    metadata = sample.metadata if isinstance(sample.metadata, Mapping) else {}
    label = metadata if metadata.get("rubrics") is not None else _label(sample)
    reference = label.get("reference")
    response = without_end_tokens(sample.response)
    if settings.thinking == "strip" and isinstance(sample.prompt, str):
        response = with_opened_thinking(sample.prompt, response)
    return Sample(
        prompt=metadata.get("prompt") or sample.prompt,
        response=response,
        rubrics=label.get("rubrics"),
        group=0,
        reference=reference if isinstance(reference, str) else None,
    )


def _label(sample: Any) -> Mapping[str, Any]:
    label = sample.label
    if isinstance(label, str):
        try:
            label = json.loads(label)
        except ValueError:
            label = None
    if isinstance(label, Mapping) and "rubrics" in label:
        return label
    raise InvalidRequest(
        f"sample {sample.index} has no rubrics: give them as `rubrics` in its metadata (--metadata-key), "
        'or in its label (--label-key) as JSON {"rubrics": [...]}'
    )


def _numbers(sample: Any) -> Mapping[str, float]:
    if isinstance(sample.reward, Mapping) and sample.reward.keys() >= Score().numbers().keys():
        return sample.reward
    raise ValueError(
        f"sample {sample.index} has the reward {sample.reward!r:.80}, not that of "
        "rubricate_clients.adapters.slime.rdan_reward: name it as --custom-rm-path"
    )


def _group(sample: Any) -> int:
    if sample.group_index is None:
        raise ValueError(f"sample {sample.index} has no group_index, so RDAN cannot tell its group")
    return int(sample.group_index)
