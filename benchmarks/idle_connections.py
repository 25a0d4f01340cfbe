"""What 10,000 connections that never finish their headers cost those who do.

A trainer posts a step's responses again and again, first alone and then beside the idle connections, which
are opened anew as the service closes them. Prints the trainer's times, those of `/livez`, and the memory of
the service's process; fails where a figure is worse than its bar.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import orjson
from _service import Service, memory_mb

IDLE, STEPS = 10_000, 40
LIVEZ_S, SLOWDOWN, RSS_MB = 0.1, 2.0, 1000  # the bars
HALF = b"POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "


@dataclass
class Times:
    """Seconds of requests."""

    steps: list[float]
    livez: list[float]

    def p95(self) -> float:
        """The 95th percentile of the steps, in seconds."""
        return statistics.quantiles(self.steps, n=20)[-1]


def step(number: int) -> bytes:
    """A body of 64 responses with two checks each."""
    checks = [{"check": "punctuation:no_comma"}, {"check": "text:word_count", "kwargs": {"min": 10}}]
    groups = [
        {
            "prompt": f"Prompt {p}.",
            "rubrics": checks,
            "responses": [
                f"Response {r} of step {number}. " + "More words follow here. " * 60 for r in range(8)
            ],
        }
        for p in range(8)
    ]
    return orjson.dumps({"groups": groups})


async def measure(url: str) -> Times:
    """Post the steps one after another, with `/livez` beside them."""
    times = Times([], [])
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:

        async def probe() -> None:
            while True:
                began = time.perf_counter()
                async with session.get(f"{url}/livez", headers={"Connection": "close"}) as answer:
                    answer.raise_for_status()
                times.livez.append(time.perf_counter() - began)
                await asyncio.sleep(0.05)

        probing = asyncio.create_task(probe())
        for number in range(STEPS + 2):
            began = time.perf_counter()
            async with session.post(f"{url}/v1/score", data=step(number)) as answer:
                answer.raise_for_status()
                await answer.read()
            if number >= 2:  # the first ones warm memos
                times.steps.append(time.perf_counter() - began)
            await asyncio.sleep(0.1)
        probing.cancel()
        with suppress(asyncio.CancelledError):
            await probing
    return times


async def hold(port: int, address: str, opened: asyncio.Queue[None]) -> None:
    """Keep one connection with half a header open, and open another when the service closes it."""
    while True:
        try:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, local_addr=(address, 0), limit=1024
            )
        except OSError:
            await asyncio.sleep(0.5)
            continue
        opened.put_nowait(None)
        writer.write(HALF)
        with suppress(OSError):
            await reader.read()
        writer.close()


def hold_idle(port: int) -> None:
    """Hold all idle connections, from addresses enough for their ports; runs as a process of its own."""

    async def run() -> None:
        opened: asyncio.Queue[None] = asyncio.Queue()
        tasks = [asyncio.create_task(hold(port, f"127.0.1.{1 + n % 8}", opened)) for n in range(IDLE)]
        for _ in range(IDLE):
            await opened.get()
        print("open", flush=True)
        await asyncio.gather(*tasks)

    asyncio.run(run())


def raise_limit() -> None:
    """Allow this process and its children as many connections as the system does."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if most < IDLE + 1000:
        sys.exit(f"{IDLE} connections need `ulimit -Hn` of at least {IDLE + 1000}; it is {most}")


def main() -> None:
    """Print the figures; exit with 1 when one misses its bar."""
    raise_limit()
    with (
        tempfile.TemporaryDirectory() as folder,
        Service("--cache", str(Path(folder) / "v.db"), "--check-workers", "1") as service,
    ):
        alone, before = asyncio.run(measure(service.url)), memory_mb(service.pid)
        port = service.url.rpartition(":")[2]
        idle = subprocess.Popen([sys.executable, __file__, port], stdout=subprocess.PIPE)
        try:
            assert idle.stdout is not None
            idle.stdout.readline()
            beside, after = asyncio.run(measure(service.url)), memory_mb(service.pid)
        finally:
            idle.kill()
            idle.wait()
    livez = max(beside.livez)
    print(f"{IDLE} connections with half a header, and a trainer's steps of 64 responses:")
    print(f"  step p95      {alone.p95() * 1e3:7.1f} ms alone, {beside.p95() * 1e3:7.1f} ms beside them")
    print(f"  /livez worst  {max(alone.livez) * 1e3:7.1f} ms alone, {livez * 1e3:7.1f} ms beside them")
    print(f"  memory        {before:7.1f} MB alone, {after:7.1f} MB beside them")
    if livez > LIVEZ_S or beside.p95() > SLOWDOWN * alone.p95() or after > RSS_MB:
        sys.exit("a figure is worse than its bar")


if __name__ == "__main__":
    hold_idle(int(sys.argv[1])) if len(sys.argv) > 1 else main()
