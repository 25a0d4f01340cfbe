"""The pages about the API: whole without a network, under any prefix, and true."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.http.auth import digest, new_token
from rubricate_service.http.settings import TokenSettings
from rubricate_service.routes import docs
from rubricate_service.settings import Settings
from serving import running_server

PAGES = ("docs", "redoc")
METHODS = ("get", "post", "put", "delete", "patch")
PREFIX = "/team/rewards"
EXAMPLES: dict[str, dict[str, Any]] = json.loads(
    Path(docs.__file__).with_name("docs_examples.json").read_text()
)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A service that wants tokens, asked without one."""
    tokens = {"trainer": TokenSettings(hash=digest(new_token()))}
    cache = str(tmp_path_factory.mktemp("docs") / "v.db")
    with TestClient(create_app(Settings(cache=cache, check_workers=1, tokens=tokens))) as client:
        yield client


def addresses(page: str) -> list[str]:
    """What a page names for a browser to load."""
    named = re.findall(r"""(?:src|href|spec-url)="([^"]*)"|\burl: '([^']*)'""", page)
    return [one or other for one, other in named if not (one or other).startswith("data:")]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_all_that_a_page_loads_comes_from_the_service(guarded: TestClient, page: str, prefix: str) -> None:
    """Also without a token, as browsers send none, and behind a proxy that takes a prefix off the path."""
    shown = f"http://testserver{prefix}/{page}"
    answer = guarded.get(f"/{page}")
    assert answer.status_code == 200
    loaded = [urljoin(shown, address) for address in addresses(answer.text)]
    assert f"http://testserver{prefix}/openapi.json" in loaded
    assert any(address.endswith(".js") for address in loaded)
    for address in loaded:
        parts = urlsplit(address)
        assert (parts.netloc, parts.path[: len(prefix)]) == ("testserver", prefix)
        assert guarded.get(parts.path.removeprefix(prefix)).status_code == 200, address
    assert "https://" not in answer.text
    assert "default-src 'self';" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/livez"])
def test_open_paths_are_open_under_a_root_path(guarded: TestClient, path: str) -> None:
    """`removeprefix` once: a server that knows its prefix leaves it on the path."""
    under = TestClient(guarded.app, root_path=PREFIX)
    assert under.get(PREFIX + path).status_code == 200
    assert under.get(f"{PREFIX}/v1/checks").status_code == 401
    assert under.get(PREFIX + PREFIX + path).status_code == 401


def test_requests_are_tried_where_the_document_is(guarded: TestClient) -> None:
    (server,) = guarded.get("/openapi.json").json()["servers"]
    assert urljoin(f"http://host{PREFIX}/openapi.json", server["url"]) == f"http://host{PREFIX}/"


def test_no_other_file_is_served(guarded: TestClient, client: TestClient) -> None:
    assert guarded.get("/docs/favicon.png").status_code == 401
    for name in ("favicon.png", "..%2f__init__.py", "%2fetc%2fpasswd"):
        answer = client.get(f"/docs/{name}")
        assert answer.status_code == 404, name
        assert answer.json()["error"]["type"] == "not_found"


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path, method and entry of every route in the document."""
    for path, entry in document["paths"].items():
        yield from ((path, method, entry[method]) for method in METHODS if method in entry)


def test_every_route_says_what_it_takes_and_answers(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    listed = list(operations(document))
    assert {("/v1/score", "post"), ("/livez", "get")} <= {(path, method) for path, method, _ in listed}
    for path, method, route in listed:
        assert route["summary"], path
        assert route["description"], path
        assert route["tags"], path
        assert {"4XX", "5XX"} <= route["responses"].keys(), path
        assert all(kind.get("schema") for kind in route["responses"]["200"]["content"].values()), path
        if method == "post":
            assert route["requestBody"]["content"]["application/json"]["schema"], path
        if not path.endswith("z"):
            assert route["security"] == [{"token": []}], path


def test_the_document_has_the_examples(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    shown = {
        path: content["examples"].keys()
        for path, method, route in operations(document)
        if method == "post" and "examples" in (content := route["requestBody"]["content"]["application/json"])
    }
    assert shown == {path: named.keys() for path, named in EXAMPLES.items()}
    assert {"/v1/score", "/v1/advantages", "/v1/import"} <= shown.keys()


@pytest.mark.parametrize(
    ("path", "body"), [(path, body) for path, named in EXAMPLES.items() for body in named.values()]
)
def test_an_example_works(client: TestClient, path: str, body: dict[str, Any]) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert '"failed"' not in re.sub(r'"failed":\s*0', "", answer.text)
    if path == "/v1/import":
        assert found["groups"]
        assert not found["errors"]
    if path == "/v1/rubrics/lint":
        assert found["findings"]
    if path == "/v1/score":
        assert {v["status"] for g in found["groups"] for r in g["responses"] for v in r["rubrics"]} == {
            "scored"
        }


class Gate:
    """A proxy that takes a prefix off the path and tells nobody, and lists what a browser asked for."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.paths: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.paths.append(scope["path"])
            path = scope["path"].removeprefix(PREFIX)
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await self._app(scope, receive, send)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("page", "shown"), [("docs", "Score groups of responses"), ("redoc", "/v1/advantages")]
)
def test_a_browser_shows_the_page_and_asks_nobody_else(
    judge: FakeJudge, tmp_path: Path, page: str, shown: str
) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on the path")
    gate = Gate(create_app(Settings(judge=judge.url, cache=str(tmp_path / "v.db"), check_workers=1)))
    log = tmp_path / "net.json"
    with running_server(gate) as url:  # type: ignore[arg-type]
        done = subprocess.run(
            [
                chromium,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                # what the browser asks for of itself
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                f"--user-data-dir={tmp_path / 'profile'}",
                f"--log-net-log={log}",
                "--virtual-time-budget=20000",
                "--dump-dom",
                f"{url}{PREFIX}/{page}",
            ],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert shown in done.stdout, done.stderr[-2000:]
    assert f"{PREFIX}/openapi.json" in gate.paths
    assert set(asked_by_pages(json.loads(log.read_text()))) == {(url, url)}


def asked_by_pages(log: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Origins of the pages in a browser's log of the network, and of what each of them asked for."""
    for event in log["events"]:
        asked, by = (event.get("params", {}).get(name, "") for name in ("url", "initiator"))
        if asked and by.startswith("http"):
            yield by, "{0.scheme}://{0.netloc}".format(urlsplit(asked))
