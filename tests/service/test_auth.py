"""Tokens: who is let in, what they may do, and what they are told otherwise."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError
from starlette.routing import BaseRoute, Mount, Route
from starlette.testclient import TestClient

from rubricate_service.app import create_app
from rubricate_service.http.auth import OPEN, digest
from rubricate_service.http.exposure import refusal_to_serve
from rubricate_service.http.settings import TokenSettings
from rubricate_service.settings import Settings

TRAINER, READER, KEEPER = (f"rubricate_{letter * 43}" for letter in "TRK")  # as `new_token` makes them
TOKENS = {
    "trainer": TokenSettings(hash=digest(TRAINER), tenant="team-a"),
    "reader": TokenSettings(hash=digest(READER), scopes=["read"]),
    "keeper": TokenSettings(hash=digest(KEEPER), scopes=["admin"]),
}
BODY = {"groups": [{"prompt": "p", "rubrics": [{"check": "punctuation:no_comma"}], "responses": ["a"]}]}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    cache = str(tmp_path_factory.mktemp("auth") / "v.db")
    with TestClient(create_app(Settings(cache=cache, check_workers=1, tokens=TOKENS))) as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def routes_of(routes: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Method and path of every route that the app has, whoever added it."""
    for route in routes:
        if isinstance(route, Route):
            yield from ((method, route.path) for method in route.methods or {"GET"})
        elif isinstance(route, Mount):
            yield "GET", route.path + "/"
        elif hasattr(route, "original_router"):
            yield from routes_of(route.original_router.routes)
        else:
            raise AssertionError(f"a kind of route that this walk does not know: {route!r}")


def test_every_route_wants_a_token_but_the_probes(guarded: TestClient) -> None:
    walked = set(routes_of(guarded.app.routes))  # type: ignore[attr-defined]
    assert {("POST", "/v1/score"), ("GET", "/openapi.json"), ("GET", "/livez")} <= walked
    for method, path in walked | {("GET", "/no/such/route")}:
        answer = guarded.request(method, path.replace("{id:path}", "x"))
        if path in OPEN:
            assert answer.status_code in (200, 405), path
            continue
        assert answer.status_code == 401, (method, path)
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        if method != "HEAD":
            assert answer.json()["error"]["type"] == "unauthorized"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic " + TRAINER,
        TRAINER,
        f"Bearer {TRAINER}x",
        "Bearer \u00e9",
        "Bearer a b",
    ],
)
def test_what_is_no_known_token_is_401_and_is_not_repeated(guarded: TestClient, header: str) -> None:
    answer = guarded.post("/v1/score", json=BODY, headers={b"Authorization": header.encode("latin-1")})
    assert answer.status_code == 401
    assert TRAINER not in answer.text


def test_of_two_tokens_none_is_chosen(guarded: TestClient) -> None:
    headers = [("Authorization", f"Bearer {token}") for token in (TRAINER, READER)]
    assert guarded.post("/v1/score", json=BODY, headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("token", "method", "path", "status"),
    [
        (TRAINER, "POST", "/v1/score", 200),
        (TRAINER, "GET", "/v1/checks", 200),
        (TRAINER, "GET", "/no/such/route", 404),
        (READER, "GET", "/v1/checks", 200),
        (READER, "POST", "/v1/score", 403),
        (READER, "POST", "/v1/advantages", 403),
        (KEEPER, "GET", "/v1/checks", 200),
        (KEEPER, "POST", "/v1/score", 403),
    ],
)
def test_a_token_does_what_its_scopes_say(
    guarded: TestClient, token: str, method: str, path: str, status: int
) -> None:
    answer = guarded.request(method, path, json=BODY if method == "POST" else None, headers=bearer(token))
    assert answer.status_code == status, answer.text
    if status == 403:
        error = answer.json()["error"]
        assert error["type"] == "forbidden"
        assert "`score`" in error["message"]


def test_health_tells_strangers_no_details(guarded: TestClient) -> None:
    stranger = guarded.get("/readyz").json()
    assert stranger["checks"]["workers"] == {"status": "ok"}
    known = guarded.get("/readyz", headers=bearer(READER)).json()
    assert known["checks"]["workers"]["alive"] == 1


def settings(tmp_path: Path, **fields: object) -> Settings:
    return Settings(cache=str(tmp_path / "v.db"), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
def test_this_machine_is_served_without_tokens(tmp_path: Path, host: str) -> None:
    assert refusal_to_serve(settings(tmp_path, host=host)) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "localhost.example.org", ""])
def test_other_machines_are_served_with_tokens_or_when_told_so(tmp_path: Path, host: str) -> None:
    assert refusal_to_serve(settings(tmp_path, host=host, tokens=TOKENS)) is None
    assert refusal_to_serve(settings(tmp_path, host=host, no_auth=True)) is None
    why = refusal_to_serve(settings(tmp_path, host=host))
    assert why is not None
    assert "--no-auth" in why
    assert "rubricate token new" in why


def test_tokens_and_no_auth_contradict_each_other(tmp_path: Path) -> None:
    assert refusal_to_serve(settings(tmp_path, tokens=TOKENS, no_auth=True)) is not None


@pytest.mark.parametrize(
    "tokens",
    [
        {"a": {"hash": TRAINER}},
        {"a": {"hash": digest(TRAINER).upper()}},
        {"a": {"hash": digest(TRAINER), "scopes": ["all"]}},
        {"a": {"hash": digest(TRAINER), "scopes": []}},
        {"a": {"hash": digest(TRAINER), "tenant": ""}},
        {"a b": {"hash": digest(TRAINER)}},
        {"a": {"hash": digest(TRAINER)}, "b": {"hash": digest(TRAINER)}},
    ],
)
def test_tokens_that_are_none_are_refused_and_not_shown(tmp_path: Path, tokens: object) -> None:
    with pytest.raises(ValidationError) as caught:
        settings(tmp_path, tokens=tokens)
    assert TRAINER not in str(caught.value)


def test_a_token_from_the_command_line_opens_the_service(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rubricate_service", "token", "new", "a.b", "--tenant", "team-a"]
    done = subprocess.run(
        [*command, "--scope", "read"], capture_output=True, text=True, timeout=60, check=True
    )
    token = done.stdout.strip()
    table = tomllib.loads(done.stderr[done.stderr.index("[tokens.") :])
    assert token not in done.stderr
    tokens = settings(tmp_path, **table).tokens
    assert tokens["a.b"].hash == digest(token)
    assert (tokens["a.b"].tenant, tokens["a.b"].scopes) == ("team-a", ["read"])


@pytest.mark.parametrize("arguments", [["a b"], ["a", "--scope", "all"], ["a", "--tenant", "-"]])
def test_a_token_that_cannot_be_made_says_why(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "rubricate_service", "token", "new", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "rubricate: " in done.stderr
