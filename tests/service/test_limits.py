"""What a request may hold: each limit at its boundary, named with its value, and paid for by nobody else."""

from __future__ import annotations

import gzip
import json
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from starlette.testclient import TestClient

from rubricate_service.app import create_app
from rubricate_service.errors import InvalidRequest
from rubricate_service.http.limits import check_values
from rubricate_service.http.settings import IdempotencySettings, Limits, QueueSettings
from rubricate_service.settings import Settings

LIMITS = Limits(
    body_bytes=20_000,
    json_values=2_000,
    groups=3,
    responses=5,
    rubrics=4,
    verdicts=9,
    response_chars=50,
    prompt_chars=60,
    criterion_chars=30,
    kwargs_chars=40,
    id_chars=24,
)
COMMA = {"check": "punctuation:no_comma"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    cache = str(tmp_path_factory.mktemp("limits") / "v.db")
    with TestClient(create_app(Settings(cache=cache, check_workers=1, limits=LIMITS))) as client:
        yield client


def group(**fields: Any) -> dict[str, Any]:
    return {"prompt": "p", "rubrics": [COMMA], "responses": ["r"], **fields}


def kwargs(chars: int) -> dict[str, Any]:
    return {"check": "text:contains", "kwargs": {"values": ["v" * (chars - len(repr({"values": [""]})))]}}


# name, what makes a body that has exactly so much of it, the path that is told
BOUNDS: list[tuple[str, Any, str]] = [
    ("groups", lambda n: [group() for _ in range(n)], "groups"),
    ("responses", lambda n: [group(responses=["r"] * (n - 2)), group(responses=["r"] * 2)], "groups"),
    ("rubrics", lambda n: [group(), group(rubrics=[COMMA] * n)], "groups[1].rubrics"),
    ("verdicts", lambda n: [group(rubrics=[COMMA] * 2, responses=["r"] * 3), *[group()] * (n - 6)], "groups"),
    ("response_chars", lambda n: [group(responses=["r", "ä" * n])], "groups[0].responses[1]"),
    ("response_chars", lambda n: [group(responses=[{"text": "r" * n}])], "groups[0].responses[0].text"),
    ("prompt_chars", lambda n: [group(prompt="p" * n)], "groups[0].prompt"),
    ("prompt_chars", lambda n: [group(prompt=[{"role": "u", "content": "p" * (n - 1)}])], "groups[0].prompt"),
    ("prompt_chars", lambda n: [group(reference="p" * n)], "groups[0].reference"),
    (
        "criterion_chars",
        lambda n: [group(rubrics=[{"criterion": "c" * n}])],
        "groups[0].rubrics[0].criterion",
    ),
    ("kwargs_chars", lambda n: [group(rubrics=[kwargs(n)])], "groups[0].rubrics[0].kwargs"),
    ("id_chars", lambda n: [group(id="i" * n)], "groups[0].id"),
    ("id_chars", lambda n: [group(rubrics=[{"id": "i" * n, **COMMA}])], "groups[0].rubrics[0].id"),
    ("id_chars", lambda n: [group(rubrics=[{"check": "i" * n}])], "groups[0].rubrics[0].check"),
    ("id_chars", lambda n: [group(responses=[{"id": "i" * n, "text": ""}])], "groups[0].responses[0].id"),
]


@pytest.mark.parametrize(("name", "groups", "path"), BOUNDS, ids=[f"{n} {p}" for n, _, p in BOUNDS])
def test_a_limit_holds_at_its_boundary_and_is_named(
    tmp_path: Path, name: str, groups: Any, path: str
) -> None:
    most: int = getattr(LIMITS, name)
    # only the limit in question is near, so that no other one answers
    limits = Limits(**{name: most})
    with TestClient(create_app(Settings(cache=str(tmp_path / "v.db"), check_workers=1, limits=limits))) as c:
        assert c.post("/v1/score", json={"groups": groups(most)}).status_code == 200
        answer = c.post("/v1/score", json={"groups": groups(most + 1)})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["type"] == "invalid_request"
    (detail,) = error["details"]
    assert detail["path"] == path
    assert f"`limits.{name}` is {most:,}" in detail["message"]
    assert f"{most + 1:,} " in detail["message"]
    assert error["message"] == f"{path}: {detail['message']}"


def test_every_limit_that_is_broken_is_told(client: TestClient) -> None:
    groups = [group(id="i" * 25, prompt="p" * 61, responses=["r" * 51, "ok"]), group(rubrics=[COMMA] * 5)]
    error = client.post("/v1/score", json={"groups": groups}).json()["error"]
    paths = ["groups[0].id", "groups[0].prompt", "groups[0].responses[0]", "groups[1].rubrics"]
    assert [detail["path"] for detail in error["details"]] == paths


MEMBER = {"outcome": 1.0, "quality": None, "eligible": True, "valid": True}


@pytest.mark.parametrize(
    ("path", "body", "limit"),
    [
        ("/v1/advantages", {"method": "grpo", "groups": [{"responses": [MEMBER]}] * 4}, "groups"),
        ("/v1/advantages", {"method": "grpo", "groups": [{"responses": [MEMBER] * 6}]}, "responses"),
        ("/v1/import", {"rows": [{}] * 4}, "groups"),
    ],
)
def test_other_routes_have_the_limits_too(
    client: TestClient, path: str, body: dict[str, Any], limit: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 422
    assert f"`limits.{limit}` is" in answer.json()["error"]["message"]


def body_of(size: int) -> bytes:
    bare = json.dumps({"groups": [group()]}).encode()
    return bare + b" " * (size - len(bare))


def test_a_body_of_the_largest_size_is_taken_and_one_byte_more_is_413(client: TestClient) -> None:
    most = LIMITS.body_bytes
    assert client.post("/v1/score", content=body_of(most)).status_code == 200
    answer = client.post("/v1/score", content=body_of(most + 1))
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "invalid_request")
    assert f"`limits.body_bytes` is {most:,}" in answer.json()["error"]["message"]
    assert answer.headers["Connection"] == "close"


def test_bytes_are_counted_where_no_length_is_named(client: TestClient) -> None:
    def pieces(size: int) -> Iterator[bytes]:
        body = body_of(size)
        yield from (body[start : start + 1000] for start in range(0, size, 1000))

    assert client.post("/v1/score", content=pieces(LIMITS.body_bytes)).status_code == 200
    assert client.post("/v1/score", content=pieces(LIMITS.body_bytes + 1)).status_code == 413


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip"])
def test_a_compressed_body_is_not_inflated(client: TestClient, encoding: str) -> None:
    bomb = gzip.compress(b" " * 4_000_000)
    answer = client.post("/v1/score", content=bomb, headers={"Content-Encoding": encoding})
    assert (answer.status_code, answer.json()["error"]["type"]) == (422, "invalid_request")
    assert "plain JSON" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (b"[" + b",".join([b"{}"] * 300) + b"]", 300),
        (b"[" + b",".join([b"1"] * 300) + b"]", 300),
        (b"[" + b",".join([b'""'] * 300) + b"]", 300),
        (b"[" + b",".join([b'"\\\\"'] * 300) + b"]", 300),
        (b"[" * 300 + b"]" * 300, 300),
        (b"{" + b",".join(b'"k%d":1' % n for n in range(300)) + b"}", 300),
    ],
)
def test_values_are_counted_before_they_are_parsed(body: bytes, count: int) -> None:
    with pytest.raises(InvalidRequest, match="json_values"):
        check_values(body, Limits(json_values=count // 3))
    check_values(body, Limits(json_values=2 * count + 2))


@pytest.mark.parametrize(
    "text", ["{[,:" * 5000, '",' * 5000, "\\" * 9999 + '",[{', '\\",\\\\",{' * 3000, "\n\t,{\u2028" * 3000]
)
def test_punctuation_inside_texts_is_no_value(text: str) -> None:
    check_values(json.dumps({"responses": [text, text]}).encode(), Limits(json_values=10))


def test_a_small_body_of_endless_faults_does_not_fill_the_memory(tmp_path: Path) -> None:
    """Once 3 MB of `{}` took 1.4 GB; the faults are counted and not listed."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with TestClient(create_app(Settings(cache=str(tmp_path / "v.db"), check_workers=1))) as c:
        for objects, told in ((1_000_000, "`limits.json_values`"), (100_000, "300,000 faults")):
            body = b'{"groups":[' + b",".join([b"{}"] * objects) + b"]}"
            answer = c.post("/v1/score", content=body)
            assert answer.status_code == 422
            assert told in answer.json()["error"]["message"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000  # KiB


@pytest.mark.parametrize("table", [Limits, QueueSettings, IdempotencySettings])
def test_the_manual_has_every_setting_with_its_default(table: type[BaseModel]) -> None:
    manual = (Path(__file__).parents[2] / "docs" / "operating.md").read_text("utf-8")
    for name, field in table.model_fields.items():
        default = "as `items`" if field.default is None else str(field.default)
        assert f"| `{name}` | {default} |" in manual


def test_tables_are_set_by_variables_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config = tmp_path / "rubricate.toml"
    config.write_text("[limits]\ngroups = 5\nrubrics = 6\n[queue]\nitems = 7\n")
    monkeypatch.setenv("RUBRICATE_CONFIG", str(config))
    monkeypatch.setenv("RUBRICATE_LIMITS__GROUPS", "8")
    settings = Settings()
    assert (settings.limits.groups, settings.limits.rubrics, settings.queue.items) == (8, 6, 7)
    assert settings.limits.responses == Limits().responses
    monkeypatch.setenv("RUBRICATE_LIMITS__GROPS", "8")
    with pytest.raises(ValidationError, match=r"limits\.grops"):
        Settings()
