"""Judges in the settings file: which is chosen, what is said of it, and what a request cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.judge.build import build_judge
from rubricate_service.judge.template import default_template
from rubricate_service.settings import CONFIG_VARIABLE, Settings

PRICES = {"prompt": 0.001, "cached_prompt": 0.0005, "completion": 0.01}
TEMPLATE = """[[system]]
Grade strictly.
[[user]]
{{code}} {{prompt}} {{reference}} {{response}} {{criterion}}
[[reference]]
{{code}} {{answer}}
"""


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings file that the service reads, still empty."""
    path = tmp_path / "rubricate.toml"
    monkeypatch.setenv(CONFIG_VARIABLE, str(path))
    monkeypatch.setenv("RUBRICATE_CACHE", str(tmp_path / "v.db"))
    return path


def test_the_file_names_judges_and_the_setting_chooses_one(configured: Path) -> None:
    configured.write_text(
        'judge = "large"\n'
        '[judges.small]\nurl = "http://small:8000"\n'
        '[judges.large]\nurl = "http://a:1, http://b:2"\nmodel = "large-1"\napi_key = "k"\nconcurrency = 8\n'
    )
    chosen = Settings().judge_chosen
    assert chosen is not None
    assert (chosen.urls, chosen.model, chosen.concurrency) == (["http://a:1", "http://b:2"], "large-1", 8)
    assert chosen.api_key is not None
    assert chosen.api_key.get_secret_value() == "k"
    assert "k" not in repr(chosen.api_key)
    small = Settings(judge="small", judge_model="other").judge_chosen
    assert small is not None
    assert (small.urls, small.model, small.concurrency) == (["http://small:8000"], "other", 64)
    url = Settings(judge="http://c:3", judge_concurrency=5).judge_chosen
    assert url is not None
    assert (url.urls, url.model, url.concurrency) == (["http://c:3"], None, 5)
    assert Settings(judge=None).judge_chosen is None


@pytest.mark.parametrize(
    ("text", "path", "part"),
    [
        ('judge = "larg"\n[judges.large]\nurl = "http://a"', "judge", "nor is it a name of `judges` (large)"),
        ('judge = "ftp://u:secret@a"', "judge", "address 1 is neither"),
        ('judge = "large"', "judge", "nor is it a name of `judges` (there are none)"),
        ('[judges.a]\nurl = "http://a,b:80"', "judges.a.url", "address 2 is neither"),
        ('[judges.a]\nmodel = "m"', "judges.a.url", "required"),
        ('[judges.a]\nurl = "http://a"\nmodell = "m"', "judges.a.modell", "Extra inputs"),
        (
            '[judges.a]\nurl = "http://a"\ntemplate = "/none.txt"',
            "judges.a.template",
            "does not point to a file",
        ),
        ('[judges.a]\nurl = "http://a"\nprices = {prompt = 1}', "judges.a.prices.completion", "required"),
        (
            '[judges.a]\nurl = "http://a"\nprices = {prompt = -1, completion = 0}',
            "judges.a.prices.prompt",
            "greater",
        ),
        ('[judges.a]\nurl = "http://a"\nconcurrency = 0', "judges.a.concurrency", "greater"),
    ],
)
def test_a_judge_that_cannot_be_meant_is_refused_with_its_path(
    configured: Path, text: str, path: str, part: str
) -> None:
    configured.write_text(text)
    with pytest.raises(ValidationError) as caught:
        Settings()
    (fault,) = caught.value.errors()
    assert ".".join(map(str, fault["loc"])) == path
    assert part in fault["msg"]
    assert "secret" not in str(caught.value)


def test_a_prompt_of_ones_own_is_used_and_named(configured: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "strict.txt"
    prompt.write_text(TEMPLATE)
    with FakeJudge("2") as judge:
        configured.write_text(f'judge = "own"\n[judges.own]\nurl = "{judge.url}"\ntemplate = "{prompt}"\n')
        answer = score()
        assert judge.calls[0].text.startswith("Grade strictly.")
    provenance = answer["provenance"]["judge"]
    assert provenance["name"] == "own"
    assert provenance["template"] != default_template().digest
    assert "cost" not in answer["stats"]["judge"]


def test_a_file_that_is_no_judge_prompt_is_named(configured: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "draft.txt"
    prompt.write_text("Be strict.")
    configured.write_text(f'judge = "own"\n[judges.own]\nurl = "http://a"\ntemplate = "{prompt}"\n')
    with pytest.raises(ValueError, match=r"draft\.txt is no judge prompt: .* sections"):
        build_judge(Settings())


@pytest.mark.parametrize("cached_price", [PRICES["cached_prompt"], None])
def test_what_a_request_cost(configured: Path, cached_price: float | None) -> None:
    prices = {
        name: price for name, price in PRICES.items() if name != "cached_prompt" or cached_price is not None
    }
    table = ", ".join(f"{name} = {price}" for name, price in prices.items())
    with FakeJudge("2") as judge:
        configured.write_text(f'judge = "paid"\n[judges.paid]\nurl = "{judge.url}"\nprices = {{{table}}}\n')
        with TestClient(create_app(Settings(check_workers=1))) as client:
            first, again = (score(client)["stats"]["judge"] for _ in range(2))
    fresh, cached = first["prompt_tokens"] - first["cached_prompt_tokens"], first["cached_prompt_tokens"]
    assert min(fresh, cached) > 0
    cached_cost = cached * (PRICES["prompt"] if cached_price is None else cached_price)
    assert first["cost"] == pytest.approx(fresh * 0.001 + cached_cost + first["completion_tokens"] * 0.01)
    assert (again["calls"], again["cost"]) == (0, 0.0)


def score(client: TestClient | None = None) -> dict[str, Any]:
    if client is None:
        with TestClient(create_app(Settings(check_workers=1))) as started:
            return score(started)
    rubrics = [{"criterion": "Names a river."}, {"criterion": "Names a lake."}]
    group = {"prompt": "Name a river.", "rubrics": rubrics, "responses": ["The Elbe."]}
    answer: dict[str, Any] = client.post("/v1/score", json={"groups": [group]}).json()
    return answer
