"""slime: a reward model, RDAN in place of its reward normalisation, and a filter that looks at RDAN.

    --custom-rm-path rubricate_clients.adapters.slime.rdan_reward
    --group-rm
    --reward-key outcome
    --custom-reward-post-process-path rubricate_clients.adapters.slime.rdan_advantages
    --dynamic-sampling-filter-path rubricate_clients.adapters.slime.rdan_filter

The hooks' signatures are those of slime 624b824a8: `slime/rollout/rm_hub/__init__.py` (reward model),
`slime/ray/rollout.py` (post-processing) and `slime/rollout/filter_hub/base_types.py` (filter).
slime itself is never imported.

A sample's `label` is read as the service's route for slime reads it: JSON `{"rubrics": [...]}`, and beside
them a `prompt`, a `reference` and `options`. `rubrics`, `prompt` and `reference` in its `metadata` go before
those. The sample's own `prompt`, a rendered template with `--apply-chat-template`, is taken where neither has
one. The tokens that end a turn are cut off the response.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from rubricate_clients.adapters._channels import rdan_of
from rubricate_clients.adapters._hooks import Hooks
from rubricate_clients.adapters._rows import Sample
from rubricate_clients.adapters._scoring import Score, Scoring
from rubricate_clients.adapters._settings import AdapterSettings
from rubricate_clients.decoded import with_opened_thinking, without_end_tokens
from rubricate_clients.errors import InvalidRequest
from rubricate_clients.faults import details_of
from rubricate_clients.wire import AdvantageSpec, Options

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
        RewardServiceError: The samples cannot be sent, or the service is gone or none of a group is decided,
            and `unscored` is `raise`.
    """
    return await _HOOKS.default()(args, samples, **kwargs)


def reward_with(**settings: Any) -> RewardHook:
    """`rdan_reward` with settings given here instead of in the environment; see `AdapterSettings`."""
    return _HOOKS.given(**settings)


def _hook(settings: AdapterSettings) -> RewardHook:
    scoring = Scoring(settings)

    async def reward(args: Any, samples: Any, **kwargs: Any) -> Reward | list[Reward]:
        alone = not isinstance(samples, Sequence)
        rows = [_row(sample) for sample in ([samples] if alone else samples)]
        asked = [_sample(row, settings) for row in rows]
        # a lone sample's group is scored elsewhere, and may need its quality
        scores = await scoring.score(asked, advantages=not alone, options=_options(rows))
        numbers = [score.numbers() for score in scores]
        return numbers[0] if alone else numbers

    return reward


_HOOKS = Hooks(_hook)


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
    return [row["outcome"] for row in rows], list(rdan_of(groups, rows, _HOOKS.parameters()).advantages)


def rdan_filter(args: Any, samples: Sequence[Any], **kwargs: Any) -> bool:
    """`--dynamic-sampling-filter-path`: whether RDAN makes any difference between the samples of a group.

    A filter on the spread of outcomes would drop groups where all pass, though their quality differs.
    """
    rows = [_numbers(sample) for sample in samples]
    return any(rdan_of([0] * len(rows), rows, _HOOKS.parameters()).advantages)


@dataclass(frozen=True, slots=True)
class _Row:
    """A sample, what the data set gives for it, and the options among that."""

    sample: Any
    given: Mapping[str, Any]
    options: Mapping[str, Any]


_LABEL = ("rubrics", "prompt", "reference", "options", "group", "size", "id")
"""What a label may have. Groups are told by `group_index` here, so that the last three have no effect."""


def _row(sample: Any) -> _Row:
    label = _label(sample)
    metadata = sample.metadata if isinstance(sample.metadata, Mapping) else {}
    ahead = {name: metadata[name] for name in _LABEL[:3] if metadata.get(name) is not None}
    given = {**label, **ahead}
    if "rubrics" not in given:
        raise InvalidRequest(
            f"sample {sample.index} has no rubrics: give them as `rubrics` in its metadata (--metadata-key), "
            'or in its label (--label-key) as JSON {"rubrics": [...]}'
        )
    return _Row(sample, given, _options_of(label, sample.index))


def _label(sample: Any) -> dict[str, Any]:
    """The label's fields without nulls; empty where it is something else, such as a plain answer."""
    label = sample.label
    if isinstance(label, str):
        try:
            label = json.loads(label)
        except ValueError:
            return {}
    if not isinstance(label, Mapping) or label.get("rubrics") is None:
        return {}
    if unknown := [name for name in label if name not in _LABEL]:
        raise InvalidRequest(
            f"the label of sample {sample.index} has the unknown field {unknown[0]!r:.80}; a label has "
            f"{', '.join(_LABEL)}"
        )
    return {name: value for name, value in label.items() if value is not None}


def _options_of(label: Mapping[str, Any], index: Any) -> dict[str, Any]:
    given = label.get("options", {})
    if isinstance(given, Mapping):
        given = {name: value for name, value in given.items() if value is not None}
    try:
        options = Options.model_validate(given)
    except ValidationError as error:
        faults = "; ".join(f"`{d.path}`: {d.message}" for d in details_of(error))
        raise InvalidRequest(
            f"the `options` in the label of sample {index} are not right: {faults}"
        ) from None
    if options.advantages not in (None, AdvantageSpec(method="rdan")):
        raise InvalidRequest(
            f"the label of sample {index} has `options.advantages`, but rdan_advantages makes them here: "
            "take them out, and set RUBRICATE_QUALITY_WEIGHT and RUBRICATE_SIGMA_FLOOR"
        )
    return {name: getattr(options, name) for name in options.model_fields_set - {"advantages"}}


def _options(rows: Sequence[_Row]) -> Mapping[str, Any]:
    """The options of a prompt's samples, which are scored in one POST."""
    for row in rows:
        if row.options != rows[0].options:
            raise InvalidRequest(
                f"sample {row.sample.index} has other `options` in its label than the first of its group"
            )
    return rows[0].options if rows else {}


def _sample(row: _Row, settings: AdapterSettings) -> Sample:
    response = without_end_tokens(row.sample.response)
    if row.options.get("thinking", settings.thinking) == "strip" and isinstance(row.sample.prompt, str):
        response = with_opened_thinking(row.sample.prompt, response)
    reference = row.given.get("reference")
    return Sample(
        prompt=row.given.get("prompt", row.sample.prompt),
        response=response,
        rubrics=row.given["rubrics"],
        group=0,
        reference=reference if isinstance(reference, str) else None,
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
