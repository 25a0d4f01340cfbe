"""What is known of the request under way, for its log line and all others that are written meanwhile."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from rubricate_service.run import Run

_WORD = re.compile(r"[\w.:/+=@-]{1,128}", re.ASCII)
"""What a header may say to get into the log: a word, in which nothing can be hidden."""


@dataclass(slots=True)
class Record:
    """One HTTP request: what its headers and its token say, and what scoring it has come to.

    Attributes:
        state: The request's, in which authentication leaves the caller.
        fields: Request id, run and step.
        counts: Numbers of the runs that it began; usually one.
    """

    state: Mapping[str, Any]
    fields: dict[str, str]
    counts: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, headers: Mapping[bytes, bytes], state: Mapping[str, Any]) -> Record:
        """The record of a request; one without an id of its own gets one."""
        said = {
            name: _word(headers.get(header, b""))
            for name, header in (("request_id", b"x-request-id"), ("run", b"x-run"), ("step", b"x-step"))
        }
        said["request_id"] = said["request_id"] or secrets.token_hex(8)
        return cls(state, {name: word for name, word in said.items() if word})

    @property
    def request_id(self) -> str:
        """As sent, or made here."""
        return self.fields["request_id"]

    def told(self) -> dict[str, str]:
        """What every log line of this request says."""
        caller = self.state.get("caller")
        return {**self.fields, "tenant": caller.tenant} if caller and caller.tenant else self.fields

    def add(self, run: Run, stats: Mapping[str, Any]) -> None:
        """Take the figures of a run."""
        judge, seconds = stats["judge"], stats["seconds"]
        figures = {
            "responses": run.responses,
            "checks_scored": stats["checks"]["scored"],
            "checks_failed": stats["checks"]["failed"],
            **{f"judge_{name}": judge[name] for name in ("scored", "failed", "skipped", "calls", "cached")},
            **{f"{name}_s": seconds[name] for name in ("queue", "check", "judge")},
        }
        for name, figure in figures.items():
            self.counts[name] = self.counts.get(name, 0) + figure


def _word(value: bytes) -> str:
    text = value.decode("latin-1")
    return text if _WORD.fullmatch(text) else ""


current: ContextVar[Record | None] = ContextVar("current", default=None)
"""Of the request that this task works for."""
