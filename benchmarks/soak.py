"""Half an hour of mixed load with faults: no verdict lost, none wrong, and memory that does not grow.

    python benchmarks/soak.py [SECONDS]

Two services share a Redis and a fake judge. One runs one process, the other two; trainers' steps, single
requests, groups that only the judge scores, datasets' rules, members of groups sent one by one and clients
that leave go to either. Meanwhile the judge fails in seven ways, check workers and server processes are
killed, one service is stopped and started, and Redis is frozen and killed. Every verdict is compared with
that of a quiet run before: the same, or `failed` with a kind that fits a fault of that moment.

The memory of the first service's process, and of its check worker that is never killed, is sampled, and a
line fitted to the last two thirds. Exits with 1 for any wrong or lost verdict, for growth (in a run of at
least twenty minutes: caches and memos fill in the first ten), or for processes that are left behind.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from _service import Service, children, memory_mb, of_session
from _soak_faults import Faults, Judge, Redis, check_workers
from _soak_load import Load
from _soak_verdicts import Tally

SECONDS = 1800.0
JUDGED_S = 1200.0
"""A shorter run shows no growth but that of filling caches, and is not judged by it."""
GROWTH_MB = 10.0
"""What the fitted line may rise by; in half an hour's last two thirds that is 30 MB/h."""
CASES = {"step": 12, "single": 60, "judge": 24, "rules": 12, "group": 24}
VARIABLES = {
    "RUBRICATE_SECRET": "the same for all, as the judge's verdict depends on its prompt",
    "RUBRICATE_JUDGE_CANARIES": "false",
    "RUBRICATE_COMPAT__GROUP_TIMEOUT_S": "10",
    # full after a minute, so that what is kept of answers is no growth
    "RUBRICATE_IDEMPOTENCY__MEMORY_BYTES": str(4 << 20),
}


@dataclass
class Memory:
    """Resident memory of some processes over time, in MB."""

    times: list[float] = field(default_factory=list)
    sizes: dict[str, list[float]] = field(default_factory=lambda: {"service": [], "check worker": []})

    async def sample(self, pid: int, until: float) -> None:
        """Note the sizes of a service and its oldest check worker, every two seconds until then."""
        (worker, *_) = check_workers(pid)
        while time.monotonic() < until:
            self.times.append(time.monotonic())
            self.sizes["service"].append(memory_mb(pid))
            self.sizes["check worker"].append(sum(map(memory_mb, (worker, *children(worker)))))
            await asyncio.sleep(2)

    @property
    def is_judged(self) -> bool:
        """Whether the run was long enough to tell growth from filling caches."""
        return self.times[-1] - self.times[0] > JUDGED_S - 10

    def growth(self) -> dict[str, tuple[float, float, float]]:
        """For each: MB at the end, MB an hour, and MB of the whole fitted line, of the last two thirds."""
        start = len(self.times) // 3
        seconds = np.array(self.times[start:]) - self.times[start]
        found = {}
        for name, sizes in self.sizes.items():
            slope = float(np.polyfit(seconds, sizes[start:], 1)[0])
            found[name] = sizes[-1], slope * 3600, slope * float(seconds[-1])
        return found


async def run(steady: Service, load: Load, faults: Faults, memory: Memory, seconds: float) -> None:
    """Learn the right verdicts, then load and faults side by side, and a calm end."""
    await load.learn(CASES)
    print(f"{sum(CASES.values())} cases scored without faults; now {seconds:.0f} s with them", flush=True)
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as work:
        work.create_task(load.run(until))
        work.create_task(faults.inject(until - 10))
        work.create_task(memory.sample(steady.pid, until))


def report(load: Load, faults: Faults, memory: Memory, left: list[int], ready: bool) -> bool:
    """Print what came of it; whether all is well."""
    tally = load.tally
    print(f"answered: {', '.join(f'{count} {kind}' for kind, count in sorted(tally.requests.items()))}")
    for kind, seconds in sorted(load.latencies.items()):
        cuts = statistics.quantiles(seconds, n=100)
        print(f"  {kind:13} p50 {cuts[49]:6.2f} s   p99 {cuts[98]:6.2f} s   longest {max(seconds):6.2f} s")
    print(f"faults: {', '.join(f'{count} x {name}' for name, count in sorted(faults.done.items()))}")
    failed = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.failed.items())) or "none"
    print(f"verdicts compared: {tally.verdicts}; failed fittingly: {failed}; skipped so: {tally.skipped}")
    growth = memory.growth()
    for name, (size, hourly, whole) in growth.items():
        print(f"memory of the {name}: {size:.1f} MB, {hourly:+.1f} MB/h ({whole:+.1f} MB in the fitted time)")
    print(f"wrong or lost: {tally.wrongs}")
    for line in tally.wrong:
        print(f"  {line}")
    if left:
        print(f"left behind: processes {left}")
    if not ready:
        print("a service is not ready after the last fault")
    has_grown = memory.is_judged and any(whole > GROWTH_MB for *_, whole in growth.values())
    if has_grown:
        print("memory grows")
    return ready and not (tally.wrongs or left or has_grown)


def main(seconds: float) -> None:
    """Run the soak; exit with 1 when something is wrong."""
    if shutil.which("redis-server") is None:
        sys.exit(
            "the soak needs a redis-server on the PATH (Debian and Ubuntu: apt-get install redis-server)"
        )
    logging.getLogger("rubricate").setLevel(logging.ERROR)  # the clients' retries are expected
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis, judge = stack.enter_context(Redis(folder)), stack.enter_context(Judge())
        flags = ["--judge", judge.url, "--cache", redis.url]
        log = Path(tempfile.gettempdir(), "rubricate-soak.log")
        log.unlink(missing_ok=True)
        print(f"the services' log: {log}", flush=True)
        steady = Service(*flags, "--check-workers", "2", log=log, **VARIABLES)
        shaken = Service(*flags, "--workers", "2", "--check-workers", "1", log=log, **VARIABLES)
        sessions = []
        memory, faults = Memory(), Faults(steady, shaken, judge, redis)
        load = Load([steady.url, shaken.url], faults.overlapping, Tally())
        with steady, shaken:
            asyncio.run(run(steady, load, faults, memory, seconds))
            ready = steady.is_ready() and shaken.is_ready()
            sessions = [steady.pid, shaken.pid]
        time.sleep(5)  # check workers end when they notice that their service has
        left = [pid for session in sessions for pid in of_session(session)]
    if not report(load, faults, memory, left, ready):
        sys.exit(1)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
