"""What an adapter must know, from its caller or from the environment of the training job."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from rubricate_clients.faults import details_of
from rubricate_clients.wire import AdvantageSpec, Judging, Options

ENVIRONMENT = "RUBRICATE_"


def _listed(value: Any) -> Any:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class AdapterSettings(BaseModel):
    """Where the service is, how it scores, and what to do when it could not.

    Each field can be given by a variable too: `RUBRICATE_URL`, `RUBRICATE_TOKEN` and so on.

    Attributes:
        url: Address of the service, such as `http://127.0.0.1:8080`.
        token: Its bearer token.
        timeout_s: Seconds that the scoring of one batch may take, all retries included.
        quality_weight: RDAN's weight of quality beside the outcome.
        sigma_floor: RDAN's least standard deviation of quality.
        judging: Which responses the judge is asked about; by default those that the method needs.
        mode: `strict` or `loose` checks.
        thinking: Whether what stands before the last `</think>` is stripped or kept.
        unscored: What happens when nothing of a batch could be scored, as when the service is gone:
            `raise` stops the trainer's step with an error, `mask` leaves the whole batch out. A single
            response that could not be decided beside others is always masked.
        run: Name of the training run, for the service's logs.
        num_generations: Responses per prompt, for hooks that are given rows without a group's key; those
            that can ask their trainer need it not.
        log_rubrics: Ids of the rubrics whose means are logged each on its own, as a list or separated by
            commas. The same ones at every step, so that each is a curve.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str
    token: SecretStr | None = None
    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 120.0
    quality_weight: Annotated[float, Field(ge=-1e30, le=1e30, allow_inf_nan=False)] = 1.0
    sigma_floor: Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)] = 0.0
    judging: Judging | None = None
    mode: Literal["strict", "loose"] = "strict"
    thinking: Literal["strip", "keep"] = "strip"
    unscored: Literal["raise", "mask"] = "raise"
    run: str | None = None
    num_generations: Annotated[int, Field(ge=1)] | None = None
    log_rubrics: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()

    @classmethod
    def read(cls, **given: Any) -> Self:
        """Settings as given, the rest from the environment.

        Raises:
            ValueError: Something is missing or no such setting, with what to do.
        """
        names = {name: ENVIRONMENT + name.upper() for name in cls.model_fields}
        found = {name: os.environ[variable] for name, variable in names.items() if os.environ.get(variable)}
        try:
            return cls.model_validate({**found, **given})
        except ValidationError as error:
            faults = "; ".join(f"`{d.path}`: {d.message}" for d in details_of(error))
            raise ValueError(
                f"the adapter's settings are not right ({faults}). Give them as arguments, or as variables "
                f"such as {ENVIRONMENT}URL=http://127.0.0.1:8080"
            ) from None

    def options(self, *, advantages: bool) -> Options:
        """Options of a request: with RDAN's advantages for whole groups, without for single responses."""
        if not advantages:
            # quality may be needed by members of the group that are scored elsewhere
            return Options(judging=self.judging or "eligible", mode=self.mode, thinking=self.thinking)
        spec = AdvantageSpec(method="rdan", quality_weight=self.quality_weight, sigma_floor=self.sigma_floor)
        return Options(judging=self.judging, mode=self.mode, thinking=self.thinking, advantages=spec)
