"""`rubricate config check`, and the settings file that names every setting."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rubricate_clients.testing import FakeJudge
from rubricate_service.cli import app
from rubricate_service.commands.config import leaves
from rubricate_service.settings import CONFIG_VARIABLE, Settings

EXAMPLE = Path(__file__).parents[2] / "deploy" / "rubricate.toml"
ASSIGNMENT = re.compile(r"# (?=(\[[\w.]+\]|[\w.]+ = .*)$)", re.MULTILINE)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(CONFIG_VARIABLE, "")  # what the command sets is undone as well


def check(folder: Path, text: str) -> Result:
    file = folder / "settings.toml"
    file.write_text(text)
    return CliRunner().invoke(app, ["config", "check", "--config", str(file)])


def test_what_is_well_is_told_with_its_source_and_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBRICATE_LIMITS__GROUPS", "9")
    monkeypatch.setenv("RUBRICATE_SECRET", "hush-1")
    monkeypatch.setenv("RUBRICATE_POTR", "1")
    with FakeJudge(answer="2") as judge:
        url = judge.url.replace("//", "//anna:hush-2@")
        result = check(tmp_path, f'judge = "{url}"\njudge_api_key = "hush-3"\nport = 9000\n')
    assert result.exit_code == 0, result.output
    assert "hush" not in result.output
    told = dict(line.split(maxsplit=1) for line in result.output.splitlines() if line.endswith(")"))
    assert told["limits.groups"] == "9  (variable)"
    assert told["port"] == f"9000  ({tmp_path / 'settings.toml'})"
    assert told["workers"] == "1  (default)"
    assert told["secret"] == "hidden  (variable)"
    assert "note: RUBRICATE_POTR is no setting" in result.output


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("port = 70000\nlimits.gruops = 1\n", ["port: ", "limits.gruops: unknown field"]),
        (
            '[tokens.a]\nhash = "hush"\n',
            ["tokens.a.hash: takes `sha256:` and 64 hexadecimal digits: what `rubricate token new` prints"],
        ),
        ("port = = 1\n", ["the settings file cannot be read: "]),
        (
            'host = "0.0.0.0"\njudge = "http://127.0.0.1:9"\ncache = "/proc/rubricate/v.db"\n',
            ["0.0.0.0 can be reached from other machines", "judge: unreachable", "cache: "],
        ),
        (
            f'judge = "j"\n[judges.j]\nurl = "http://127.0.0.1:9"\ntemplate = "{__file__}"\n',
            [f"judge: {__file__} is no judge prompt"],
        ),
    ],
)
def test_every_fault_is_named(tmp_path: Path, text: str, faults: list[str]) -> None:
    result = check(tmp_path, text)
    assert result.exit_code == 1, result.output
    found = [line for line in result.output.splitlines() if line.startswith("fault: ")]
    assert len(found) == len(faults), result.output
    for fault in faults:
        assert any(line.startswith(f"fault: {fault}") for line in found), result.output


def test_a_setting_without_effect_is_noted(tmp_path: Path) -> None:
    result = check(tmp_path, "[queue]\nitems = 10\ntenant_items = 20\n")
    assert result.exit_code == 0
    assert "note: queue.tenant_items is without effect" in result.output
    assert "without effect" not in check(tmp_path, "[queue]\nitems = 20\ntenant_items = 20\n").output


def names(text: str) -> set[str]:
    """Dotted names of what a TOML text sets; those of tables by name have `*` for it."""

    def walk(node: object, path: str) -> set[str]:
        if not isinstance(node, dict):
            return {path}
        return {name for key, value in node.items() for name in walk(value, f"{path}.{key}" if path else key)}

    return {re.sub(r"^(judges|tokens)\.\w+", r"\1.*", name) for name in walk(tomllib.loads(text), "")}


def test_the_example_file_changes_nothing_and_names_every_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    without = Settings()
    monkeypatch.setenv(CONFIG_VARIABLE, str(EXAMPLE))
    assert Settings().model_dump() == without.model_dump()

    whole = ASSIGNMENT.sub("", EXAMPLE.read_text())
    assert whole != EXAMPLE.read_text()
    whole = whole.replace("/etc/rubricate/prompt.txt", __file__)
    file = Path(without.cache).parent.parent / "whole.toml"
    file.write_text(whole)
    monkeypatch.setenv(CONFIG_VARIABLE, str(file))
    settings = Settings()  # each example is a value that its setting takes
    stars = {re.sub(r"^(judges|tokens)\.\w+", r"\1.*", name) for name, _ in leaves(settings)}
    options = {name for name in names(whole) if name.startswith("compat.options.")}
    assert options
    assert names(whole) - options == stars - {"compat.options"}
