"""What the members of a group have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import BaseModel, ConfigDict

from rubricate_clients.wire import Group, Options, Prompt, Rubric
from rubricate_service.http.settings import Limits


@dataclass(frozen=True, slots=True)
class Context:
    """What a request brings beside its rows.

    Attributes:
        size: Responses to a prompt, where a row does not say; None when it must.
        options: Options that hold where a row does not say.
        tenant: Whose work it is.
        run: Which of the tenant's runs; groups of two never mix.
        limits: The most that a request may hold; they hold for JSON within its texts as well.
    """

    size: int | None
    options: Options
    tenant: str = ""
    run: str = ""
    limits: Limits = field(default_factory=Limits)


class Task(BaseModel):
    """All that a group's members are scored by, and how many they are; with a size of 1 there is no group."""

    model_config = ConfigDict(frozen=True)

    prompt: Prompt
    reference: str | None
    rubrics: list[Rubric]
    options: Options
    tenant: str
    run: str
    group: str
    size: int

    def asking(self, texts: Sequence[str]) -> Group:
        """The group of `POST /v1/score` that these responses are."""
        return Group(
            prompt=self.prompt, reference=self.reference, rubrics=self.rubrics, responses=list(texts)
        )

    @property
    def key(self) -> str:
        """Name of the groups of this task, 64 hex digits."""
        return self._written[0]

    @property
    def size_bytes(self) -> int:
        """How much it is, written out."""
        return self._written[1]

    @cached_property
    def _written(self) -> tuple[str, int]:
        written = self.model_dump_json().encode()
        return hashlib.sha256(written).hexdigest(), len(written)
