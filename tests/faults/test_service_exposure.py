"""What the service lets out and whom it talks to: each test is named by its row of the fault and attack list.

A18 metrics, A19 addresses in requests, A20 markup and log lines, A21 other origins, A22 labels.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web
from starlette.testclient import TestClient
from typer.testing import CliRunner

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.cli import app as command
from rubricate_service.settings import Settings
from service_process import serving

COMMA = {"check": "punctuation:no_comma"}
KIND = {"criterion": "The answer is kind."}


@pytest.fixture(scope="module")
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="2") as judge:
        yield judge


@pytest.fixture
def client(judge: FakeJudge, tmp_path: Path) -> Iterator[TestClient]:
    judge.reset()
    made = Settings(judge=judge.url, cache=str(tmp_path / "v.db"), check_workers=1)
    with TestClient(create_app(made), raise_server_exceptions=False) as client:
        yield client


def body(**changes: Any) -> dict[str, Any]:
    group = {"prompt": "Say something.", "rubrics": [COMMA, KIND], "responses": ["good"]}
    return {"groups": [{**group, **changes}]}


def series(client: TestClient) -> set[str]:
    """Names and labels of all metrics that there are."""
    lines = client.get("/metrics").text.splitlines()
    return {line.rpartition(" ")[0] for line in lines if line.startswith("rubricate_")}


def test_a18_nothing_that_was_sent_gets_into_metrics(client: TestClient) -> None:
    canary = "canary-7c2e"
    group = body(
        id=canary,
        prompt=canary,
        reference=canary,
        responses=[canary],
        rubrics=[
            KIND | {"id": canary, "criterion": canary},
            {"check": canary},
            {"check": "text:contains", "kwargs": {"values": [canary]}},
        ],
    )
    headers = dict.fromkeys(["X-Run", "X-Step", "X-Request-Id", "Idempotency-Key"], canary)
    assert client.post("/v1/score", json=group, headers=headers).status_code == 200
    assert client.get(f"/v1/checks/{canary}").status_code == 404
    assert client.get(f"/{canary}").status_code == 404
    assert canary not in client.get("/metrics").text


ADDRESSES = (
    "api_base",
    "base_url",
    "url",
    "judge_url",
    "judge",
    "endpoint",
    "proxy",
    "webhook",
    "model",
    "api_key",
)


@pytest.mark.parametrize("field", ADDRESSES)
def test_a19_no_part_of_a_request_names_an_address(client: TestClient, field: str) -> None:
    evil = {field: "http://169.254.169.254/"}
    group = body()["groups"][0]
    bodies = {
        field: {**body(), **evil},
        f"options.{field}": {**body(), "options": evil},
        f"options.advantages.{field}": {**body(), "options": {"advantages": {"method": "rdan", **evil}}},
        f"groups[0].{field}": {"groups": [{**group, **evil}]},
        f"groups[0].rubrics[0].{field}": body(rubrics=[{**KIND, **evil}]),
        f"groups[0].responses[0].{field}": body(responses=[{"text": "good", **evil}]),
        f"groups[0].prompt[0].{field}": body(prompt=[{"role": "user", "content": "Hi.", **evil}]),
    }
    for path, sent in bodies.items():
        answer = client.post("/v1/score", json=sent)
        assert answer.status_code == 422
        assert {"path": path, "message": "unknown field"} in answer.json()["error"]["details"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a19_a_judge_that_leads_elsewhere_is_not_followed(
    client: TestClient, judge: FakeJudge, status: int
) -> None:
    with FakeJudge(answer="2") as elsewhere:

        async def act(request: web.Request, completion: Any) -> web.StreamResponse:
            return web.Response(status=status, headers={"Location": f"{elsewhere.url}{request.path}"})

        judge.fail_when(Fault(f"redirect {status}", act), lambda call: True)
        verdict = client.post("/v1/score", json=body()).json()["groups"][0]["responses"][0]["rubrics"][1]
        assert (verdict["score"], verdict["status"]) == (None, "failed")
        assert elsewhere.calls == []


MARKUP = (
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</script><script>alert(1)//",
    '"onload="alert(1)', "'><svg/onload=alert(1)>", "javascript:alert(1)",
    "<iframe srcdoc='<script>1</script>'>", "{{7*7}}", "&lt;b&gt;", "]]><!--",
    "<style>*{display:none}</style>", "<base href=//evil>", "<meta http-equiv=refresh content=0>",
)  # fmt: skip


INERT = {
    "html", "head", "title", "body", "header", "main", "section", "h1", "h2", "h3", "p", "ul", "ol",
    "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "caption", "div", "span",
    "bdi", "b", "strong", "em", "i", "code", "pre", "small", "details", "summary", "footer", "br",
    "nav", "article", "col", "colgroup",
}  # fmt: skip


class Elements(HTMLParser):
    """What of a page can do something: elements that are not inert and handlers, each with its number."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.active: Counter[str] = Counter()
        self.policy = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        handlers = [name for name in named if name.startswith("on") or name in ("src", "srcdoc", "style")]
        self.active.update(handlers if tag in INERT else [tag, *handlers])
        if named.get("http-equiv", "") == "Content-Security-Policy":
            self.policy = named["content"] or ""


