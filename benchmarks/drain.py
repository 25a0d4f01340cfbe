"""What a stop costs those whose requests are under way: SIGTERM with 200 of them in flight, ten times.

Each request is sent once, without retries, and new ones are sent while the service still takes them. Prints
what came of them; fails when one was lost or the exit status is not 0.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp

from rubricate_clients.testing import FakeJudge

IN_FLIGHT, ROUNDS = 200, 10
PRESTOP_S = 1.0
TIMEOUT = aiohttp.ClientTimeout(total=120)


def body(name: str) -> dict[str, Any]:
    """One group of one response, with a check and a criterion."""
    rubrics = [{"check": "punctuation:no_comma"}, {"criterion": "The answer is kind."}]
    return {"groups": [{"prompt": "Say something.", "rubrics": rubrics, "responses": [f"good {name}"]}]}


async def score(session: aiohttp.ClientSession, name: str) -> str:
    """What came of one request, in a word or two."""
    try:
        async with session.post("/v1/score", json=body(name)) as answer:
            if answer.status != 200:
                return f"status {answer.status}"
            verdicts = (await answer.json())["groups"][0]["responses"][0]["rubrics"]
            return "whole" if all(v["status"] == "scored" for v in verdicts) else "not whole"
    except aiohttp.ClientError as error:
        return type(error).__name__


async def wait_ready(session: aiohttp.ClientSession) -> None:
    """Return once the service takes work."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            async with session.get("/readyz") as answer:
                if answer.status == 200:
                    return
        except aiohttp.ClientError:
            await asyncio.sleep(0.1)
    raise SystemExit("the service did not start")


async def one_round(number: int, judge: FakeJudge, folder: Path, workers: int) -> tuple[Counter[str], int]:
    """Fates of the requests of one start and stop, and the exit status."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "rubricate_service", "serve", "--port", str(port)]
    command += ["--judge", judge.url, "--cache", str(folder / "v.db"), "--workers", str(workers)]
    env = {**os.environ, "RUBRICATE_PRESTOP_S": str(PRESTOP_S), "RUBRICATE_JUDGE_CANARIES": "false"}
    service = subprocess.Popen(  # noqa: ASYNC220 - takes milliseconds
        [*command, "--check-workers", "1"], env=env, stderr=subprocess.DEVNULL
    )
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    url = f"http://127.0.0.1:{port}"
    try:
        async with aiohttp.ClientSession(url, connector=connector, timeout=TIMEOUT) as session:
            await wait_ready(session)
            calls = len(judge.calls)
            work = [asyncio.ensure_future(score(session, f"{number}-{n}")) for n in range(IN_FLIGHT)]
            while len(judge.calls) == calls:  # noqa: ASYNC110 - the judge tells nobody
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.5)  # for all of them to be sent
            under_way = sum(not future.done() for future in work)
            service.send_signal(signal.SIGTERM)
            until = time.monotonic() + PRESTOP_S * 0.8
            while time.monotonic() < until:
                work.append(asyncio.ensure_future(score(session, f"{number}-late-{len(work)}")))
                await asyncio.sleep(0.02)
            fates = Counter(await asyncio.gather(*work))
        status = await asyncio.to_thread(service.wait, 60)
    finally:
        service.kill()
    print(
        f"  round {number}: {under_way} under way at SIGTERM, {dict(fates)}, exit status {status}", flush=True
    )
    return fates, status


def main() -> None:
    """Print the figures."""
    lost = 0
    for workers in (1, 2):
        print(f"{workers} process(es):")
        with FakeJudge(answer="2", latency_s=1.0) as judge, tempfile.TemporaryDirectory() as folder:
            for number in range(ROUNDS):
                fates, status = asyncio.run(one_round(number, judge, Path(folder), workers))
                lost += sum(fates.values()) - fates["whole"] + (status != 0)
    print(f"requests lost, and exits other than 0: {lost}")
    sys.exit(lost > 0)


if __name__ == "__main__":
    main()
