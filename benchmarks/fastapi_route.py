"""Responses per second over HTTP: ours beside a plain FastAPI route with lm-eval's checks, in the same run.

Run with ``python benchmarks/fastapi_route.py [folder]``. The folder holds `ifeval_groups.jsonl` as
`checks.py` reads it. Each group is asked by two or three ids of IFEval, drawn evenly with kwargs of the data.
`make bench` installs what the route needs.

Half of the groups warm both, the other half is measured, so that no text was seen before; five times, each
with a new service of ours, and in turns with the route. The client keeps as many requests in flight at
each: the route takes one response a request, as it is made for, and ours many groups, as trainers send them.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import orjson
from _service import Service, free_port
from _upstream import PYTHON, Upstream
from checks import DEFAULT, Rules, read

IN_FLIGHT, GROUPS, ROUNDS = 8, 32, 5


def drawn(rows: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """The rows, each with two or three rules of ids drawn evenly."""
    by_id: dict[str, Rules] = defaultdict(list)
    for id, kwargs in (rule for row in rows for rule in row["rules"]):
        by_id[id].append((id, kwargs))
    ids = sorted(by_id)
    return [
        row | {"rules": [rng.choice(by_id[id]) for id in rng.sample(ids, rng.choice([2, 3]))]} for row in rows
    ]


def our_bodies(rows: list[dict[str, Any]]) -> list[bytes]:
    """Bodies for `POST /v1/score`, of so many groups each."""
    groups = [
        {
            "prompt": row["prompt"],
            "rubrics": [{"check": id, "kwargs": kwargs} for id, kwargs in row["rules"]],
            "responses": [response["text"] for response in row["responses"]],
        }
        for row in rows
    ]
    return [orjson.dumps({"groups": groups[at : at + GROUPS]}) for at in range(0, len(groups), GROUPS)]


def their_bodies(rows: list[dict[str, Any]]) -> list[bytes]:
    """Bodies for the route, of one response each."""
    return [
        orjson.dumps(
            {
                "prompt": row["prompt"],
                "response": response["text"],
                "instruction_id_list": [id for id, _ in row["rules"]],
                "kwargs_list": [kwargs for _, kwargs in row["rules"]],
            }
        )
        for row in rows
        for response in row["responses"]
    ]


async def post_all(url: str, bodies: list[bytes]) -> tuple[float, list[dict[str, Any]]]:
    """Seconds until all bodies are answered, with so many in flight; and the answers in their order."""
    slots = asyncio.Semaphore(IN_FLIGHT)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=300)) as session:

        async def post(body: bytes) -> bytes:
            async with slots, session.post(url, data=body, headers=headers) as answer:
                answer.raise_for_status()
                return await answer.read()

        began = time.perf_counter()
        answers = await asyncio.gather(*map(post, bodies))
        seconds = time.perf_counter() - began
    return seconds, list(map(orjson.loads, answers))


def our_verdicts(answers: list[dict[str, Any]]) -> list[list[bool | None]]:
    """Of each response; null for what was not decided."""
    return [
        [None if verdict["score"] is None else verdict["score"] == 1.0 for verdict in response["rubrics"]]
        for answer in answers
        for group in answer["groups"]
        for response in group["responses"]
    ]


@contextmanager
def plain_route() -> Iterator[str]:
    """URL of the route, served by one process."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        script = str(Path(__file__).with_name("_upstream_route.py"))
        route = subprocess.Popen([PYTHON, script, folder, str(port)])
        try:
            for _ in range(600):
                try:
                    httpx2.get(f"http://127.0.0.1:{port}/docs", trust_env=False)
                    break
                except httpx2.TransportError:
                    if route.poll() is not None:
                        sys.exit(f"the route did not start; remove {PYTHON.parents[1]} and run make bench")
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/verify"
        finally:
            route.terminate()
            route.wait()


def measure(rows: list[dict[str, Any]]) -> int:
    """Print responses per second of both and their ratio; the number of verdicts that differ."""
    warming, measured = rows[::2], rows[1::2]
    responses = sum(len(row["responses"]) for row in measured)
    ours, theirs = [], []
    with plain_route() as route, tempfile.TemporaryDirectory() as folder:
        asyncio.run(post_all(route, their_bodies(warming)[:100]))
        for number in range(ROUNDS):
            with Service("--cache", str(Path(folder) / f"{number}.db")) as service:
                asyncio.run(post_all(f"{service.url}/v1/score", our_bodies(warming)))
                seconds, answers = asyncio.run(post_all(f"{service.url}/v1/score", our_bodies(measured)))
            ours.append(responses / seconds)
            verdicts = our_verdicts(answers)
            seconds, answers = asyncio.run(post_all(route, their_bodies(measured)))
            theirs.append(responses / seconds)
    pairs = [
        pair
        for mine, answer in zip(verdicts, answers, strict=True)
        for pair in zip(mine, answer["follow_instruction_list"], strict=True)
        if None not in pair
    ]
    differ: int = sum(mine != other for mine, other in pairs)
    ratio = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    checks = sum(len(row["rules"]) * len(row["responses"]) for row in measured) / responses
    print(f"{responses} responses with {checks:.1f} checks each, {IN_FLIGHT} requests in flight:")
    print(f"  plain FastAPI route, lm-eval's checks  {statistics.median(theirs):7,.0f} responses/s")
    print(
        f"  ours                                   {statistics.median(ours):7,.0f} responses/s: {ratio:.1f}x"
    )
    print(f"  ({differ} of {len(pairs)} verdicts differ)")
    return differ


def main() -> None:
    """Measure, where there is something to measure with; exit with 1 when verdicts differ."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    if not (folder / "ifeval_groups.jsonl").exists():
        print(f"no responses to measure with: {folder} has no ifeval_groups.jsonl; name a folder")
    elif not Upstream.is_installed():
        print("upstream's packages are not installed, so there is nothing to compare with: run make bench")
    elif measure(drawn(read(folder / "ifeval_groups.jsonl", ""), random.Random(0))):
        sys.exit(1)


if __name__ == "__main__":
    main()
