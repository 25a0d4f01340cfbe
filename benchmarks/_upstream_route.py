"""A plain FastAPI route that runs lm-eval's checks, one response a request, as NeMo Gym's server does.

Runs in upstream's environment (`make bench` makes it); `fastapi_route.py` starts it with a folder for nltk's
data and a port. The route is a coroutine that checks where it stands, with instances made anew for each
response: so does that server's `verify`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import uvicorn
from _upstream import follows_strict, registries, run
from fastapi import FastAPI
from pydantic import BaseModel


class VerifyRequest(BaseModel):
    """One response, and what its prompt asks of it."""

    prompt: str
    response: str
    instruction_id_list: list[str]
    kwargs_list: list[dict[str, Any]]


class VerifyAnswer(BaseModel):
    """Whether each instruction was followed, and whether all were."""

    follow_instruction_list: list[bool | None]
    reward: float


def main(folder: str, port: int) -> None:
    """Serve until stopped."""
    classes = registries(Path(folder))["ifeval"]
    app = FastAPI()

    @app.post("/verify")
    async def verify(body: VerifyRequest) -> VerifyAnswer:
        rules = list(zip(body.instruction_id_list, body.kwargs_list, strict=True))
        (verdicts,) = run(classes, follows_strict, [(body.prompt, body.response, rules)])["verdicts"]
        return VerifyAnswer(follow_instruction_list=verdicts, reward=float(all(verdicts)))

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
