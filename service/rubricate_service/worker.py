"""The check worker: a process that stays, is handed responses, and answers with findings.

Everything that a check may do to a process (loop for ever, exhaust memory, die) happens here and
never in the service. `pool.py` is the other end of the pipe.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from ctypes import c_int64
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Literal

import orjson

from rubricate_checkers import Check, CheckerError, Span, Text, build, evaluate, warm_up
from rubricate_clients.wire import FailureKind

Mode = Literal["strict", "loose"]


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A check as it travels: its id and its kwargs as JSON, so that equal checks are equal keys."""

    id: str
    kwargs: bytes


@dataclass(frozen=True, slots=True)
class CheckItem:
    """One response and the checks to run on it, as positions in the chunk's specs."""

    text: str
    prompt: str
    specs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. `reason` is set where the text broke the check: such a text never gains."""

    holds: bool
    observed: str | None = None
    reason: str | None = None
    variant: str | None = None
    evidence: tuple[Span, ...] = ()
    parsed: bool | None = None


@dataclass(frozen=True, slots=True)
class CheckFault:
    """A check that could not be decided, and a sentence for people.

    `too_slow` is for the pipeline to read: whose fault it is depends on the check.
    """

    kind: FailureKind | Literal["too_slow"]
    message: str


Outcome = Finding | CheckFault


@dataclass(frozen=True, slots=True)
class Chunk:
    """Work for one worker: responses that share a table of checks."""

    specs: tuple[CheckSpec, ...]
    items: tuple[CheckItem, ...]
    mode: Mode
    explain: bool
    skip: frozenset[tuple[int, int]] = frozenset()
    """(item, position in its specs) pairs that are already settled and must not run."""

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every (item, position) in the order in which a worker takes them."""
        return ((i, p) for i, item in enumerate(self.items) for p in range(len(item.specs)))

    def spec(self, pair: tuple[int, int]) -> CheckSpec:
        """The check of one pair."""
        item, position = pair
        return self.specs[self.items[item].specs[position]]


@lru_cache(maxsize=20_000)
def built(spec: CheckSpec) -> Check:
    """The check that a spec names, built once; raises `CheckerError`."""
    return build(spec.id, orjson.loads(spec.kwargs))


def _find(text: Text, spec: CheckSpec, mode: Mode, explain: bool) -> Outcome:
    try:
        verdict = evaluate(text, built(spec), mode, explain)
    except CheckerError as error:
        return CheckFault(error.kind, error.message)
    except Exception as error:  # a fault in a check of ours is a record, never a score
        return CheckFault("internal", f"the check {spec.id} broke: {type(error).__name__}: {error}"[:500])
    return Finding(
        verdict.holds, verdict.observed, verdict.reason, verdict.variant, verdict.evidence, verdict.parsed
    )


def work(
    chunk: Chunk, progress: c_int64, time_limit_s: float
) -> tuple[list[list[Outcome | None]], list[float]]:
    """Findings per item and check, None where the pair was to be skipped; and the seconds of each spec.

    `progress` holds the number of the pair under way, so that the other end knows which check was
    running when this process stopped answering.
    """
    findings: list[list[Outcome | None]] = []
    seconds = [0.0] * len(chunk.specs)
    number = 0
    began = time.perf_counter()
    for i, item in enumerate(chunk.items):
        text = Text(item.text, item.prompt)
        row: list[Outcome | None] = []
        for position, spec in enumerate(item.specs):
            progress.value = number
            number += 1
            # Should the service be gone by now, nobody else ends a check that never ends.
            signal.setitimer(signal.ITIMER_PROF, 3 * time_limit_s)
            settled = (i, position) in chunk.skip
            row.append(None if settled else _find(text, chunk.specs[spec], chunk.mode, chunk.explain))
            ended = time.perf_counter()
            seconds[spec] += ended - began
            began = ended
        findings.append(row)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return findings, seconds


def main(pipe: Connection, progress: c_int64, time_limit_s: float) -> None:
    """Answer chunks until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which closes the pipe
    with suppress(CheckerError):  # the checks that need what is missing say so, one by one
        warm_up()
    pipe.send(None)
    while True:
        try:
            chunk = pipe.recv()
        except EOFError:
            return
        pipe.send(work(chunk, progress, time_limit_s))
