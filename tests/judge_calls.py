"""Calls to a judge as an OpenAI client makes them."""

from __future__ import annotations

import time
from typing import Any

import httpx2

from rubricate_clients.testing import FakeJudge


def ask(judge: FakeJudge, text: str = "Is it so?", timeout_s: float = 2.0, **fields: Any) -> httpx2.Response:
    body = {"model": "judge", "messages": [{"role": "user", "content": text}], **fields}
    with httpx2.Client(trust_env=False, timeout=timeout_s) as client:
        return client.post(f"{judge.url}/v1/chat/completions", json=body, headers={"X-Mark": "m"})


def label(judge: FakeJudge, text: str = "Is it so?") -> str:
    content: str = ask(judge, text).json()["choices"][0]["message"]["content"]
    return content


def wait_until(condition: Any) -> None:
    end = time.monotonic() + 2
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
