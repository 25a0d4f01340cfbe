"""`/readyz`: a check runs by the way that work takes, and what is wrong is named."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from rubricate_service import readiness
from rubricate_service.app import create_app
from rubricate_service.pool import CheckPool, Findings
from rubricate_service.readiness import WorkerProbe
from rubricate_service.settings import Settings
from rubricate_service.worker import CheckFault, Finding


class ScriptedPool:
    """A pool whose workers do as they are told."""

    alive, workers, restarts = 1, 1, 0

    def __init__(self) -> None:
        self.runs = 0
        self.answer: Findings | Exception = [[Finding(True)]]
        self.free = asyncio.Event()
        self.free.set()

    async def run(self, *_: object) -> Findings:
        self.runs += 1
        await self.free.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_busy_workers_are_ready_and_those_that_take_nothing_up_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readiness, "_LOOK_S", 0.01)

    async def test() -> None:
        pool = ScriptedPool()
        probe = WorkerProbe(cast(CheckPool, pool))
        pool.free.clear()
        busy = [await probe.look() for _ in range(3)]
        assert [part["status"] for part in busy] == ["ok"] * 3
        assert "busy_s" in busy[-1]
        assert pool.runs == 1
        monkeypatch.setattr(readiness, "_PATIENCE_S", 0.0)
        stuck = await probe.look()
        assert (stuck["status"], stuck["reason"][:33]) == ("failing", "no worker has taken up a check fo")
        pool.free.set()
        assert (await probe.look())["status"] == "ok"
        await probe.aclose()

    asyncio.run(test())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RuntimeError("secret"), "a check was lost: RuntimeError; the log says more"),
        ([[CheckFault("crashed", "two workers were lost")]], "a check failed: two workers were lost"),
    ],
)
def test_a_check_that_is_not_decided_is_told(answer: Any, reason: str) -> None:
    async def test() -> dict[str, Any]:
        pool = ScriptedPool()
        pool.answer = answer
        probe = WorkerProbe(cast(CheckPool, pool))
        part = await probe.look()
        await probe.aclose()
        return part

    part = asyncio.run(test())
    assert (part["status"], part["reason"]) == ("failing", reason)


def test_workers_that_run_no_check_make_it_503_and_a_judge_that_is_down_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> Findings:
        raise RuntimeError

    settings = Settings(cache=str(tmp_path / "v.db"), check_workers=1, judge="http://127.0.0.1:9")
    with TestClient(create_app(settings)) as client:
        degraded = client.get("/readyz")
        assert (degraded.status_code, degraded.json()["status"]) == (200, "degraded")
        (reason,) = degraded.json()["reasons"]
        assert reason.startswith("judge: unreachable: the judge at 127.0.0.1:9")
        monkeypatch.setattr(CheckPool, "run", broken)
        failing = client.get("/readyz")
        assert (failing.status_code, failing.json()["status"]) == (503, "failing")
        assert [told.partition(":")[0] for told in failing.json()["reasons"]] == ["workers", "judge"]
        assert client.get("/livez").status_code == client.get("/startupz").status_code == 200
        # some load balancers ask so
        assert {client.head(path).status_code for path in ("/livez", "/startupz")} == {200}
        assert client.head("/readyz").status_code == client.get("/readyz").status_code
