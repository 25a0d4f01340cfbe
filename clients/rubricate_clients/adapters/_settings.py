"""What an adapter must know, from its caller or from the environment of the training job."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from rubricate_clients.adapters._log import warn_once
from rubricate_clients.faults import details_of
from rubricate_clients.wire import AdvantageSpec, Judging, Options

ENVIRONMENT = "RUBRICATE_"


def _listed(value: Any) -> Any:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class RDANParameters(BaseModel):
    """How outcome and quality become RDAN's advantages.

    Attributes:
        quality_weight: RDAN's weight of quality beside the outcome.
        sigma_floor: RDAN's least standard deviation of quality.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    quality_weight: Annotated[float, Field(ge=-1e30, le=1e30, allow_inf_nan=False)] = 1.0
    sigma_floor: Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)] = 0.0

    @classmethod
    def read(cls, **given: Any) -> Self:
        """Settings as given, the rest from the environment.

        Raises:
            ValueError: Something is missing or no such setting, with what to do.
        """
        _tell_misspelt()
        names = {name: cls.variable(name) for name in cls.model_fields}
        found = {name: os.environ[variable] for name, variable in names.items() if os.environ.get(variable)}
        try:
            return cls.model_validate({**found, **given})
        except ValidationError as error:
            faults = "; ".join(f"`{d.path}`: {d.message}" for d in details_of(error))
            raise ValueError(
                f"the adapter's settings are not right ({faults}). Give them as arguments, or as variables "
                f"such as {ENVIRONMENT}URL=http://127.0.0.1:8080"
            ) from None

    @staticmethod
    def variable(name: str) -> str:
        """The variable of a setting."""
        return ENVIRONMENT + name.upper()


class AdapterSettings(RDANParameters):
    """Where the service is, how it scores, and what to do when it could not.

    Each field can be given by a variable too: `RUBRICATE_URL`, `RUBRICATE_TOKEN` and so on.

    Attributes:
        url: Address of the service, such as `http://127.0.0.1:8080`.
        token: Its bearer token.
        timeout_s: Seconds that the scoring of one batch may take, all retries included.
        judging: Which responses the judge is asked about; by default those that the method needs.
        mode: `strict` or `loose` checks.
        thinking: Whether what stands before the last `</think>` is stripped or kept.
        unscored: What happens when the service is gone, or when nothing of a batch could be decided:
            `raise` stops the trainer's step with an error, `mask` leaves the whole batch out. A batch is
            what a hook asks for at a time, one group or more. A single response that a service in
            good health could not decide is always masked, beside others and where hooks ask for one at a
            time.
        run: Name of the training run, for the service's logs.
        num_generations: Responses per prompt, for hooks that are given rows without a group's key; those
            that can ask their trainer need it not.
        log_rubrics: Ids of the rubrics whose means are logged each on its own, as a list or separated by
            commas. The same ones at every step, so that each is a curve.
    """

    url: str
    token: SecretStr | None = None
    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 120.0
    judging: Judging | None = None
    mode: Literal["strict", "loose"] = "strict"
    thinking: Literal["strip", "keep"] = "strip"
    unscored: Literal["raise", "mask"] = "raise"
    run: str | None = None
    num_generations: Annotated[int, Field(ge=1)] | None = None
    log_rubrics: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()

    def options(self, *, advantages: bool) -> Options:
        """Options of a request: with RDAN's advantages for whole groups, without for single responses."""
        if not advantages:
            # quality may be needed by members of the group that are scored elsewhere
            return Options(judging=self.judging or "eligible", mode=self.mode, thinking=self.thinking)
        spec = AdvantageSpec(method="rdan", quality_weight=self.quality_weight, sigma_floor=self.sigma_floor)
        return Options(judging=self.judging, mode=self.mode, thinking=self.thinking, advantages=spec)


SERVICE_ONLY = frozenset({"TOKENS", "CHECK_TIMEOUT_S"})
"""Settings of the service whose names, in variables with the same prefix, are close to those above."""

_CLOSE = 0.7  # difflib's ratio, as of TIMEOUT and TIMEOUT_S; other programs' variables are further away


def _tell_misspelt() -> None:
    """Warn of variables that nearly have the name of a setting: they would be passed over in silence."""
    known = [name.upper() for name in AdapterSettings.model_fields]
    for variable in os.environ:
        name = variable.removeprefix(ENVIRONMENT)
        if name == variable or name in known or name in SERVICE_ONLY or "__" in name:
            continue
        if near := get_close_matches(name, known, 1, _CLOSE):
            warn_once(f"{variable} is no variable of the adapters: is {ENVIRONMENT}{near[0]} meant?")
