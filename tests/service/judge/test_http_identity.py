from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from http_engine_helpers import against, later
from scripted_engine import ask, failure_of, judge_of, run

from rubricate_clients.testing import FakeJudge
from rubricate_service.judge import JudgeFailure
from rubricate_service.judge.http import HttpModel


def listing(*entries: Any, status: int = 200) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handler(request: web.Request) -> web.Response:
        assert request.path == "/v1/models"
        return web.json_response({"object": "list", "data": list(entries)}, status=status)

    return handler


def fingerprint(handler: Any, model: str | None = None) -> str | JudgeFailure:
    found: list[str | JudgeFailure] = []

    async def test(engine: HttpModel) -> None:
        try:
            identity = await engine.identify(later())
        except JudgeFailure as failed:
            found.append(failed)
        else:
            found.append(f"{identity.model} {identity.fingerprint}")

    run(against(handler, test, model=model))
    return found[0]


def test_the_fingerprint_is_of_what_the_server_says_of_the_model() -> None:
    entry = {
        "id": "a",
        "created": 1,
        "root": "/models/a",
        "max_model_len": 4096,
        "permission": [{"id": "p1"}],
    }
    known = fingerprint(listing(entry))
    same = dict(reversed(entry.items())) | {"created": 2, "permission": [{"id": "p2"}]}
    assert fingerprint(listing(same, {"id": "b"})) == known
    assert fingerprint(listing({"id": "b"}, entry), "a") == known
    assert fingerprint(listing(entry | {"root": "/models/b"})) != known
    assert fingerprint(listing(entry | {"max_model_len": 8192})) != known


def test_a_named_model_that_is_not_listed_is_known_by_its_name(caplog: pytest.LogCaptureFixture) -> None:
    names = [fingerprint(handler, "a") for handler in (listing({"id": "b"}), listing(), listing(status=404))]
    assert len(set(map(str, names))) == 1
    assert str(names[0]).startswith("a sha256:")
    assert "does not list a" in caplog.text


@pytest.mark.parametrize(
    ("handler", "model", "kind"),
    [
        (listing(), None, "unreadable"),
        (listing("x", {"id": 3}), None, "unreadable"),
        (listing(status=404), None, "refused"),
        (listing(status=401), "a", "unauthorized"),
        (listing(status=500), "a", "unreachable"),
        (listing(status=503), "a", "overloaded"),
    ],
)
def test_a_server_that_does_not_say_who_it_is(handler: Any, model: str | None, kind: str) -> None:
    failed = fingerprint(handler, model)
    assert isinstance(failed, JudgeFailure)
    assert failed.kind == kind


@pytest.mark.parametrize("handler", [listing(), listing(status=404), listing(status=405)])
def test_an_endpoint_that_lists_no_models_says_what_to_give(handler: Any) -> None:
    failed = fingerprint(handler)
    assert isinstance(failed, JudgeFailure)
    assert "lists no model at /v1/models" in failed.message
    assert "--judge-model" in failed.message
    assert str(fingerprint(handler, "a")).startswith("a sha256:")


def test_a_server_that_changes_its_model_is_named_and_not_believed(fake: FakeJudge) -> None:
    async def test() -> None:
        judge = judge_of(HttpModel(fake.url))
        await judge.start()
        fake.model = "successor"
        status = await judge.status()
        assert status["status"] == "failing"
        assert "was 'judge' and is 'successor'" in status["reason"]
        assert (await failure_of(ask(judge))).kind == "identity"
        fake.model = "judge"
        assert (await judge.status())["status"] == "ok"
        assert (await ask(judge)).label == 1.0
        await judge.close()

    run(test())
