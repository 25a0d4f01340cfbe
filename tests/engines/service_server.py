"""The service as an operator starts it, in front of one vLLM or several."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2

from engines.process import Server

DEADLINE_S = 600.0
"""Of a request: a machine that does other work besides takes minutes for two hundred judgements."""


class Service(Server):
    """The service with an empty cache.

    Args:
        folder: Folder for its cache and its log.
        judges: Addresses of the judge's replicas.
    """

    def __init__(self, folder: Path, *judges: str) -> None:
        command = [sys.executable, "-m", "rubricate_service", "serve", "--judge", ",".join(judges)]
        command += ["--cache", str(folder / "verdicts.db"), "--check-workers", "1"]
        env = {
            "RUBRICATE_JUDGE_CONCURRENCY": "32",
            "RUBRICATE_DEADLINE_S": str(DEADLINE_S),
            "RUBRICATE_JUDGE_CANARIES": "false",  # the judge's calls are counted
        }
        super().__init__(command, env, health="/readyz", start_s=60, log=folder / "log")

    def stream(self, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The lines of an answer as they come; the last of a complete one has ``stats``."""
        with httpx2.stream(
            "POST",
            f"{self.url}/v1/score",
            json=body,
            headers={"Accept": "application/x-ndjson"},
            trust_env=False,
            timeout=DEADLINE_S + 20,
        ) as answer:
            assert answer.status_code == 200
            yield from map(json.loads, answer.iter_lines())
