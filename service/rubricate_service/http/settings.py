"""Settings of who may ask and how much: the tables `tokens`, `limits`, `queue` and `idempotency`."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

Scope = Literal["read", "score", "admin"]
"""`read`: the catalogue, lint, imports, details of health; `score`: scoring; `admin`: metrics, upkeep.

`score` and `admin` both include `read`, and neither includes the other.
"""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""Of a token or tenant: it stands in logs, metrics and cache keys."""

_Count = Annotated[int, Field(ge=1)]
_Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class TokenSettings(_Table):
    """One bearer token: a table `[tokens.NAME]`, made by `rubricate token new NAME`."""

    hash: str = Field(description="digest of the token, which itself is kept nowhere")
    tenant: Name | None = Field(None, description="whose work its requests are [NAME]")
    scopes: list[Scope] = Field(["score"], min_length=1, description="what it may do: read, score, admin")

    @field_validator("hash")
    @classmethod
    def _hash_is_one(cls, value: str) -> str:
        if not re.fullmatch(r"sha256:[0-9a-f]{64}", value):
            # not shown: it may be the token itself
            raise ValueError("takes `sha256:` and 64 hexadecimal digits: what `rubricate token new` prints")
        return value


class Limits(_Table):
    """The most that one request may hold, and the time it has to come and its answer to go."""

    body_bytes: _Count = Field(64 << 20, description="bytes of a body")
    json_values: _Count = Field(400_000, description="values of a body: objects, lists, texts, numbers")
    groups: _Count = Field(4096, description="groups of a request, and rows of an import")
    responses: _Count = Field(8192, description="responses of a request, over all its groups")
    rubrics: _Count = Field(256, description="rubrics of a group")
    verdicts: _Count = Field(262_144, description="verdicts of a request: rubrics times responses, summed")
    response_chars: _Count = Field(1_000_000, description="code points of a response")
    prompt_chars: _Count = Field(1_000_000, description="code points of a prompt, and of a reference answer")
    criterion_chars: _Count = Field(20_000, description="code points of a criterion")
    kwargs_chars: _Count = Field(1_000_000, description="code points of a rubric's kwargs, written out")
    id_chars: _Count = Field(1024, description="code points of an id")
    connections: _Count = Field(16_384, description="open connections; the idlest give way to new ones")
    header_bytes: _Count = Field(65_536, description="bytes of a request's line and headers")
    header_s: _Seconds = Field(10.0, description="seconds for a request's line and headers to arrive")
    body_s: _Seconds = Field(60.0, description="seconds for a body to arrive")
    write_s: _Seconds = Field(60.0, description="seconds for a client to take what was written to it")


class QueueSettings(_Table):
    """How many responses are scored at a time, and how long others wait for their turn."""

    items: _Count = Field(4096, description="responses in flight in one process")
    tenant_items: _Count | None = Field(None, description="the same of one tenant [items]")
    waiting_items: _Count = Field(16_384, description="responses of one tenant that wait for their turn")
    wait_s: float = Field(30.0, ge=0, allow_inf_nan=False, description="seconds that a request waits at most")


class IdempotencySettings(_Table):
    """How long a finished request's answer is kept for a retry that names the same `Idempotency-Key`."""

    ttl_s: _Count = Field(3600, description="seconds that an answer is kept")
    memory_bytes: _Count = Field(64 << 20, description="bytes of answers that one process keeps")
