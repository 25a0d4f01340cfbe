"""A service on a socket, requests to it, and clients that leave."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.http.admission import Load
from rubricate_service.settings import Settings
from serving import running_server

COMMA = {"check": "punctuation:no_comma"}
KIND = {"criterion": "The answer is kind."}
PATIENCE_S = 20.0


@contextmanager
def running(folder: Path, judge: FakeJudge | None = None, **settings: Any) -> Iterator[tuple[FastAPI, str]]:
    app = create_app(
        Settings(cache=str(folder / "v.db"), check_workers=1, judge=judge.url if judge else None, **settings)
    )
    with running_server(app) as url:
        yield app, url


def body(*responses: str, prompt: str = "Say something.", **options: Any) -> dict[str, Any]:
    group = {"prompt": prompt, "rubrics": [COMMA, KIND], "responses": list(responses)}
    return {"groups": [group], "options": options}


def post(url: str, payload: Any, **headers: str) -> httpx2.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    content = json.dumps(payload)  # the very bytes that `leave` sends
    return httpx2.post(f"{url}/v1/score", content=content, headers=names, timeout=PATIENCE_S, trust_env=False)


def until(condition: Callable[[], bool]) -> float:
    """Seconds until it held."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < PATIENCE_S
        time.sleep(0.005)
    return time.monotonic() - began


def leave(url: str, payload: Any, when: Callable[[], bool], **headers: str) -> None:
    """Send a request, and close the connection once `when` holds."""
    host, _, port = url.removeprefix("http://").partition(":")
    content = json.dumps(payload).encode()
    lines = ["POST /v1/score HTTP/1.1", f"Host: {host}", f"Content-Length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
        until(when)


def load(app: FastAPI) -> Load:
    return app.state.admission.load  # type: ignore[no-any-return]
