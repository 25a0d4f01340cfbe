"""One training step over HTTP: 64 prompts x 8 responses of about 400 words, 4.3 checks each.

Prints the median time of a step, in process (the pipeline alone) and over HTTP, and what HTTP adds. Texts
are new in every step, as a policy's are.
"""

from __future__ import annotations

import asyncio
import gc
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2
import orjson
import uvloop
from _service import Service
from _texts import text

from rubricate_checkers import catalogue
from rubricate_clients.wire import ScoreRequest
from rubricate_service.app import GC_THRESHOLDS, Engine, running_engine
from rubricate_service.routes.score import score_request
from rubricate_service.settings import Settings

PROMPTS, RESPONSES, STEPS = 64, 8, 20
BAR_S = 0.15


def step(rng: random.Random) -> dict[str, Any]:
    """The body of one step's request."""
    checks = [entry for entry in catalogue() if entry.suite == "ifeval"]
    groups = []
    for _ in range(PROMPTS):
        chosen = rng.sample(checks, rng.choice([4, 4, 4, 5, 5, 4, 4]))
        groups.append(
            {
                "prompt": text(rng)[:300],
                "rubrics": [{"check": entry.id, "kwargs": entry.example.kwargs} for entry in chosen],
                "responses": [text(rng) for _ in range(RESPONSES)],
            }
        )
    return {"groups": groups, "options": {"advantages": {"method": "rdan"}}}


async def in_process(engine: Engine, body: bytes) -> float:
    """Seconds of a step through the pipeline, without HTTP."""
    began = time.perf_counter()
    orjson.dumps(await score_request(engine.scorer, ScoreRequest.model_validate_json(body)))
    return time.perf_counter() - began


def over_http(client: httpx2.Client, body: bytes) -> float:
    """Seconds of a step over HTTP."""
    began = time.perf_counter()
    client.post("/v1/score", content=body).raise_for_status()
    return time.perf_counter() - began


async def measure(bodies: list[bytes], folder: Path) -> tuple[float, float]:
    """Median seconds of a step both ways, in turns, so that what else the machine does meets both."""
    direct, http = [], []
    with (
        Service("--cache", str(folder / "served.db")) as service,
        httpx2.Client(base_url=service.url, timeout=60, trust_env=False) as client,
    ):
        async with running_engine(Settings(cache=str(folder / "direct.db"))) as engine:
            gc.freeze()
            gc.set_threshold(*GC_THRESHOLDS)  # as the service has it
            for body in bodies:
                direct.append(await in_process(engine, body))
                http.append(await asyncio.to_thread(over_http, client, body))
    # the first steps warm memos and connections
    return statistics.median(direct[2:]), statistics.median(http[2:])


def main() -> None:
    """Print the figures."""
    rng = random.Random(1)
    bodies = [orjson.dumps(step(rng)) for _ in range(STEPS)]
    with (
        tempfile.TemporaryDirectory() as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        direct, http = runner.run(measure(bodies, Path(folder)))
    print(f"step of {PROMPTS} x {RESPONSES} responses, {len(bodies[0]) / 1e6:.1f} MB:")
    print(f"  in process  {direct * 1e3:7.1f} ms")
    added = f"{(http - direct) * 1e3:+.1f} ms, {http / direct:.2f} times as long"
    print(f"  over HTTP   {http * 1e3:7.1f} ms: {added}")
    print(f"  the bar of {BAR_S * 1e3:.0f} ms is {'met' if http <= BAR_S else 'missed'}")


if __name__ == "__main__":
    main()
