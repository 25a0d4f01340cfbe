"""The check worker: a process that stays, is handed responses, and answers with findings.

Everything that a check may do to a process (loop for ever, exhaust memory, die) happens here and
never in the service. `pool.py` is the other end of the pipe.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from ctypes import c_bool, c_int64
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from multiprocessing.connection import Connection
from typing import Literal, NamedTuple

import orjson

from rubricate_checkers import Check, CheckerError, Span, Text, build, evaluate, warm_up
from rubricate_clients.wire import FailureKind

Mode = Literal["strict", "loose"]

EVIDENCE_SPANS = 1_000
"""The most spans of one verdict: nobody reads more, and a text of commas would have a million."""
_PART_S = 0.05
"""How long what is decided may wait for what is not before it is handed over."""


class CheckSpec(NamedTuple):
    """A check as it travels: its id and its kwargs as JSON, so that equal checks are equal keys."""

    id: str
    kwargs: bytes


class CheckItem(NamedTuple):
    """One response and the checks to run on it, as positions in the chunk's specs."""

    text: str
    prompt: str
    specs: tuple[int, ...]


class Finding(NamedTuple):
    """What one check found. `reason` is set where the text broke the check: such a text never gains."""

    holds: bool
    observed: str | None = None
    reason: str | None = None
    variant: str | None = None
    parsed: bool | None = None


class CheckFault(NamedTuple):
    """A check that could not be decided, and a sentence for people.

    `too_slow` is for the pipeline to read: whose fault it is depends on the check.
    """

    kind: FailureKind | Literal["too_slow"]
    message: str


Outcome = Finding | CheckFault
Evidence = tuple[Span, ...]
Results = dict[int, Outcome | Evidence]
"""What came of the pairs of a chunk, by their numbers."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Work for one worker: responses that share a table of checks.

    With `explain` it is evidence that is looked for, and not verdicts, which therefore cannot depend on it.
    """

    specs: tuple[CheckSpec, ...]
    items: tuple[CheckItem, ...]
    mode: Mode
    explain: bool
    skip: frozenset[int] = frozenset()
    """Numbers of the pairs that are already settled and must not run."""

    def pairs(self) -> Iterator[tuple[int, CheckSpec]]:
        """(item, check) of every pair, in the order in which a worker takes and numbers them."""
        return ((i, self.specs[spec]) for i, item in enumerate(self.items) for spec in item.specs)


@lru_cache(maxsize=20_000)
def built(spec: CheckSpec) -> Check:
    """The check that a spec names, built once; raises `CheckerError`."""
    return build(spec.id, orjson.loads(spec.kwargs))


def _find(text: Text, spec: CheckSpec, mode: Mode) -> Outcome:
    try:
        verdict = evaluate(text, built(spec), mode)
    except CheckerError as error:
        return CheckFault(error.kind, error.message)
    except Exception as error:  # a fault in a check of ours is a record, never a score
        return CheckFault("internal", f"the check {spec.id} broke: {type(error).__name__}: {error}"[:500])
    return Finding(verdict.holds, verdict.observed, verdict.reason, verdict.variant, verdict.parsed)


def _evidence(text: Text, spec: CheckSpec) -> Evidence:
    try:
        return tuple(islice(built(spec).evidence(text), EVIDENCE_SPANS))
    except Exception:  # the verdict stands without it
        return ()


def work(
    chunk: Chunk, progress: c_int64, unwanted: c_bool, time_limit_s: float
) -> Iterator[tuple[Results, list[float] | None]]:
    """Results of the pairs that are not to be skipped, in parts; with the last, the seconds of each spec.

    `progress` holds the number of the pair under way, so that the other end knows which check was
    running when this process stopped answering; once `unwanted` is set no further pair is begun.
    """
    results: Results = {}
    seconds = [0.0] * len(chunk.specs)
    number = 0
    began = sent = time.perf_counter()
    for item in chunk.items:
        text = Text(item.text, item.prompt)
        for position in item.specs:
            if number not in chunk.skip and not unwanted.value:
                progress.value = number
                # Should the service be gone by now, nobody else ends a check that never ends.
                signal.setitimer(signal.ITIMER_PROF, 3 * time_limit_s)
                spec = chunk.specs[position]
                results[number] = _evidence(text, spec) if chunk.explain else _find(text, spec, chunk.mode)
                ended = time.perf_counter()
                seconds[position] += ended - began
                began = ended
                if chunk.explain or ended - sent > _PART_S:
                    yield results, None
                    results, sent = {}, ended
            number += 1
    signal.setitimer(signal.ITIMER_PROF, 0)
    yield results, seconds


def main(pipe: Connection, progress: c_int64, unwanted: c_bool, time_limit_s: float) -> None:
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
        for part in work(chunk, progress, unwanted, time_limit_s):
            pipe.send(part)
