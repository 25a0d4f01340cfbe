"""What happens to a service's own processes and machine; each test is named by its row of the fault list.

F21 killed, F22 stopped, F23 clocks, F25 full disks, F26 a blocked event loop, F27 proxies in the environment.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from rubricate_clients.client import RewardClient
from rubricate_clients.testing import FakeJudge
from rubricate_clients.wire import ScoreAnswer
from rubricate_service.app import create_app
from rubricate_service.settings import Settings
from service_process import PATIENCE_S, ServiceProcess, serving

pytestmark = pytest.mark.timeout(240)

IN_FLIGHT = 24
RUBRICS = [{"check": "punctuation:no_comma"}, {"criterion": "The answer is kind."}]


def groups(name: str) -> list[dict[str, Any]]:
    return [{"prompt": "Say something.", "rubrics": RUBRICS, "responses": [f"good {name}", f"fine {name}"]}]


def is_whole(answer: ScoreAnswer) -> bool:
    verdicts = [v for group in answer.groups for r in group.responses for v in r.rubrics]
    return len(verdicts) == 4 and all(verdict.status == "scored" for verdict in verdicts)


def whole(answer: httpx2.Response) -> bool:
    return answer.status_code == 200 and is_whole(ScoreAnswer.model_validate_json(answer.content))


def test_f21_a_process_that_is_killed_costs_a_retry_and_is_replaced(tmp_path: Path) -> None:
    with (
        FakeJudge(answer="2", latency_s=0.2) as judge,
        serving(tmp_path, "--judge", judge.url, "--workers", "2") as service,
        ThreadPoolExecutor(8) as pool,
        RewardClient(service.url, timeout_s=PATIENCE_S) as client,
    ):
        service.until(lambda: len(service.workers()) == 2)
        work = [pool.submit(client.score, groups(str(number))) for number in range(60)]
        service.until(lambda: sum(future.done() for future in work) > 10)
        victim = service.workers()[0]
        os.kill(victim, signal.SIGKILL)
        assert all(is_whole(future.result()) for future in work)
        service.until(lambda: len(service.workers()) == 2 and victim not in service.workers())
        assert is_whole(client.score(groups("control")))
        # what the dead process holds is gone, what it has counted is not
        service.until(lambda: service.metric("rubricate_in_flight_items") == 0)
        assert service.metric("rubricate_responses_total") >= 122


def test_f21_a_first_process_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    with (
        FakeJudge(answer="2", latency_s=1.5) as judge,
        serving(tmp_path, "--judge", judge.url, "--workers", "2") as service,
        ThreadPoolExecutor(IN_FLIGHT) as pool,
    ):
        service.until(lambda: len(service.workers()) == 2)
        left = service.workers()
        work = [pool.submit(service.score, {"groups": groups(str(n))}) for n in range(IN_FLIGHT)]
        service.until(lambda: service.metric("rubricate_in_flight_items") == 2 * IN_FLIGHT)
        service.process.kill()
        try:
            assert all(whole(future.result()) for future in work)
            end = time.monotonic() + PATIENCE_S
            while left := [pid for pid in left if Path(f"/proc/{pid}").exists()]:
                assert time.monotonic() < end, "its processes go on without it"
                time.sleep(0.05)
        finally:
            for pid in left:
                os.kill(pid, signal.SIGKILL)


def test_f17_clients_that_leave_at_any_moment_break_no_request(tmp_path: Path) -> None:
    body = (
        b'{"groups": [{"prompt": "p", "rubrics": [{"check": "punctuation:no_comma"}], "responses": ["x"]}]}'
    )
    request = b"POST /v1/score HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with serving(tmp_path) as service:
        address = ("127.0.0.1", int(service.url.rpartition(":")[2]))
        for number in range(60):
            with socket.create_connection(address, timeout=PATIENCE_S) as connection:
                connection.sendall(request * (1 + number % 2))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
        service.until(lambda: service.metric("rubricate_in_flight_items") == 0)
        assert '"level":"error"' not in service.log()


def test_f22_sigterm_before_it_has_started_is_status_0(tmp_path: Path) -> None:
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "rubricate_service",
            "serve",
            "--port",
            "0",
            "--cache",
            str(tmp_path / "v.db"),
        ],
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        while b"Started server process" not in process.stderr.readline():
            assert process.poll() is None
        process.terminate()
        process.stderr.read()
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_f22_sigterm_costs_no_request(tmp_path: Path, workers: int) -> None:
    with (
        FakeJudge(answer="2", latency_s=1.5) as judge,
        serving(
            tmp_path, "--judge", judge.url, "--workers", str(workers), RUBRICATE_PRESTOP_S="2"
        ) as service,
        ThreadPoolExecutor(IN_FLIGHT) as pool,
    ):
        work = [pool.submit(service.score, {"groups": groups(str(n))}) for n in range(IN_FLIGHT)]
        service.until(lambda: service.metric("rubricate_in_flight_items") == 2 * IN_FLIGHT)
        service.terminate()
        service.until(lambda: service.get("/readyz").status_code == 503)
        ready = service.get("/readyz").json()
        assert (ready["status"], ready["reasons"]) == ("draining", ["draining"])
        assert service.get("/livez").status_code == 200
        late = service.score({"groups": groups("late"), "options": {"judging": "none"}})
        assert (late.status_code, late.headers["Connection"]) == (200, "close")
        assert all(whole(future.result()) for future in work)
        assert service.process.wait(PATIENCE_S) == 0
        assert "cut off" not in service.log()


@pytest.mark.parametrize(
    "hurry", [signal.SIGTERM, signal.SIGINT], ids=["a second SIGTERM", "Ctrl-C after SIGTERM"]
)
def test_f22_a_second_signal_ends_the_wait_and_still_costs_nothing(
    tmp_path: Path, hurry: signal.Signals
) -> None:
    with (
        FakeJudge(answer="2", latency_s=1.5) as judge,
        serving(tmp_path, "--judge", judge.url, RUBRICATE_PRESTOP_S="600") as service,
        ThreadPoolExecutor(1) as pool,
    ):
        work = pool.submit(service.score, {"groups": groups("a")})
        service.until(lambda: service.metric("rubricate_in_flight_items") == 2)
        service.terminate()
        service.until(lambda: service.get("/readyz").status_code == 503)
        service.process.send_signal(hurry)
        assert whole(work.result())
        assert service.process.wait(PATIENCE_S) == 0


def test_f22_what_the_drain_has_no_time_for_is_told_to_come_again(tmp_path: Path) -> None:
    with (
        FakeJudge(answer="2", latency_s=30.0) as judge,
        serving(tmp_path, "--judge", judge.url, RUBRICATE_DRAIN_S="1") as service,
        ThreadPoolExecutor(1) as pool,
    ):
        work = pool.submit(service.score, {"groups": groups("a")})
        service.until(lambda: service.metric("rubricate_in_flight_items") == 2)
        service.terminate()
        answer = work.result()
        assert (answer.status_code, answer.json()["error"]["type"]) == (503, "unavailable")
        assert service.process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0])
def test_f23_a_clock_that_jumps_moves_no_deadline_and_forgets_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    now, now_ns = time.time, time.time_ns

    def jump() -> None:
        monkeypatch.setattr(time, "time", lambda: now() + jump_s)
        monkeypatch.setattr(time, "time_ns", lambda: now_ns() + round(jump_s * 1e9))

    def service() -> TestClient:
        cache = str(tmp_path / "v.db")
        return TestClient(create_app(Settings(judge=judge.url, cache=cache, check_workers=1)))

    with FakeJudge(answer=lambda call: "2", latency_s=0.3) as judge:
        with service() as client:
            assert whole(client.post("/v1/score", json={"groups": groups("kept")}))
            judge.latency_s = 30.0
            timer = threading.Timer(0.5, jump)
            timer.start()
            began = time.monotonic()
            body = {"groups": groups("slow"), "options": {"deadline_s": 1.5}}
            late = client.post("/v1/score", json=body).json()
            took = time.monotonic() - began
            timer.join()
            kinds = [r["rubrics"][1]["error"]["kind"] for r in late["groups"][0]["responses"]]
            assert kinds == ["timeout"] * 2
            assert 1.4 < took < 15.0
        with service() as client:  # whose memory is empty
            stats = client.post("/v1/score", json={"groups": groups("kept")}).json()["stats"]
            assert stats["judge"]["cached"] == 2


def test_f25_a_full_disk_costs_log_lines_and_no_request(tmp_path: Path) -> None:
    nowhere = "/proc/rubricate/verdicts.db"  # as on a file system that takes no writes
    with ExitStack() as stack:
        full = stack.enter_context(Path("/dev/full").open("wb"))
        judge = stack.enter_context(FakeJudge(answer="2"))
        service: ServiceProcess = stack.enter_context(
            serving(tmp_path, "--judge", judge.url, "--cache", nowhere, stderr=full)
        )
        assert whole(service.score({"groups": groups("a")}))
        service.until(lambda: service.metric("rubricate_log_lines_lost_total") > 0)
        service.until(lambda: service.metric("rubricate_cache_unsaved_total") > 0)
        ready = service.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert ready.json()["reasons"][0].startswith("cache: ")
        assert service.metric("rubricate_cache_failing") == 1


BLOCKED = """
import logging, sys, time
from starlette.testclient import TestClient
from rubricate_service import pipeline
from rubricate_service.app import create_app
from rubricate_service.settings import Settings

