"""What is done to the services of the soak, one fault after another, and the processes it is done to."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import random
import re
import signal
import subprocess
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar, Self

from _service import Service, children, command_of, free_port
from _soak_verdicts import Fault

from rubricate_clients.testing import LABELS, FakeCall, FakeJudge
from rubricate_clients.testing import Fault as JudgeFault

LINGER_S = 10.0
"""For so long after its end a fault may still be felt: calls back off, concurrency is found again."""

_DOWN = "judge: down"
JUDGE_FAULTS: dict[str, tuple[Callable[[FakeJudge], None], frozenset[str]]] = {
    "judge: 500s": (
        lambda judge: judge.fail_share(JudgeFault.status(500), 0.4),
        frozenset({"unreachable", "timeout"}),
    ),
    "judge: 429s": (
        lambda judge: judge.fail_share(JudgeFault.status(429, retry_after=1), 0.5),
        frozenset({"overloaded", "timeout"}),
    ),
    "judge: hangs": (
        lambda judge: judge.fail_share(JudgeFault.hang(), 0.05),
        frozenset({"timeout"}),
    ),
    "judge: garbage": (
        lambda judge: judge.fail_share(JudgeFault.garbage("html"), 0.3),
        frozenset({"unreadable"}),
    ),
    "judge: cut answers": (
        lambda judge: judge.fail_share(JudgeFault.truncated(), 0.3),
        frozenset({"truncated"}),
    ),
    "judge: resets": (
        lambda judge: judge.fail_share(JudgeFault.reset(), 0.3),
        frozenset({"unreachable", "timeout"}),
    ),
    _DOWN: (lambda judge: judge.stop(), frozenset({"unreachable", "timeout"})),
}
_LATENCY_S = 0.02


def label(call: FakeCall) -> str:
    """The judge's verdict, the same for texts that differ in a serial number or a delimiter's code alone."""
    return LABELS[zlib.crc32(re.sub("[0-9a-f]{9,}", "", call.text).encode()) % len(LABELS)]


def serve_judge(pipe: Connection) -> None:
    """Run a fake judge that plays the faults named through the pipe; `""` heals it, None ends it."""
    logging.disable()  # the server complains of calls that are cut, which is what happens here
    with FakeJudge(answer=label, latency_s=_LATENCY_S) as judge:
        pipe.send(judge.url)
        played = ""
        for name in iter(pipe.recv, None):
            if name:
                JUDGE_FAULTS[name][0](judge)
            else:
                judge.reset()  # also its log of calls, which would grow for half an hour
                judge.answer, judge.latency_s = label, _LATENCY_S
                if played == _DOWN:
                    judge.start()
            played = name


class Judge:
    """A fake judge in a process of its own. Use it in a `with` statement."""

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve_judge, args=(theirs,), daemon=True)
        self._process.start()
        self.url: str = self._pipe.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def play(self, name: str) -> None:
        """Play a fault of `JUDGE_FAULTS`, or with `""` no more of any."""
        self._pipe.send(name)


class Redis:
    """A redis-server without persistence on a free port. Use it in a `with` statement."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.url = f"redis://127.0.0.1:{port}/0"
        self._command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
        self._command += ["--dir", str(folder), "--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, with nothing in it."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal; wait for its end after SIGKILL."""
        assert self._process is not None
        self._process.send_signal(number)
        if number == signal.SIGKILL:
            self._process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.signal(signal.SIGKILL)


@dataclass
class Faults:
    """Injects faults in an order that a seed decides, and remembers when each one was.

    Args:
        steady: A service whose processes stay, apart from the younger of its two check workers: what they
            hold is measured.
        shaken: A service of two processes that are killed, and which is stopped and started again.
        judge: The judge of both.
        redis: Where both keep verdicts, answers and groups.
    """

    steady: Service
    shaken: Service
    judge: Judge
    redis: Redis
    done: Counter[str] = field(default_factory=Counter)
    past: list[Fault] = field(default_factory=list)
    _under_way: dict[str, tuple[frozenset[str], float]] = field(default_factory=dict)

    async def inject(self, until: float) -> None:
        """Inject one fault after another, with calm between them, until then (monotonic)."""
        rng = random.Random(7)
        names = [*JUDGE_FAULTS, *self._PROCESS_FAULTS]
        while time.monotonic() < until:
            for name in rng.sample(names, len(names)):
                await asyncio.sleep(rng.uniform(2, 5))
                if time.monotonic() >= until:
                    return
                async with self._noted(name):
                    if name in JUDGE_FAULTS:
                        self.judge.play(name)
                        await asyncio.sleep(rng.uniform(2, 6))
                        self.judge.play("")
                    else:
                        await self._PROCESS_FAULTS[name](self)

    def overlapping(self, began: float, ended: float) -> list[Fault]:
        """The faults that a request of that time may have met."""
        present = [Fault(name, kinds, at, ended) for name, (kinds, at) in self._under_way.items()]
        return [fault for fault in (*self.past, *present) if fault.overlaps(began, ended)]

    @asynccontextmanager
    async def _noted(self, name: str) -> AsyncIterator[None]:
        kinds = JUDGE_FAULTS[name][1] if name in JUDGE_FAULTS else frozenset[str]()
        began = time.monotonic()
        self._under_way[name] = kinds, began
        try:
            yield
        finally:
            del self._under_way[name]
            self.done[name] += 1
            self.past.append(Fault(name, kinds, began, time.monotonic() + LINGER_S))
            del self.past[:-50]  # far more than one request can meet

    async def _kill_check_worker(self) -> None:
        for victims in (check_workers(self.steady.pid)[1:], *map(check_workers, servers(self.shaken.pid))):
            _kill(victims)
        await asyncio.sleep(2)

    async def _kill_server(self) -> None:
        _kill(servers(self.shaken.pid))
        await asyncio.sleep(3)

    async def _restart(self) -> None:
        await asyncio.to_thread(self.shaken.stop)
        await asyncio.to_thread(self.shaken.start)

    async def _freeze_redis(self) -> None:
        self.redis.signal(signal.SIGSTOP)
        await asyncio.sleep(4)
        self.redis.signal(signal.SIGCONT)

    async def _kill_redis(self) -> None:
        self.redis.signal(signal.SIGKILL)
        await asyncio.sleep(3)
        self.redis.start()

    _PROCESS_FAULTS: ClassVar[dict[str, Callable[[Faults], Awaitable[None]]]] = {
        "check workers killed": _kill_check_worker,
        "server process killed": _kill_server,
        "service restarted": _restart,
        "redis frozen": _freeze_redis,
        "redis killed": _kill_redis,
    }


def servers(pid: int) -> list[int]:
    """Processes that serve, of a service with several."""
    return [child for child in children(pid) if b"spawn_main" in command_of(child)]


def check_workers(pid: int) -> list[int]:
    """Check workers of a process that serves, the oldest first."""
    forkservers = [child for child in children(pid) if b"forkserver" in command_of(child)]
    return [worker for forkserver in forkservers for worker in children(forkserver)]


def _kill(processes: list[int]) -> None:
    """Kill the youngest."""
    for pid in processes[-1:]:
        os.kill(pid, signal.SIGKILL)
