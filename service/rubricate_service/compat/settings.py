"""Settings of the drop-in routes: the table `compat`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from rubricate_clients.wire import Options

GroupSize = Annotated[int, Field(ge=1, le=4096)]


class CompatSettings(BaseModel):
    """How the responses that trainers send one by one are put together, and what they are told."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    group_size: GroupSize | None = Field(
        None, description="responses to a prompt, where its row does not say `size`"
    )
    group_timeout_s: float = Field(
        60.0, gt=0, allow_inf_nan=False, description="seconds that a response waits for its group"
    )
    group_waiting: int = Field(8192, ge=1, description="responses that wait in one process")
    unscored: Literal["error", "mask"] = Field(
        "error", description="an undecided response is an error, or has advantage 0 with its flags at 0"
    )
    options: Options = Field(Options(), description="of POST /v1/score, where a row does not say")
