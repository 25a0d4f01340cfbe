"""Scores files of groups on a Ray cluster, for data sets that one machine takes too long for.

    pip install 'rubricate[ray]'
    python score_dataset.py GROUPS SCORED --judge http://JUDGE:8000 --cache redis://REDIS:6379/0

GROUPS is a file or a folder of JSON lines, one group a line as in `POST /v1/score`; SCORED a folder, which
gets one scored group a line, in any order: give groups ids. A line that is no group is told there as
`{"error": …}`. The cache lets a second run ask the judge only what the first one did not. On one machine
`rubricate score` is simpler, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Any

import numpy as np
import ray
from pydantic import ValidationError
from ray.data.datasource import BlockBasedFileDatasink

from rubricate_clients.wire import Group, Options, ScoreRequest
from rubricate_service.app import running_engine
from rubricate_service.errors import invalid_body
from rubricate_service.gate import missing_scores
from rubricate_service.routes.score import score_request
from rubricate_service.settings import Settings

Batch = dict[str, np.ndarray[Any, Any]]


class GroupScorer:
    """One actor: the service's engine, without HTTP.

    Args:
        settings: Of the service.
        options: Of each request; a line is a request of its own.
    """

    def __init__(self, settings: Settings, options: Options) -> None:
        self._options = options
        self._loop = asyncio.Runner()
        self._running = running_engine(settings)
        self._engine = self._loop.run(self._running.__aenter__())

    def __call__(self, batch: Batch) -> Batch:
        """Lines in, scored lines out, both in the column `text`."""
        scored = self._loop.run(self._score_all(batch["text"].tolist()))
        return {"text": np.array([json.dumps(line, ensure_ascii=False) for line in scored], dtype=object)}

    async def _score_all(self, lines: list[str]) -> list[dict[str, Any]]:
        return await asyncio.gather(*map(self._score, lines))

    async def _score(self, line: str) -> dict[str, Any]:
        try:
            group = Group.model_validate_json(line)
        except ValidationError as error:
            return {"error": {"message": invalid_body(error).message, "line": line}}
        request = ScoreRequest(groups=[group], options=self._options)
        answer = await score_request(self._engine.scorer, request)
        scored: dict[str, Any] = answer["groups"][0]
        return scored


class JsonLines(BlockBasedFileDatasink):  # type: ignore[misc]
    """Writes the column `text`, a row a line."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder, file_format="jsonl")

    def write_block_to_file(self, block: Any, file: Any) -> None:
        """Write the rows of one block."""
        for row in block.iter_rows(public_row_format=True):
            file.write(row["text"].encode() + b"\n")


def options_of(given: str) -> Options:
    """The options of every request, from JSON.

    Raises:
        argparse.ArgumentTypeError: They are none, or need more than one group at a time.
    """
    try:
        options = Options.model_validate_json(given)
    except ValidationError as error:
        raise argparse.ArgumentTypeError(invalid_body(error).message) from None
    if options.advantages is not None and options.advantages.method == "gdpo":
        raise argparse.ArgumentTypeError(
            "gdpo whitens over a whole training step, and here are single groups"
        )
    probe = Group.model_validate({"prompt": "", "rubrics": [{"criterion": "c"}], "responses": ["r"]})
    if (why := missing_scores(ScoreRequest(groups=[probe], options=options))) is not None:
        raise argparse.ArgumentTypeError(why)
    return options


def main() -> None:
    """Score the files that the command line names."""
    parser = argparse.ArgumentParser(description="Scores files of groups on a Ray cluster.")
    parser.add_argument("groups", help="file or folder of JSON lines, one group a line")
    parser.add_argument("scored", help="folder for the scored groups")
    parser.add_argument(
        "--options", type=options_of, default=Options(), help="the requests' `options`, as JSON"
    )
    parser.add_argument("--judge", help="URL of an OpenAI-compatible endpoint, or dns+http://name:port")
    parser.add_argument("--cache", help="redis://… that all actors share; else a file on each machine")
    parser.add_argument("--actors", type=int, default=1, help="engines; each scores a batch at a time [1]")
    parser.add_argument("--cpus", type=int, default=2, help="check workers of an engine, a CPU each [2]")
    parser.add_argument("--batch", type=int, default=64, help="groups that an engine scores at a time [64]")
    given = parser.parse_args()
    named = {name: value for name in ("judge", "cache") if (value := getattr(given, name)) is not None}
    settings = Settings(check_workers=given.cpus, **named)
    ray.init()
    needed, there = given.actors * given.cpus, int(ray.cluster_resources().get("CPU", 0))
    if needed > there:  # Ray would wait for more of them
        parser.error(f"--actors times --cpus is {needed}, and the cluster has {there} CPUs")
    beside: dict[str, Any] = {"num_cpus": 0}  # reading and writing wait for the engines, which may have all
    (
        ray.data.read_text(given.groups, ray_remote_args=beside)
        .map_batches(
            GroupScorer,
            fn_constructor_args=(settings, given.options),
            batch_size=given.batch,
            num_cpus=given.cpus,
            compute=ray.data.ActorPoolStrategy(size=given.actors),
        )
        .write_datasink(JsonLines(given.scored), ray_remote_args=beside)
    )


if __name__ == "__main__":
    main()
