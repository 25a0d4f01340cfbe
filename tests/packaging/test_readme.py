"""The README's examples are run, and answer what it says."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from rubricate_service.app import create_app
from rubricate_service.settings import Settings
from serving import running_server

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8080"


def block(language: str, containing: str = "") -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    found: str = next(text for text in blocks if containing in text)
    return found


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = Settings(cache=str(tmp_path_factory.mktemp("cache") / "v.db"), check_workers=1)
    with running_server(create_app(settings)) as address:
        yield address


def test_curl_example_answers_what_the_readme_says(url: str) -> None:
    command = block("sh", "curl")
    path = re.search(rf"{ADDRESS}(\S+)", command)
    body = re.search(r"-d '(.*)'", command, re.DOTALL)
    assert path is not None
    assert body is not None
    answer = httpx2.post(url + path[1], content=body[1], trust_env=False)
    assert answer.status_code == 200
    assert answer.json()["groups"] == json.loads(block("json"))["groups"]


def test_client_example_runs(url: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(block("python", "RewardClient").replace(ADDRESS, url), {})
    assert [line.split()[0] for line in printed.getvalue().splitlines()] == ["1.0", "0.0"]
