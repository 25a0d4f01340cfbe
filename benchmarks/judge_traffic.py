"""Judge traffic from the client's side: our judge beside a bare aiohttp loop, in the same run.

A fake judge in another process answers after 50 ms. Prints calls per second with 256 in flight: the bare
loop (prompts made beforehand, nothing read but the body), and `Judge.ask` with its template, cache,
single-flight and typed reading. Every question is new, so nothing is answered from the cache.

    python benchmarks/judge_traffic.py [REPLICAS]

With several replicas, each a process, both share the calls out among them; ours are counted.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import sys
import tempfile
import time
from itertools import cycle
from multiprocessing.connection import Connection
from pathlib import Path

import aiohttp
import orjson

from rubricate_clients.testing import FakeJudge
from rubricate_service.app import GC_THRESHOLDS
from rubricate_service.judge.build import build_judge
from rubricate_service.judge.chat import request_body
from rubricate_service.judge.question import Question
from rubricate_service.judge.usage import Usage
from rubricate_service.settings import Settings

CALLS, IN_FLIGHT, LATENCY_S = 4096, 256, 0.05
RESPONSE = "The kettle sings before the water boils, and nobody in the house minds the noise. " * 20


def serve(pipe: Connection) -> None:
    """Run a fake judge; a message asks for the number of its calls."""
    with FakeJudge(answer="2", latency_s=LATENCY_S) as judge:
        pipe.send(judge.url)
        while pipe.recv():
            pipe.send(len(judge.calls))


def question(number: int, run: int) -> Question:
    """A question that nobody asked before; four criteria a response."""
    prompt = (("user", f"Describe kitchen {number // 4} of house {run}."),)
    return Question(prompt, RESPONSE, f"Criterion {number % 4} of {number // 4} is met.")


async def bare(urls: list[str], bodies: list[bytes]) -> float:
    """Calls per second of a plain loop that takes the replicas in turn."""
    slots = asyncio.Semaphore(IN_FLIGHT)
    headers = {"Content-Type": "application/json"}
    chats = cycle([f"{url}/v1/chat/completions" for url in urls])
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(body: bytes) -> None:
            async with slots, session.post(next(chats), data=body, headers=headers) as answer:
                await answer.read()

        await asyncio.gather(*map(call, bodies[:IN_FLIGHT]))  # opens the connections
        began = time.perf_counter()
        await asyncio.gather(*map(call, bodies))
        return len(bodies) / (time.perf_counter() - began)


async def ours(urls: list[str], cache: str) -> float:
    """Calls per second of the service's judge."""
    concurrency = IN_FLIGHT // len(urls)
    judge = build_judge(Settings(judge=",".join(urls), cache=cache, judge_concurrency=concurrency))
    assert judge is not None
    await judge.start()
    deadline = asyncio.get_running_loop().time() + 300
    usage = Usage()

    async def ask(number: int, run: int) -> None:
        await judge.ask(question(number, run), deadline=deadline, usage=usage)

    await asyncio.gather(*(ask(number, 1) for number in range(IN_FLIGHT)))
    began = time.perf_counter()
    await asyncio.gather(*(ask(number, 2) for number in range(CALLS)))
    seconds = time.perf_counter() - began
    assert usage.calls == CALLS + IN_FLIGHT
    await judge.close()
    return CALLS / seconds


async def measure(urls: list[str], cache: str) -> None:
    """Print both figures, the median of three rounds each."""
    judge = build_judge(Settings(judge=urls[0], cache=cache))
    assert judge is not None
    # as the service has it
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    bodies = [
        orjson.dumps(request_body("judge", judge.messages(question(number, 0)))) for number in range(CALLS)
    ]
    await judge.close()
    rounds = [(await bare(urls, bodies), await ours(urls, f"{cache}{n}")) for n in range(3)]
    plain, judged = (sorted(figures)[1] for figures in zip(*rounds, strict=True))
    print(f"replicas: {len(urls)}")
    print(f"bare aiohttp loop  {plain:7.0f} calls/s")
    print(f"our judge          {judged:7.0f} calls/s   ({judged / plain:.2f} of the bare loop)")


def main(replicas: int) -> None:
    """Measure against fake judges in processes of their own."""
    context = multiprocessing.get_context("spawn")
    pipes: list[Connection] = []
    processes = []
    for _ in range(replicas):
        pipe, theirs = context.Pipe()
        processes.append(context.Process(target=serve, args=(theirs,), daemon=True))
        pipes.append(pipe)
        processes[-1].start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            urls = [pipe.recv() for pipe in pipes]
            asyncio.run(measure(urls, str(Path(folder) / "v.db")))
            calls = []
            for pipe in pipes:
                pipe.send(True)
                calls.append(pipe.recv())
            # those of the bare loop are spread evenly: what is uneven is ours
            theirs_each = 3 * (CALLS + IN_FLIGHT) / replicas
            print("our calls at each ", ", ".join(f"{count - theirs_each:.0f}" for count in calls))
    finally:
        for process in processes:
            process.kill()
            process.join()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
