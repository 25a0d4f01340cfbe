"""`rubricate demo`: the main job on a small set written for it, with the real service and a real judge."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import httpx2
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rubricate_service.settings import EMBEDDED

_START_LIMIT_S = 120.0
_SCORE_LIMIT_S = 600.0
_OPTIONS = {"advantages": {"method": "rdan"}, "deadline_s": _SCORE_LIMIT_S}


def demo_groups() -> list[dict[str, Any]]:
    """The demo's groups: prompts, rubrics and responses."""
    groups: list[dict[str, Any]] = json.loads((files(__package__) / "demo_groups.json").read_text("utf-8"))
    return groups


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _start(port: int, folder: Path, judge: str | None, judge_model: str | None) -> subprocess.Popen[bytes]:
    flags = ["--host", "127.0.0.1", "--port", str(port), "--cache", str(folder / "verdicts.db")]
    flags += ["--judge", judge] if judge else []
    flags += ["--judge-model", judge_model] if judge_model else []
    with (folder / "service.log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-m", "rubricate_service", "serve", *flags],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "RUBRICATE_DEADLINE_S": str(_SCORE_LIMIT_S)},
        )


def _wait_ready(client: httpx2.Client, service: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    """What `/readyz` says once it is 200; None when the service ended or took too long."""
    until = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < until and service.poll() is None:
        try:
            answer = client.get("/readyz")
        except httpx2.TransportError:
            answer = None
        if answer is not None and answer.status_code == 200:
            state: dict[str, Any] = answer.json()
            return state
        time.sleep(0.1)
    return None


def _embedded_reason() -> str | None:
    """Why the embedded judge cannot run here, or None when it can."""
    from rubricate_service.judge.embedded import EmbeddedUnavailable, find_weights

    try:
        find_weights()
    except EmbeddedUnavailable as error:
        return str(error)
    return None


def run_demo(judge: str | None, judge_model: str | None, console: Console) -> int:
    """Run the demo; returns the exit code."""
    judge_note = None
    if judge == EMBEDDED and (judge_note := _embedded_reason()) is not None:
        judge = None
    with tempfile.TemporaryDirectory(prefix="rubricate-demo-") as name:
        folder, port = Path(name), _free_port()
        with console.status("starting the service"):
            service = _start(port, folder, judge, judge_model)
        try:
            client = httpx2.Client(
                base_url=f"http://127.0.0.1:{port}", timeout=_SCORE_LIMIT_S + 30, trust_env=False
            )
            with client:
                if _wait_ready(client, service) is None:
                    console.print("the service did not start; its log says:", style="red")
                    console.print((folder / "service.log").read_text("utf-8", "replace"), markup=False)
                    return 1
                groups = demo_groups()
                body = {"groups": groups, "options": _OPTIONS}
                with console.status("scoring"):
                    answer = client.post("/v1/score", json=body)
                if answer.status_code != 200:
                    console.print(answer.text, style="red", markup=False)
                    return 1
                again = client.post("/v1/score", json=body).json() if judge else None
            _report(console, groups, answer.json(), again, judge, judge_note)
        finally:
            service.terminate()
            try:
                service.wait(20)
            except subprocess.TimeoutExpired:
                service.kill()
                service.wait()
    return 0


_MARKS = {0.0: "[red]0[/]", 0.5: "[yellow]½[/]", 1.0: "[green]1[/]"}


def _mark(verdict: dict[str, Any]) -> str:
    if verdict["status"] == "skipped":
        return "[dim]·[/]"
    if verdict["status"] == "failed":
        return "[magenta]![/]"
    return _MARKS.get(verdict["score"], f"{verdict['score']:.2f}")


def _number(value: float | None, signed: bool = False) -> str:
    if value is None:
        return "[dim]–[/]"
    return f"{value:+.2f}" if signed else f"{value:.2f}"


def _group_table(group: dict[str, Any], scored: dict[str, Any], width: int) -> Table:
    table = Table(
        title=f"{group['id']}: {group['prompt']}",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    marks = [r["id"] + ("*" if r.get("hard", "check" in r) else "") for r in group["rubrics"]]
    numbers = ["out", "qual", "A_out", "A_proc", "A"]
    widths = {heading: max(len(heading), 5 if heading in numbers else 0) for heading in marks + numbers}
    room = max(8, width - sum(widths.values()) - 2 * len(widths))
    table.add_column("response", no_wrap=True, width=room)
    for heading, least in widths.items():
        align: Literal["right", "center"] = "right" if heading in numbers else "center"
        table.add_column(heading, justify=align, no_wrap=True, min_width=least)
    for text, response in zip(group["responses"], scored["responses"], strict=True):
        table.add_row(
            escape(" ".join(text.split()) or "(blank)"),
            *(_mark(verdict) for verdict in response["rubrics"]),
            _number(response["outcome"]),
            _number(response["quality"]),
            *(_number(response[key], signed=True) for key in ("a_out", "a_proc", "advantage")),
        )
    return table


def _report(
    console: Console,
    groups: list[dict[str, Any]],
    answer: dict[str, Any],
    again: dict[str, Any] | None,
    judge: str | None,
    judge_note: str | None,
) -> None:
    for group, scored in zip(groups, answer["groups"], strict=True):
        console.print(_group_table(group, scored, console.width))
        console.print()
    console.print("* hard   · not needed, so not judged   ! could not be decided   – no number", style="dim")
    stats = answer["stats"]
    judged = stats["judge"]
    console.print(
        f"\n{stats['responses']} responses, {stats['checks']['scored']} checks in "
        f"{stats['seconds']['check']:.2f} s; "
        f"{judged['calls']} judge calls in {stats['seconds']['judge']:.1f} s."
    )
    if judge is None:
        reason = judge_note or "no judge was given"
        console.print(f"The soft rubrics could not be decided (`failed: no_judge`): {reason}.", markup=False)
        console.print("Any OpenAI-compatible endpoint will do: rubricate demo --judge http://HOST:PORT")
    else:
        wanted = judged["skipped"] + judged["scored"] + judged["failed"]
        console.print(
            f"The gate saved {judged['skipped']} of {wanted} "
            "judgements: a response that breaks a hard rubric gets no quality advantage, whatever the judge "
            "would have said. The advantages are the same as if all had been judged."
        )
        if again is not None:
            console.print(
                f"A second pass over the same batch made {again['stats']['judge']['calls']} judge calls: "
                "every judgement came from the cache."
            )
        if judge == EMBEDDED:
            console.print(
                "\nThe judge here is a tiny model on your CPU. It shows the machinery; its judgements are "
                "poor, and nobody should train on them.",
                style="yellow",
            )
    console.print(
        "\nNext:\n"
        "  rubricate serve --judge http://HOST:PORT   serve with a judge of yours\n"
        "  rubricate checks                           every deterministic check\n"
        "  rubricate score IN.jsonl -o OUT.jsonl      score a file of groups\n"
        "  README.md                                  a curl example, and the client",
        markup=False,
        highlight=False,
    )