def report(folder: Path, judge: FakeJudge, text: str) -> Elements:
    """The page that `rubricate report` makes of a group in which all texts are this one."""
    group = body(
        id=text,
        prompt=text,
        rubrics=[
            {**KIND, "id": text, "criterion": text},
            {"id": f"{text} 2", "check": "text:contains", "kwargs": {"values": [text]}},
        ],
        responses=[{"id": text, "text": text}],
    )["groups"][0]
    rows, page = folder / "groups.jsonl", folder / "page.html"
    rows.write_text(json.dumps(group) + "\n")
    flags = ["--judge", judge.url, "--cache", str(folder / "v.db"), "--check-workers", "1"]
    run = CliRunner().invoke(command, ["report", str(rows), "-o", str(page), *flags])
    assert run.exit_code == 0, run.output
    return Elements(page.read_text())


def test_a20_no_text_becomes_markup(judge: FakeJudge, tmp_path: Path) -> None:
    """The page has as many elements that can do something as that of a harmless text, and no handlers."""
    judge.reset()
    harmless = report(tmp_path, judge, "quite harmless")
    assert "default-src 'none'" in harmless.policy
    assert harmless.active["script"] == harmless.active["style"] == 1
    for text in MARKUP:
        page = report(tmp_path, judge, text)
        assert page.active == harmless.active, text
        assert page.policy == harmless.policy


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_a20_pages_have_a_policy_against_scripts_from_elsewhere(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a20_no_text_forges_a_log_line(tmp_path: Path) -> None:
    forged = '{"level": "info", "message": "forged"}'
    with serving(tmp_path, RUBRICATE_LOG_FORMAT="json") as service:
        texts = (f"x\n{forged}", f"x\r\n{forged}", f"x\u2028{forged}", f'x"}}\n{forged}')
        for text in texts:
            service.score({**body(id=text, prompt=text, responses=[text], rubrics=[{"check": text}])})
            service.get(f"/{quote(text)}")

        def lines() -> list[str]:
            return service.log().split("\n")[:-1]

        service.until(lambda: sum("/v1/score" in line for line in lines()) == len(texts))
        assert [json.loads(line)["message"] for line in lines()].count("forged") == 0


ORIGIN = {"Origin": "https://elsewhere.example"}


@pytest.mark.parametrize("path", ["/v1/score", "/v1/checks", "/metrics", "/compat/slime", "/livez"])
def test_a21_other_origins_may_neither_ask_nor_read(client: TestClient, path: str) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    answers = [
        client.options(path, headers={**ORIGIN, **asks}),
        client.get(path, headers=ORIGIN),
        client.post(path, headers={**ORIGIN, "Content-Type": "text/plain"}, content=json.dumps(body())),
    ]
    assert answers[0].status_code == 405
    for answer in answers:
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert (
            "set-cookie" not in answer.headers
        )  # a browser has nothing to send along that would open a door


def test_a22_ten_thousand_names_make_no_series(client: TestClient) -> None:
    def ask(names: list[str]) -> None:
        groups = [
            {"id": name, "prompt": name, "rubrics": [{"id": name, "check": name}], "responses": [name]}
            for name in names
        ]
        headers = dict.fromkeys(["X-Run", "X-Step", "X-Request-Id"], names[0])
        assert client.post("/v1/score", json={"groups": groups}, headers=headers).status_code == 200

    ask(["first"])
    client.get("/v1/checks/first")
    before = series(client)
    for start in range(0, 10_000, 2_500):
        ask([f"name-{number}" for number in range(start, start + 2_500)])
        client.get(f"/v1/checks/name-{start}")
    assert series(client) == before
