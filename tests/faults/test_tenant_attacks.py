"""What one tenant may learn of another: nothing, neither by the cache nor by the speed of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from redis_server import needs_redis, running_redis
from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.http.auth import digest, new_token
from rubricate_service.http.settings import TokenSettings
from rubricate_service.settings import Settings

BODY = {
    "groups": [
        {"prompt": "Say something.", "rubrics": [{"criterion": "It is kind."}], "responses": ["one", "two"]}
    ]
}
TOKENS = {name: new_token() for name in ("ann", "bob")}


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="2") as judge:
        yield judge


@contextmanager
def service(judge: FakeJudge, cache: str, **settings: Any) -> Iterator[TestClient]:
    tables = {name: TokenSettings(hash=digest(token)) for name, token in TOKENS.items()}
    wanted = Settings(judge=judge.url, cache=cache, check_workers=1, tokens=tables, **settings)
    with TestClient(create_app(wanted)) as client:
        yield client


def asked_by(client: TestClient, name: str) -> tuple[int, int]:
    """Calls that a tenant's request takes, and verdicts that it finds in the cache."""
    headers = {"Authorization": f"Bearer {TOKENS[name]}"}
    answer = client.post("/v1/score", json=BODY, headers=headers)
    assert answer.status_code == 200, answer.text
    counts = answer.json()["stats"]["judge"]
    assert counts["scored"] == 2
    return counts["calls"], counts["cached"]


@pytest.mark.parametrize(
    ("is_shared", "others"),
    [pytest.param(False, (2, 0), id="A15-apart"), pytest.param(True, (0, 2), id="A15-shared-by-choice")],
)
@pytest.mark.parametrize("store", ["file", pytest.param("redis", marks=needs_redis)])
def test_what_one_tenant_had_judged_is_new_for_another(
    judge: FakeJudge, tmp_path: Path, store: str, is_shared: bool, others: tuple[int, int]
) -> None:
    with running_redis(tmp_path) if store == "redis" else _no_server() as redis:
        cache = redis.url if redis else str(tmp_path / "v.db")
        for expected_of_ann, expected_of_bob in (((2, 0), others), ((0, 2), (0, 2))):
            with service(judge, cache, cache_shared=is_shared) as client:  # a fresh process finds the same
                assert asked_by(client, "ann") == expected_of_ann
                assert asked_by(client, "bob") == expected_of_bob
    salts = [call.body.get("cache_salt") for call in judge.calls]
    assert len(set(salts)) == (1 if is_shared else 2)
    assert (None in salts) is is_shared


@contextmanager
def _no_server() -> Iterator[None]:
    yield None


def test_a15_a_salt_that_a_client_sends_is_refused(judge: FakeJudge, tmp_path: Path) -> None:
    with service(judge, str(tmp_path / "v.db")) as client:
        headers = {"Authorization": f"Bearer {TOKENS['ann']}"}
        for body in (BODY | {"cache_salt": "mine"}, BODY | {"options": {"cache_salt": "mine"}}):
            answer = client.post("/v1/score", json=body, headers=headers)
            assert answer.status_code == 422
            assert "cache_salt" in answer.text
    assert not judge.calls


@pytest.mark.parametrize(("mode", "calls"), [("use", 0), ("refresh", 2), ("off", 2)])
def test_a16_the_cache_may_be_renewed_or_left_out(
    judge: FakeJudge, tmp_path: Path, mode: str, calls: int
) -> None:
    with service(judge, str(tmp_path / "v.db")) as client:
        assert asked_by(client, "ann") == (2, 0)
        headers = {"Authorization": f"Bearer {TOKENS['ann']}"}
        judge.answer = "0"
        body = client.post("/v1/score", json=BODY | {"options": {"cache": mode}}, headers=headers).json()
        assert body["stats"]["judge"]["calls"] == calls
        after = client.post("/v1/score", json=BODY, headers=headers).json()
        assert after["stats"]["judge"]["calls"] == 0
        quality = after["groups"][0]["responses"][0]["quality"]
        assert quality == (0.0 if mode == "refresh" else 1.0)
