"""All methods by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .arrays import Values
from .channels import gdpo, rdan, rdan_ngrpo
from .errors import AdvantageError
from .result import Advantages
from .rewards import dr_grpo, grpo, ngrpo, rloo


@dataclass(frozen=True, slots=True)
class Method:
    """One method: its function, and the names of what it reads beside `groups`."""

    function: Callable[..., Advantages]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...] = ()


_CHANNELS = ("outcome", "quality", "eligible", "valid")
_REWARD = (*_CHANNELS, "reward")

METHODS = {
    "rdan": Method(rdan, _CHANNELS, ("quality_weight", "sigma_floor")),
    "ngrpo": Method(ngrpo, _REWARD, ("r_max", "virtual")),
    "rdan_ngrpo": Method(rdan_ngrpo, _CHANNELS, ("quality_weight", "sigma_floor", "r_max", "virtual")),
    "gdpo": Method(gdpo, _CHANNELS, ("weights", "whiten")),
    "grpo": Method(grpo, _REWARD),
    "dr_grpo": Method(dr_grpo, _REWARD),
    "rloo": Method(rloo, _REWARD),
}


def compute(
    method: str,
    groups: Values,
    *,
    outcome: Values = None,
    quality: Values = None,
    eligible: Values = None,
    valid: Values = None,
    reward: Values = None,
    **parameters: Any,
) -> Advantages:
    """Compute the advantages of N responses by a method's name.

    Args:
        method: a key of `METHODS`.
        groups: group id of each response, N hashables or integers, groups in any order.
        outcome: see the method's function, likewise the next four. What the method does not read is
            ignored, so one caller can serve all methods.
        quality: see there.
        eligible: see there.
        valid: see there.
        reward: see there.
        **parameters: the method's parameters, by name.

    Raises:
        NeedsAllScores: the method needs scores that gating left out.
        AdvantageError: the method or a parameter is unknown, or an input is missing or unreadable.
    """
    if method not in METHODS:
        raise AdvantageError(f"unknown method {method!r}; the methods are {', '.join(METHODS)}")
    entry = METHODS[method]
    for name in parameters:
        if name not in entry.parameters:
            own = ", ".join(entry.parameters) or "none"
            raise AdvantageError(f"`{name}` is not a parameter of {method} (its parameters: {own})")
    inputs = {"outcome": outcome, "quality": quality, "eligible": eligible, "valid": valid, "reward": reward}
    return entry.function(groups, **{name: inputs[name] for name in entry.inputs}, **parameters)