async def misplaced(*_):
    time.sleep(3.0)  # where a verifier must not be

if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout, format="%(name)s %(message)s")
    with TestClient(create_app(Settings(cache=sys.argv[1], check_workers=1))) as client:
        kept, pipeline.judge_group = pipeline.judge_group, misplaced
        group = {"prompt": "p", "rubrics": [{"check": "punctuation:no_comma"}], "responses": ["a"]}
        client.post("/v1/score", json={"groups": [group]})
        pipeline.judge_group = kept
        time.sleep(1.0)
        print(client.get("/metrics").text)
"""


def test_f26_a_blocked_event_loop_is_measured_and_its_place_is_named(tmp_path: Path) -> None:
    # a process of its own, as the watch is one a process, and other tests have services in this one
    program = tmp_path / "blocked_program.py"
    program.write_text(BLOCKED)
    done = subprocess.run(
        [sys.executable, program, tmp_path / "v.db"], capture_output=True, text=True, check=True, timeout=60
    )
    lag = next(line for line in done.stdout.splitlines() if line.startswith(LAG_METRIC))
    told = next(line for line in done.stdout.splitlines() if line.startswith("rubricate.loop "))
    assert float(lag.split()[1]) >= 1.5
    assert "the event loop stood still for" in told
    assert "blocked_program.py:" in told
    assert " misplaced" in told


LAG_METRIC = "rubricate_event_loop_lag_seconds"


def test_f27_a_proxy_in_the_environment_sees_no_judge_traffic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"), closed)
    for name, value in {**proxies, "NO_PROXY": "", "no_proxy": ""}.items():
        monkeypatch.setenv(name, value)
    with FakeJudge(answer="2") as judge, serving(tmp_path, "--judge", judge.url) as service:
        assert whole(service.score({"groups": groups("a")}))
        assert service.get("/readyz").json()["checks"]["judge"]["status"] == "ok"
